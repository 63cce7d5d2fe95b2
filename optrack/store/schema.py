"""Which database a URL means and whether its schema is this version's, told without SQLAlchemy."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

from optrack.errors import StoreError

HEAD = "0001"
"""The newest migration: the schema that this version of optrack writes and reads."""

EARLIER: frozenset[str] = frozenset()
"""The migrations before it, from which a database is brought up to date."""

TABLES = frozenset(
    "acceptance adoption content event former_name item judgement note part plan run sample transition".split()
)
"""The tables of that schema."""

BUSY_TIMEOUT_S = 5.0

Standing = Literal["missing", "empty", "current", "older", "newer", "foreign", "unknown"]


def database_path(url: str | Path) -> Path:
    """Return the file that a path or a SQLAlchemy URL of SQLite names.

    Raises StoreError for another kind of database and for one in memory, which a runner couldn't share.
    """
    text = str(url)
    if "://" not in text:
        return Path(text).expanduser()
    scheme, _, rest = text.partition("://")
    if scheme.partition("+")[0] != "sqlite":
        raise StoreError(
            f"{scheme} databases aren't supported", hint="OPTRACK_DB takes a path or sqlite:///PATH"
        )
    name = unquote(rest.partition("?")[0].removeprefix("/"))
    if name in ("", ":memory:"):
        raise StoreError(
            "a database in memory can't be shared with the runner", hint="OPTRACK_DB takes a path"
        )
    return Path(name).expanduser()


def standing(path: Path) -> Standing:
    """Tell how the database stands to this version of optrack, by a plain query.

    `missing` and `empty` ones and an `older` schema are brought up to date by `Store.open`.
    Raises StoreError for a file that is no SQLite database or can't be read.
    """
    if not path.exists():
        return "missing"
    with closing(connect_to_read(path)) as connection:
        try:
            tables = {
                name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            }
            if "alembic_version" not in tables:
                return "foreign" if tables else "empty"
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        except sqlite3.Error as error:
            raise read_error(path, error) from error
    if row is None:
        return "empty"
    revision = str(row[0])
    if revision == HEAD:
        if lost := TABLES - tables:
            raise StoreError(
                f"{path} is damaged: it has lost its table {min(lost)}",
                hint="put a copy of it back, or move it away: the next command begins a new one",
            )
        return "current"
    if not revision.isdecimal():
        return "unknown"
    return "newer" if revision > HEAD else "older" if revision in EARLIER else "unknown"


_REFUSALS: dict[Standing, tuple[str, str]] = {
    "missing": ("doesn't exist", "`optrack next` creates it"),
    "empty": ("is empty", "`optrack next` fills it"),
    "older": ("was written by an older optrack", "any command that writes brings it up to date"),
    "newer": ("was written by a newer optrack", "upgrade optrack"),
    "unknown": (
        "has a schema that this version of optrack doesn't know",
        "use the optrack that wrote it, or point OPTRACK_DB to another file",
    ),
    "foreign": ("is a database of something else", "point OPTRACK_DB to a file of its own"),
}


def refusal(path: Path, state: Standing) -> StoreError:
    """Return the StoreError for a database that stands so and can't be used."""
    what, hint = _REFUSALS[state]
    return StoreError(f"{path} {what}", hint=hint)


def file_id(path: Path) -> tuple[int, int] | None:
    """Return what tells this file from another of its name, None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def lost_error(path: Path) -> StoreError:
    """Return the StoreError for a database that isn't any more what was opened."""
    what = "was replaced by another file" if path.exists() else "was deleted or moved away"
    return StoreError(
        f"{path} {what} while it was in use",
        hint="put it back, or begin a new one: the next command takes in what a run wrote beside its logs",
    )


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Return a connection that can't write; in a folder where nobody can, one that takes the file as it is.

    Raises StoreError where there is no file or it can't be opened.
    """
    uri = f"{path.absolute().as_uri()}?mode=ro"
    try:
        return _checked(uri)
    except sqlite3.OperationalError as error:
        wal = path.with_name(f"{path.name}-wal")
        unwritten = not wal.exists() or wal.stat().st_size == 0
        if (
            error.sqlite_errorname in ("SQLITE_CANTOPEN", "SQLITE_READONLY_DIRECTORY")
            and path.is_file()
            and unwritten
        ):
            try:
                return _checked(f"{uri}&immutable=1")
            except sqlite3.Error as second:
                raise read_error(path, second) from second
        raise read_error(path, error) from error
    except sqlite3.Error as error:
        raise read_error(path, error) from error


def _checked(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri, uri=True, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


class Source:
    """A database as readers ask it: SQLite's, by a connection that can't write. Another kind has the same methods."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = file_id(path)
        self._lock = threading.Lock()
        self._connection = connect_to_read(path)
        self._connection.row_factory = sqlite3.Row

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def require_in_place(self) -> None:
        """Raise StoreError where the database's name stands for another file now, or for none."""
        if file_id(self.path) != self._file:
            raise lost_error(self.path)

    def version(self, connection: sqlite3.Connection) -> int:
        """Return a number that changes once anybody has written since the last call; costs microseconds."""
        return int(connection.execute("PRAGMA data_version").fetchone()[0])

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the connection within a transaction, so that one call sees one state of the database."""
        with self._lock:
            try:
                self._connection.execute("BEGIN")
                try:
                    yield self._connection
                finally:
                    self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise read_error(self.path, error) from error


def read_error(path: Path, error: Exception) -> StoreError:
    """Return the StoreError that says what SQLite's error means for this database, and what to do."""
    name = str(getattr(error, "sqlite_errorname", ""))
    if name == "SQLITE_NOTADB":
        return StoreError(
            f"{path} isn't a SQLite database", hint="move it away, or point OPTRACK_DB elsewhere"
        )
    if name.startswith("SQLITE_CORRUPT"):
        return StoreError(
            f"{path} is damaged: {error}", hint=f"sqlite3 {path} .recover saves what can be read"
        )
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        hint = "close what holds it, then try again"
        return StoreError(f"{path} is locked by another program", hint=hint)
    if path.is_dir():
        return StoreError(f"{path} is a folder, not a database", hint="OPTRACK_DB takes the path of a file")
    if not path.exists():
        return StoreError(f"there is no database at {path}", hint="`optrack next` creates it")
    if not os.access(path, os.R_OK):
        whose = f"user {path.stat().st_uid}"
        with contextlib.suppress(KeyError):
            whose = path.owner()
        return StoreError(f"can't read {path}: it belongs to {whose}", hint=f"ask {whose} to let you read it")
    hint = "check disk space" if name.startswith(("SQLITE_IOERR", "SQLITE_FULL")) else "check its permissions"
    return StoreError(f"can't read {path}: {error}", hint=hint)

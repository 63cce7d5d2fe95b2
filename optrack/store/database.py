"""The connection that writes: its pragmas, migrations, transactions, and waiting for locks."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, event
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session, create_engine

from optrack.errors import StoreError
from optrack.store.schema import BUSY_TIMEOUT_S, HEAD, file_id, lost_error, read_error, refusal, standing

T = TypeVar("T")

_LOCKED = ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL")
_NO_ROOM = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_READONLY")


class BusyError(Exception):
    """The database was locked for longer than the caller's patience; nothing was written."""


class NoRoomError(Exception):
    """The database can't take the write now: the disk is full, failing or gone. Nothing was written."""


class Database:
    """A SQLite database open for writing, its schema up to date; safe to use from several threads."""

    def __init__(self, path: Path, engine: Engine) -> None:
        self.path = path
        self._engine = engine
        self._file: tuple[int, int] | None = None
        event.listen(engine, "connect", self._require_in_place)

    @classmethod
    def open(cls, path: Path, *, patience_s: float) -> Database:
        """Open the database, creating folder and schema where missing.

        Raises StoreError where it can't be written, isn't a database of optrack, is newer than this version,
        or stays locked for `patience_s`.
        """
        state = _openable(path)
        if state == "missing":
            _make_private(path)
        engine = create_engine(
            URL.create("sqlite", database=str(path)),
            connect_args={"isolation_level": None, "timeout": BUSY_TIMEOUT_S},
        )
        event.listen(engine, "connect", _on_connect)
        event.listen(engine, "begin", _on_begin)
        database = cls(path, engine)
        if state != "current":
            try:
                _patiently(lambda: _use_wal(path), patience_s)
                _patiently(database._migrate, patience_s)
            except (BusyError, NoRoomError) as error:
                engine.dispose()
                raise write_error(path, error) from error
            except BaseException:
                engine.dispose()
                raise
        database._file = file_id(path)
        return database

    def is_in_place(self) -> bool:
        """Whether the database's name stands for the file that was opened."""
        return self._file is None or file_id(self.path) == self._file

    def _require_in_place(self, connection: Any, _record: Any) -> None:
        if not self.is_in_place():
            connection.close()
            raise lost_error(self.path)

    def write(self, work: Callable[[Session], T], *, durable: bool, patience_s: float) -> T:
        """Do `work` in one transaction that holds the write lock from its beginning, and return its result.

        `durable` writes are on the disk when this returns; the others survive the death of every process,
        but perhaps no power cut. A locked database is waited for; raises BusyError when `patience_s` is
        over, NoRoomError where the disk refuses, StoreError for any other failure. `work` may be repeated.
        """
        wait_s = min(BUSY_TIMEOUT_S, patience_s)
        options = {"synchronous": "FULL" if durable else "NORMAL", "busy_ms": round(wait_s * 1000)}
        return _patiently(lambda: self._write_once(work, options), patience_s, path=self.path)

    def _write_once(self, work: Callable[[Session], T], options: Mapping[str, object]) -> T:
        with self._engine.connect().execution_options(**options) as connection, connection.begin():
            with Session(connection, expire_on_commit=False) as session:
                result = work(session)
                session.flush()
            return result

    def _migrate(self) -> None:
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option(
            "script_location", str(Path(__file__).parent / "migrations").replace("%", "%%")
        )
        with self._engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, HEAD)

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def _openable(path: Path) -> str:
    if path.is_dir():
        raise StoreError(f"{path} is a folder, not a database", hint="OPTRACK_DB takes the path of a file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"can't create the folder {path.parent}: {error.strerror}",
            hint="point OPTRACK_DB to a folder that you can write",
        ) from error
    state = standing(path)
    if state in ("foreign", "newer", "unknown"):
        raise refusal(path, state)
    refused = path if path.exists() and not os.access(path, os.W_OK) else None
    if refused is None and not os.access(path.parent, os.W_OK):
        refused = path.parent
    if refused is not None:
        raise StoreError(f"{refused} is read-only", hint="point OPTRACK_DB to a file that you can write")
    return state


def _make_private(path: Path) -> None:
    """Make an empty file that only its owner can read; SQLite's own files beside it get the same mode."""
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def _use_wal(path: Path) -> None:
    """Put the database in WAL mode, which it keeps; done once, since it needs the database to itself."""
    connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None)
    try:
        if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            connection.execute("PRAGMA journal_mode=WAL")
    finally:
        connection.close()


def _on_connect(connection: Any, _record: Any) -> None:
    connection.execute("PRAGMA foreign_keys=ON")


def _on_begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    connection.exec_driver_sql(f"PRAGMA synchronous={options.get('synchronous', 'FULL')}")
    connection.exec_driver_sql(f"PRAGMA busy_timeout={options.get('busy_ms', round(BUSY_TIMEOUT_S * 1000))}")
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _patiently(work: Callable[[], T], patience_s: float, *, path: Path | None = None) -> T:
    """Return what `work` returns, doing it again while the database is locked and `patience_s` lasts."""
    until = time.monotonic() + patience_s
    pause_s = 0.01
    while True:
        try:
            return work()
        except (DBAPIError, sqlite3.Error) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            name = str(getattr(cause, "sqlite_errorname", ""))
            if name.startswith(_NO_ROOM):
                raise NoRoomError(str(cause)) from error
            if not name.startswith(_LOCKED):
                raise _other_error(path, cause) from error
            if time.monotonic() + pause_s > until:
                raise BusyError(str(cause)) from error
        time.sleep(pause_s)
        pause_s = min(pause_s * 2, 0.25)


def _other_error(path: Path | None, cause: BaseException | None) -> StoreError:
    if path is not None and isinstance(cause, Exception) and not isinstance(cause, sqlite3.IntegrityError):
        return read_error(path, cause)
    return StoreError(f"the database refused a record: {cause}")


def write_error(path: Path, error: Exception) -> StoreError:
    """Return the StoreError for a write that didn't happen."""
    if isinstance(error, BusyError):
        return StoreError(
            f"{path} is locked by another program: nothing was written",
            hint="close what holds it, then try again",
        )
    return StoreError(f"can't write {path}: {error}", hint="check disk space and permissions")

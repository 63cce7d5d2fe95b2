"""Opening a database: what is created, what is refused, and what it costs."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine
from sqlmodel import SQLModel

from optrack.errors import StoreError
from optrack.model.events import StageEnded
from optrack.store.read import Reader
from optrack.store.schema import HEAD, database_path, standing
from optrack.store.write import Store
from tests.record.making import NOON, a_plan, an_item


def test_folder_database_and_schema_are_created(database: Path) -> None:
    assert standing(database) == "missing"
    Store.open(database).close()
    assert standing(database) == "current"
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_the_migrations_make_the_tables_that_the_rows_describe(database: Path) -> None:
    Store.open(database).close()
    engine = create_engine(f"sqlite:///{database}")
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), SQLModel.metadata) == []
    engine.dispose()


def test_the_newest_migration_is_the_one_that_is_asked_for() -> None:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", "optrack.store:migrations")
    assert ScriptDirectory.from_config(config).get_current_head() == HEAD


def test_foreign_keys_are_kept(synced: Store) -> None:
    with pytest.raises(StoreError, match="FOREIGN KEY"):
        synced.record("no such run", StageEnded(stage="bench", seconds=1.0))


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("a/b.db", "a/b.db"),
        ("sqlite:///a/b.db", "a/b.db"),
        ("sqlite:////abs/b.db", "/abs/b.db"),
        ("sqlite+pysqlite:////abs/100%25%20done.db?timeout=5", "/abs/100% done.db"),
    ],
)
def test_a_path_or_a_url_names_the_database(url: str, path: str) -> None:
    assert database_path(url) == Path(path)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "postgresql://u:secret@host/db"])
def test_a_database_that_cannot_be_used_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(StoreError) as refused:
        Store.open(url)
    assert "secret" not in f"{refused.value.message}{refused.value.hint}"


@pytest.mark.parametrize("name", ["100% odd?name#1.db", "käse 'n quote.db"])
def test_any_file_name_will_do(tmp_path: Path, name: str) -> None:
    with Store.open(tmp_path / name) as store:
        store.sync(a_plan(an_item("1A")), who="ann", at=NOON)
    with Reader.open(tmp_path / name) as reader:
        assert len(reader.items("fast")) == 1
    assert {path.name.removesuffix("-wal").removesuffix("-shm") for path in tmp_path.iterdir()} == {name}


def refusal(path: Path) -> StoreError:
    with pytest.raises(StoreError) as refused:
        Store.open(path)
    assert refused.value.hint
    return refused.value


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("these are notes, and more than a page header of them" * 50)
    before = path.read_bytes()
    assert "isn't a SQLite database" in refusal(path).message
    assert path.read_bytes() == before


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mlflow.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE experiments (id)")
    assert "database of something else" in refusal(path).message


def test_a_newer_schema_is_refused(database: Path) -> None:
    Store.open(database).close()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    assert "newer optrack" in refusal(database).message
    with pytest.raises(StoreError, match="newer optrack"):
        Reader.open(database)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path).message


def test_a_damaged_database_is_said_to_be(database: Path) -> None:
    with Store.open(database) as store:
        store.sync(a_plan(*(an_item(f"i{n}") for n in range(500))), who="ann", at=NOON)
    size = database.stat().st_size
    with database.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(size - 8192))
    with pytest.raises(StoreError), Store.open(database) as store:
        store.reader.items("fast")


def permissions_are_ignored() -> bool:
    """Whether this user may write everywhere, as root may."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        return os.access(folder, os.W_OK)


needs_permissions = pytest.mark.skipif(permissions_are_ignored(), reason="this user may write anywhere")


@needs_permissions
def test_a_read_only_folder_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        assert "read-only" in refusal(tmp_path / "optrack.db").message
        assert "can't create the folder" in refusal(tmp_path / "sub" / "optrack.db").message
    finally:
        tmp_path.chmod(0o755)


def test_a_folder_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert "can't create the folder" in refusal(tmp_path / "file" / "sub" / "optrack.db").message


def test_a_reader_says_that_there_is_no_database_yet(database: Path) -> None:
    with pytest.raises(StoreError, match="doesn't exist"):
        Reader.open(database)
    assert not database.parent.exists()


def modules_after(code: str, *arguments: object) -> set[str]:
    """Return which of the heavy modules are loaded in a fresh interpreter once it has run the code."""
    listing = "import sys; print(*(m for m in ('sqlalchemy', 'sqlmodel', 'alembic') if m in sys.modules))"
    command = [sys.executable, "-c", f"{code}\n{listing}", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


def test_reading_needs_no_sqlalchemy(database: Path) -> None:
    Store.open(database).close()
    code = "import sys; from optrack.store.read import Reader; Reader.open(sys.argv[1]).runs()"
    assert modules_after(code, database) == set()


def test_opening_an_up_to_date_database_needs_no_alembic(database: Path) -> None:
    Store.open(database).close()
    code = "import sys; from optrack.store.write import Store; Store.open(sys.argv[1]).close()"
    assert modules_after(code, database) == {"sqlalchemy", "sqlmodel"}


@needs_permissions
def test_a_database_in_a_folder_that_nobody_may_write_can_still_be_read(database: Path) -> None:
    with Store.open(database) as store:
        store.sync(a_plan(an_item("1A")), who="ann", at=NOON)
    for leftover in (f"{database}-wal", f"{database}-shm"):
        Path(leftover).unlink(missing_ok=True)
    database.chmod(0o444)
    database.parent.chmod(0o555)
    try:
        with Reader.open(database) as reader:
            assert len(reader.items("fast")) == 1
        assert "read-only" in refusal(database).message
    finally:
        database.parent.chmod(0o755)


def test_a_database_that_lost_a_table_is_refused(database: Path) -> None:
    Store.open(database).close()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("DROP TABLE note")
    assert "lost its table note" in refusal(database).message
    with pytest.raises(StoreError, match="lost its table note"):
        Reader.open(database)


@pytest.mark.parametrize("revision", ["0000", "abc", "1a2b3c4d5e6f"])
def test_a_schema_that_nobody_knows_is_refused(database: Path, revision: str) -> None:
    Store.open(database).close()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
        connection.commit()
    assert "doesn't know" in refusal(database).message
    with pytest.raises(StoreError, match="doesn't know"):
        Reader.open(database)

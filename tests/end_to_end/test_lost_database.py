"""A database that goes, is replaced or is damaged under a run costs nothing of the run, and is said plainly."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.end_to_end.campaigns import QUICK, Called, Campaign, Make, ended, item, wait_for

ONCE = QUICK.replace("launches: 3", "launches: 1")
HELD = "bench: 'touch benching; while [ ! -e go ]; do sleep 0.05; done; echo score = 5'"


def put_aside(database: Path) -> list[Path]:
    """Move the database's files away and return where they are."""
    moved = []
    for path in sorted(database.parent.glob(f"{database.name}*")):
        moved.append(path.rename(path.with_name(f"aside-{path.name}")))
    return moved


def delete(database: Path) -> None:
    for path in put_aside(database):
        path.unlink()


def replace_by_an_empty_file(database: Path) -> None:
    delete(database)
    database.touch()


def replace_by_an_older_copy(database: Path) -> None:
    delete(database)
    shutil.copy(database.with_name("older.db"), database)


LOSSES = (delete, replace_by_an_empty_file, replace_by_an_older_copy)


def while_it_runs(project: Campaign, harm: Callable[[Path], object]) -> Called:
    """Run item 1, harm the database in its benchmark, and return what its follower said."""
    database = project.folder / ".optrack" / "optrack.db"
    assert project.call("status").code == 0
    with (
        closing(sqlite3.connect(database)) as now,
        closing(sqlite3.connect(database.with_name("older.db"))) as older,
    ):
        now.backup(older)
    follower = project.start("run", "1")
    wait_for((project.folder / "benching").exists, "the benchmark")
    harm(database)
    (project.folder / "go").touch()
    return ended(follower)


def assert_recorded_once(project: Campaign) -> None:
    """The run of item 1 is there, once, with all that it measured."""
    (run,) = project.runs()
    shown = project.show(run["id"])["run"]
    assert (run["outcome"], shown["metrics"]["score"]["values"]) == ("succeeded", [[5.0]])
    assert project.items()["1"]["status"] == "completed"
    with closing(sqlite3.connect(project.folder / ".optrack" / "optrack.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        moves = database.execute("SELECT after FROM transition WHERE run IS NOT NULL ORDER BY seq").fetchall()
    assert moves == [("in_progress",), ("completed",)]


@pytest.mark.parametrize("harm", LOSSES)
def test_the_next_command_takes_in_a_run_whose_database_went(
    make: Make, harm: Callable[[Path], object]
) -> None:
    project = make(item("1", "Held", f"order: block\n{HELD}"), base=ONCE)
    said = while_it_runs(project, harm)
    assert said.code == 2
    assert "isn't recorded" in said.err and "journal.jsonl" in said.err
    assert "Traceback" not in said.err
    assert "taken in" in project.call("status").err
    assert "taken in" not in project.call("status").err
    assert_recorded_once(project)


def test_a_database_that_was_moved_and_is_put_back_has_the_run_once(make: Make) -> None:
    project = make(item("1", "Held", f"order: block\n{HELD}"), base=ONCE)
    moved: list[Path] = []
    said = while_it_runs(project, lambda database: moved.extend(put_aside(database)))
    assert said.code == 2
    for path in moved:
        path.rename(path.with_name(path.name.removeprefix("aside-")))
    assert project.call("status").code == 0
    assert_recorded_once(project)


def test_a_database_cut_to_nothing_is_named_and_a_new_one_takes_the_run_in(make: Make) -> None:
    project = make(item("1", "Held", f"order: block\n{HELD}"), base=ONCE)

    def cut(database: Path) -> None:
        for path in database.parent.glob(f"{database.name}*"):
            if not path.name.endswith("-shm"):  # mapped memory: no program survives its being cut
                path.write_bytes(b"rubbish " * 200)

    said = while_it_runs(project, cut)
    assert said.code == 2
    assert "Traceback" not in said.err
    refused = project.call("status")
    assert refused.code == 2 and "optrack.db" in refused.err and "Traceback" not in refused.err
    delete(project.folder / ".optrack" / "optrack.db")
    assert project.call("status").code == 0
    (run,) = project.runs()
    assert project.show(run["id"])["run"]["metrics"]["score"]["values"] == [[5.0]]


def test_a_recorded_run_leaves_no_side_journal(make: Make) -> None:
    project = make(item("1", "Quick", "order: block"), base=ONCE)
    assert project.call("run", "1").code == 0
    assert not list(project.folder.glob(".optrack/runs/*/journal*.jsonl"))

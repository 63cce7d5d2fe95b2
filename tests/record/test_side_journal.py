"""A locked or full database delays a result and never loses it."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, event

from optrack.errors import StoreError
from optrack.model.events import (
    ArtifactWritten,
    Noted,
    PartsCaptured,
    ProcessStarted,
    Remarked,
    RunEnded,
    RunJudged,
    SamplesAdded,
    StageEnded,
)
from optrack.model.run import ProcessId
from optrack.model.snapshot import Snapshot
from optrack.store.spool import SPOOL_NAME
from optrack.store.write import Store
from tests.record.making import NOON, a_judgement, a_plan, a_run, a_sample, an_item, later


@contextmanager
def exclusively_locked(database: Path) -> Iterator[None]:
    """Hold the lock that a careless viewer or a backup would hold."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield
        connection.execute("ROLLBACK")


@pytest.fixture
def hasty(database: Path) -> Iterator[Store]:
    """A store that waits for nothing, with a run of 1A under way."""
    with Store.open(database, patience_s=0.05) as store:
        store.sync(a_plan(an_item("baseline"), an_item("1A")), who="ann", at=NOON)
        yield store


def measure_everything(store: Store, run: str) -> None:
    store.record(run, ProcessStarted(process=ProcessId(pid=5, start_ticks=6, boot_id="b"), role="server"))
    assert store.record(run, Noted(text="measured while locked"), later(1)) == 0
    store.record(run, SamplesAdded(samples=(a_sample(88.8), a_sample(float("nan"), repetition=1))))
    store.record(run, StageEnded(stage="bench", seconds=12.5))
    store.record(run, PartsCaptured.of(Snapshot(env={"server": {"ODD": "caf\udce9"}})))
    store.record(run, ArtifactWritten(path="server.log"))
    store.record(run, Remarked(text="locked"))
    store.record(a_judgement(run).candidate, RunJudged(judgement=a_judgement(run)), later(2))
    store.record(
        run, RunEnded(outcome="succeeded", stage="teardown", item_after="completed", why="ran"), later(3)
    )


def assert_all_there_once(store: Store, run: str) -> None:
    kept = store.reader.run(run)
    assert [str(s.value) for s in kept.samples] == ["88.8", "nan"]
    assert (kept.outcome, kept.artifacts, kept.notes) == (
        "succeeded",
        ("server.log",),
        ("measured while locked", "locked"),
    )
    assert dict(kept.stages) == {"bench": 12.5}
    assert kept.snapshot == Snapshot(env={"server": {"ODD": "caf\udce9"}})
    assert [e.event.kind for e in store.reader.entries(run)] == ["noted", "stage_ended", "run_ended"]
    assert [t.after for t in store.reader.transitions("fast")] == ["in_progress", "completed"]
    assert len(store.reader.judgements("fast")) == 1 and len(store.reader.processes(run)) == 1


def test_what_a_run_says_while_the_database_is_locked_is_imported_once(hasty: Store, database: Path) -> None:
    run = a_run("1A")
    assert hasty.claim(run)
    run_dir = database.parent / "runs" / run.id
    with exclusively_locked(database):
        measure_everything(hasty, run.id)
        assert hasty.reader.open_runs()[0].id == run.id
    assert hasty.import_spool(run_dir) == 9
    assert_all_there_once(hasty, run.id)
    assert hasty.import_spool(run_dir) == 0
    assert_all_there_once(hasty, run.id)


def test_the_run_itself_takes_its_side_journal_in_as_soon_as_it_can_and_in_order(
    hasty: Store, database: Path
) -> None:
    run = a_run("1A")
    hasty.claim(run)
    with exclusively_locked(database):
        hasty.record(run.id, Noted(text="first"), later(1))
        hasty.record(run.id, Noted(text="second"), later(2))
    hasty.record(run.id, Noted(text="third"), later(3))
    texts = [e.event.text for e in hasty.reader.entries(run.id) if isinstance(e.event, Noted)]
    assert texts == ["first", "second", "third"]


def test_side_journals_may_be_elsewhere_than_beside_the_database(database: Path, tmp_path: Path) -> None:
    with Store.open(database, runs_dir=tmp_path / "raw", patience_s=0.05) as store:
        store.sync(a_plan(an_item("1A")), who="ann", at=NOON)
        run = a_run("1A")
        store.claim(run)
        with exclusively_locked(database):
            store.record(run.id, SamplesAdded(samples=(a_sample(1.0),)))
        assert (tmp_path / "raw" / run.id / SPOOL_NAME).is_file()
        assert store.import_spool(tmp_path / "raw" / run.id) == 1


def test_a_line_cut_short_by_a_kill_costs_only_itself(hasty: Store, database: Path) -> None:
    run = a_run("1A")
    hasty.claim(run)
    path = database.parent / "runs" / run.id / SPOOL_NAME
    with exclusively_locked(database):
        hasty.record(run.id, SamplesAdded(samples=(a_sample(1.0),)))
        with path.open("ab") as file:
            file.write(b'{"id": "half a li')
        hasty.record(run.id, SamplesAdded(samples=(a_sample(2.0),)))
    with path.open("ab") as file:
        file.write(b'\xff\x00 not json\n{"id": "x", "what": {"kind": "unheard of"}}\n')
    assert hasty.import_spool(path.parent) == 2
    assert [s.value for s in hasty.reader.run(run.id).samples] == [1.0, 2.0]


def test_a_side_journal_of_a_run_that_the_database_does_not_know_is_left_alone(
    hasty: Store, database: Path
) -> None:
    run = a_run("1A")
    hasty.claim(run)
    with exclusively_locked(database):
        hasty.record("nobody", SamplesAdded(samples=(a_sample(1.0),)))
    assert hasty.import_spool(database.parent / "runs" / "nobody") == 0
    assert hasty.import_spool(database.parent / "runs" / "never was") == 0


def test_a_result_put_aside_outweighs_that_the_run_was_taken_for_dead(hasty: Store, database: Path) -> None:
    run = a_run("1A")
    hasty.claim(run)
    with exclusively_locked(database):
        measure_everything(hasty, run.id)
    with Store.open(database) as next_command:
        next_command.record(
            run.id,
            RunEnded(outcome="interrupted", stage="bench", item_after="pending", why="runner died"),
            later(9),
        )
        assert next_command.reader.items("fast")[1].status == "pending"
        next_command.import_spool(database.parent / "runs" / run.id)
        assert next_command.reader.run(run.id).outcome == "succeeded"
        assert next_command.reader.items("fast")[1].status == "completed"


def test_a_late_result_leaves_an_item_alone_that_runs_again(hasty: Store, database: Path) -> None:
    run = a_run("1A")
    hasty.claim(run)
    with exclusively_locked(database):
        measure_everything(hasty, run.id)
    with Store.open(database) as next_command:
        next_command.record(
            run.id,
            RunEnded(outcome="interrupted", stage="bench", item_after="pending", why="runner died"),
            later(9),
        )
        assert next_command.claim(a_run("1A", 10))
        next_command.import_spool(database.parent / "runs" / run.id)
        assert next_command.reader.run(run.id).outcome == "succeeded"
        assert next_command.reader.items("fast")[1].status == "in_progress"


def test_a_lock_of_a_second_delays_a_transition_and_loses_nothing(synced: Store, database: Path) -> None:
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with exclusively_locked(database):
            held.set()
            release.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(30)
    threading.Timer(1.0, release.set).start()
    began = time.monotonic()
    synced.transition("fast", "1A", "completed", who="ann", why="by hand", at=NOON)
    assert time.monotonic() - began > 0.5
    holder.join(30)
    assert synced.reader.items("fast")[1].status == "completed"
    assert not (database.parent / "runs").exists()


def test_what_is_not_of_a_run_is_refused_while_locked_and_says_so(hasty: Store, database: Path) -> None:
    with (
        exclusively_locked(database),
        pytest.raises(StoreError, match="is locked by another program") as refused,
    ):
        hasty.transition("fast", "1A", "completed", who="ann", why="by hand", at=NOON)
    assert refused.value.hint == "close what holds it, then try again"
    assert hasty.reader.transitions("fast") == ()


def test_a_viewer_in_the_middle_of_reading_blocks_no_writer(synced: Store, database: Path) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as viewer:
        viewer.execute("BEGIN")
        before = viewer.execute("SELECT count(*) FROM transition").fetchone()
        synced.transition("fast", "1A", "completed", who="ann", why="by hand", at=NOON)
        assert viewer.execute("SELECT count(*) FROM transition").fetchone() == before
        viewer.execute("COMMIT")
        assert viewer.execute("SELECT count(*) FROM transition").fetchone() == (before[0] + 1,)


@contextmanager
def no_room_in(database: Path) -> Iterator[None]:
    """Let every connection that writes find the disk full."""
    with closing(sqlite3.connect(database)) as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]

    def limit(connection: Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")

    event.listen(Engine, "begin", limit)
    try:
        yield
    finally:
        event.remove(Engine, "begin", limit)


def test_a_full_disk_costs_no_result_and_leaves_the_database_sound(synced: Store, database: Path) -> None:
    run = a_run("1A")
    synced.claim(run)
    big = Snapshot(git={"patch": "x" * 4_000_000})
    with no_room_in(database):
        synced.record(run.id, PartsCaptured.of(big))
        with pytest.raises(StoreError, match="database or disk is full") as refused:
            synced.note("fast", "1A", "x" * 4_000_000, who="ann", at=NOON)
    assert refused.value.hint == "check disk space and permissions"
    assert (database.parent / "runs" / run.id / SPOOL_NAME).stat().st_size > 4_000_000
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    with Store.open(database) as roomier:
        assert roomier.import_spool(database.parent / "runs" / run.id) == 1
        assert roomier.reader.run(run.id).snapshot == big

"""Who gets an item: exactly one of those who ask at once."""

from __future__ import annotations

import multiprocessing
import sqlite3
from contextlib import closing
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from optrack.errors import UsageError
from optrack.model.events import ProcessStarted, RunEnded
from optrack.model.plan import Status
from optrack.model.run import ProcessId
from optrack.store.write import Store
from tests.record.making import NOON, a_plan, a_run, an_item, later

CALLERS = 8
ROUNDS = 20
LABELS = ("1A", "1B", "1C")


def _ask_for_an_item(database: Path, caller: int, barrier: Barrier) -> None:
    """Every round, try the items of that round's plan in order until one is ours or none is left."""
    with Store.open(database) as store:
        for number in range(ROUNDS):
            barrier.wait(60)
            for label in LABELS:
                run = a_run(
                    label, id=f"{number:02}-{label}-{caller}", plan=f"p{number}", actor=f"caller {caller}"
                )
                if store.claim(run):
                    break


def test_eight_callers_never_share_one_of_three_items_in_twenty_rounds(database: Path) -> None:
    with Store.open(database) as store:
        for number in range(ROUNDS):
            plan = a_plan(*(an_item(label) for label in LABELS), name=f"p{number}")
            store.sync(plan, who="ann", at=NOON)
    fork = multiprocessing.get_context("fork")
    barrier = fork.Barrier(CALLERS)
    callers = [fork.Process(target=_ask_for_an_item, args=(database, n, barrier)) for n in range(CALLERS)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(120)
    assert [caller.exitcode for caller in callers] == [0] * CALLERS
    with Store.open(database) as store:
        for number in range(ROUNDS):
            runs = store.reader.runs(f"p{number}")
            assert sorted(run.item for run in runs) == list(LABELS)
            assert len({run.actor for run in runs}) == len(LABELS)
            moves = store.reader.transitions(f"p{number}")
            assert sorted((m.item, m.before, m.after) for m in moves) == [
                (label, "pending", "in_progress") for label in LABELS
            ]
            assert {move.run for move in moves} == {run.id for run in runs}


def _open_at_once(database: Path, barrier: Barrier) -> None:
    barrier.wait(60)
    with Store.open(database) as store:
        store.sync(a_plan(an_item("1A")), who="ann", at=NOON)


def test_eight_callers_may_create_the_database_at_once(database: Path) -> None:
    fork = multiprocessing.get_context("fork")
    barrier = fork.Barrier(CALLERS)
    callers = [fork.Process(target=_open_at_once, args=(database, barrier)) for _ in range(CALLERS)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(120)
    assert [caller.exitcode for caller in callers] == [0] * CALLERS
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT count(*) FROM item").fetchone() == (1,)


def test_a_claim_records_the_run_and_the_move_together(synced: Store) -> None:
    run = a_run("1A", runner=ProcessId(pid=42, start_ticks=7, boot_id="boot"))
    assert synced.claim(run)
    (move,) = synced.reader.transitions("fast", "1A")
    assert (move.before, move.after, move.who, move.run) == ("pending", "in_progress", "ann", run.id)
    (live,) = synced.reader.open_runs()
    assert live.id == run.id and live.runner == run.runner and live.outcome is None


@pytest.mark.parametrize("status", ["completed", "cancelled", "in_progress"])
def test_an_item_that_stands_elsewhere_is_not_claimed_unless_asked_for(store: Store, status: Status) -> None:
    store.sync(a_plan(an_item("1A", status=status)), who="ann", at=NOON)
    assert not store.claim(a_run("1A", 1))
    assert store.reader.runs() == ()
    assert store.claim(a_run("1A", 2), from_statuses=("completed", "cancelled", "in_progress"))
    assert store.reader.items("fast")[0].status == "in_progress"


def test_an_item_with_a_live_run_is_not_claimed_from_any_status(synced: Store) -> None:
    assert synced.claim(a_run("1A"))
    synced.transition("fast", "1A", "pending", who="bob", why="by hand", at=later(1))
    assert not synced.claim(a_run("1A", 2))


def test_a_baseline_beside_a_run_takes_no_item(synced: Store) -> None:
    synced.transition("fast", "baseline", "completed", who="ann", why="known", at=NOON)
    candidate = a_run("1A")
    assert synced.claim(candidate)
    beside = a_run("baseline", 1, role="baseline", beside=candidate.id)
    assert synced.claim(beside)
    assert [t.after for t in synced.reader.transitions("fast", "baseline")] == ["completed"]
    assert synced.record(
        beside.id,
        RunEnded(outcome="succeeded", stage="teardown", item_after="completed", why="ran"),
        later(9),
    )
    kept = synced.reader.run(beside.id)
    assert (kept.role, kept.beside, kept.outcome) == ("baseline", candidate.id, "succeeded")


def test_a_claim_of_an_unknown_item_or_plan_is_an_error_not_a_lost_race(synced: Store) -> None:
    with pytest.raises(UsageError, match="fast has no item 9Z"):
        synced.claim(a_run("9Z"))
    with pytest.raises(UsageError, match="knows no plan called slow"):
        synced.claim(a_run("1A", plan="slow"))


def test_a_process_of_a_run_is_listed_once(synced: Store) -> None:
    run = a_run("1A")
    synced.claim(run)
    synced.record(
        run.id, ProcessStarted(process=ProcessId(pid=100, start_ticks=5, boot_id="b-1"), role="server")
    )
    synced.record(
        run.id, ProcessStarted(process=ProcessId(pid=100, start_ticks=5, boot_id="b-1"), role="server")
    )
    assert synced.reader.processes(run.id) == ((ProcessId(pid=100, start_ticks=5, boot_id="b-1"), "server"),)

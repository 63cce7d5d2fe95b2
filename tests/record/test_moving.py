"""Transitions of items: what is allowed, what is recorded, what can't be undone."""

from __future__ import annotations

import itertools
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from optrack.errors import UsageError
from optrack.model.events import RunEnded
from optrack.model.plan import STATUSES, Status, may_move
from optrack.model.run import Outcome
from optrack.store.write import Store
from tests.record.making import NOON, a_plan, a_run, an_item, later

PAIRS = list(itertools.product(STATUSES, STATUSES))


@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_every_pair_of_statuses_is_moved_or_refused(store: Store, before: Status, after: Status) -> None:
    store.sync(a_plan(an_item("1A", status=before)), who="ann", at=NOON)
    earlier = len(store.reader.transitions("fast"))
    if may_move(before, after):
        move = store.transition("fast", "1A", after, who="bob", why="because", at=later(1))
        assert store.reader.transitions("fast")[earlier:] == (move,)
        assert (move.before, move.after, move.who, move.why, move.at) == (
            before,
            after,
            "bob",
            "because",
            later(1),
        )
        assert store.reader.items("fast")[0].status == after
        return
    with pytest.raises(UsageError) as refused:
        store.transition("fast", "1A", after, who="bob", why="because", at=later(1))
    allowed = [status for status in STATUSES if may_move(before, status)]
    assert refused.value.hint == f"from {before} it can become {', '.join(allowed)}"
    assert store.reader.items("fast")[0].status == before
    assert len(store.reader.transitions("fast")) == earlier


@pytest.mark.parametrize("change", ["UPDATE transition SET why = 'else'", "DELETE FROM transition"])
def test_the_database_itself_keeps_transitions_as_they_are(
    synced: Store, database: Path, change: str
) -> None:
    synced.transition("fast", "1A", "completed", who="ann", why="by hand", at=NOON)
    with closing(sqlite3.connect(database)) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute(change)
    assert len(synced.reader.transitions("fast")) == 1


def test_words_that_are_no_unicode_are_kept_readable(synced: Store) -> None:
    move = synced.transition("fast", "1A", "completed", who="ann", why="see \udc96 log", at=NOON)
    assert move.why == "see ? log"
    assert synced.reader.transitions("fast") == (move,)


def end(
    store: Store, run: str, *, outcome: Outcome = "succeeded", after: Status | None = "completed"
) -> bool:
    ended = store.record(
        run,
        RunEnded(outcome=outcome, stage="teardown", item_after=after, why=f"the run {outcome}"),
        later(60),
    )
    return ended > 0


def test_the_end_of_a_run_moves_its_item_and_says_so_in_the_journal_once(synced: Store) -> None:
    run = a_run("1A")
    synced.claim(run)
    assert end(synced, run.id)
    assert not end(synced, run.id)
    assert not end(synced, run.id, outcome="failed")
    kept = synced.reader.run(run.id)
    assert (kept.outcome, kept.ended_at, kept.stage) == ("succeeded", later(60), "teardown")
    assert [e.event.kind for e in synced.reader.entries(run.id)] == ["run_ended"]
    assert [t.after for t in synced.reader.transitions("fast")] == ["in_progress", "completed"]
    assert synced.reader.open_runs() == ()


def test_an_interrupted_run_puts_its_item_back(synced: Store) -> None:
    run = a_run("1A")
    synced.claim(run)
    end(synced, run.id, outcome="interrupted", after="pending")
    assert [s.status for s in synced.reader.items("fast")] == ["pending"] * 3
    assert synced.claim(a_run("1A", 61))


def test_what_was_decided_by_hand_meanwhile_stands(synced: Store) -> None:
    run = a_run("1A")
    synced.claim(run)
    synced.transition("fast", "1A", "cancelled", who="bob", why="no use", at=later(1))
    assert end(synced, run.id)
    assert synced.reader.items("fast")[1].status == "cancelled"
    assert synced.reader.run(run.id).outcome == "succeeded"


def test_a_run_that_has_ended_is_never_changed(synced: Store, database: Path) -> None:
    run = a_run("1A")
    synced.claim(run)
    end(synced, run.id)
    with closing(sqlite3.connect(database)) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute("UPDATE run SET outcome = 'failed'")


def test_the_end_of_an_unknown_run_is_an_error(synced: Store) -> None:
    with pytest.raises(UsageError, match="there is no run nope"):
        end(synced, "nope")

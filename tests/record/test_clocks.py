"""A clock that is set back or forward in a run changes neither what it took nor what came before what."""

from __future__ import annotations

import pytest

from optrack.model.events import RunEnded
from optrack.store.write import Store
from tests.record.making import a_run, later


@pytest.mark.parametrize("shift_s", [-3600.0, 3600.0])
def test_runs_are_in_the_order_in_which_they_were_taken_up(synced: Store, shift_s: float) -> None:
    first, second = a_run("baseline", 0), a_run("1A", shift_s)
    for run, ended in ((first, shift_s), (second, shift_s + 5)):
        assert synced.claim(run)
        synced.record(
            run.id,
            RunEnded(outcome="succeeded", stage="teardown", item_after="completed", why="ran", seconds=5.0),
            later(ended),
        )
    assert [run.id for run in synced.reader.runs("fast")] == [second.id, first.id]
    assert [run.seconds for run in synced.reader.runs("fast")] == [5.0, 5.0]


def test_the_last_run_of_an_item_is_the_one_taken_up_last(synced: Store) -> None:
    for seconds in (0.0, -3600.0):
        run = a_run("1A", seconds)
        assert synced.claim(run, from_statuses=("pending", "completed"))
        synced.record(
            run.id,
            RunEnded(outcome="succeeded", stage="teardown", item_after="completed", why="ran"),
            later(seconds),
        )
    state = next(state for state in synced.reader.items("fast") if state.item.id == "1A")
    assert state.last_run == run.id

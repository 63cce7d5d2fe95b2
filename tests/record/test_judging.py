"""Judgements, accepted differences, adopted items and notes, as they were given."""

from __future__ import annotations

import pytest

from optrack.errors import UsageError
from optrack.model.events import RunEnded, RunJudged
from optrack.model.item import Note
from optrack.model.judgement import Difference
from optrack.store.write import Store
from tests.record.making import NOON, a_judgement, a_run, later


def measured(store: Store, item: str, seconds: float = 0.0) -> str:
    run = a_run(item, seconds)
    assert store.claim(run, from_statuses=("pending", "completed"))
    store.record(
        run.id,
        RunEnded(outcome="succeeded", stage="teardown", item_after="completed", why="x"),
        later(seconds),
    )
    return run.id


def test_the_latest_judgement_is_in_force_and_the_others_are_kept(synced: Store) -> None:
    base, run = measured(synced, "baseline"), measured(synced, "1A", 1)
    first, second = a_judgement(run, base), a_judgement(run, base, "inconclusive")
    original = a_judgement(run, base, "regression")
    synced.record(first.candidate, RunJudged(judgement=first), later(2))
    synced.record(second.candidate, RunJudged(judgement=second), later(3))
    synced.record(original.candidate, RunJudged(judgement=original, against="original"), later(4))
    assert synced.reader.items("fast")[1].judgement == second
    kept = synced.reader.judgements("fast", "1A")
    assert [(j.judgement, j.against) for j in kept] == [
        (first, "baseline"),
        (second, "baseline"),
        (original, "original"),
    ]


def test_a_difference_of_odd_bytes_and_no_numbers_comes_back(synced: Store) -> None:
    run = measured(synced, "1A")
    difference = Difference(
        field="env.PATH", baseline="caf\udce9", candidate={"x": None}, cls="unexplained", severity="blocking"
    )
    judgement = a_judgement(run).model_copy(update={"differences": (difference,), "verdict": None})
    synced.record(judgement.candidate, RunJudged(judgement=judgement), NOON)
    assert synced.reader.items("fast")[1].judgement == judgement


def test_an_acceptance_holds_for_its_item_or_the_plan(synced: Store) -> None:
    whole = synced.accept("fast", "hardware.clock", who="ann", why="capped alike", at=NOON)
    one = synced.accept("fast", "env.FOO", who="ann", why="unused", at=NOON, item="1A")
    assert synced.reader.acceptances("fast") == (whole, one)
    assert synced.reader.acceptances("fast", "1B") == (whole,)


def test_adoptions_form_a_lineage_whose_last_can_be_undone(synced: Store) -> None:
    run = measured(synced, "1A")
    first = synced.adopt("fast", "1A", who="ann", why="faster", at=NOON, run=run)
    second = synced.adopt("fast", "1B", who="ann", why="faster still", at=later(1))
    assert synced.reader.adoptions("fast") == (first, second)
    assert [state.adopted for state in synced.reader.items("fast")] == [False, True, True]
    with pytest.raises(UsageError, match="1B is adopted already"):
        synced.adopt("fast", "1B", who="ann", why="again", at=later(2))
    assert synced.undo_adopt("fast", who="bob", at=later(3)) == "1B"
    assert synced.reader.adoptions("fast") == (first,)
    assert synced.undo_adopt("fast", who="bob", at=later(4)) == "1A"
    with pytest.raises(UsageError, match="no item of fast is adopted"):
        synced.undo_adopt("fast", who="bob", at=later(5))


def test_notes_are_shown_with_their_item_in_order(synced: Store) -> None:
    for number, text in enumerate(["tried on one node", "| pipes | and\n# headings \x1b[31m"]):
        synced.note("fast", "1A", text, who="ann", at=later(number))
    assert synced.reader.items("fast")[1].notes == (
        Note(at=NOON, who="ann", text="tried on one node"),
        Note(at=later(1), who="ann", text="| pipes | and\n# headings \x1b[31m"),
    )


@pytest.mark.parametrize("plan", ["slow", ""])
def test_a_plan_that_is_unknown_is_refused(synced: Store, plan: str) -> None:
    with pytest.raises(UsageError, match="knows no plan"):
        synced.accept(plan, "f", who="ann", why="w", at=NOON)
    with pytest.raises(UsageError, match="knows no plan"):
        synced.adopt(plan, "1A", who="ann", why="w", at=NOON)
    assert synced.reader.items(plan) == ()

"""An edited plan and the histories of its items."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from optrack.errors import UsageError
from optrack.model.events import RunEnded, RunJudged
from optrack.model.plan import Status
from optrack.model.value import digest
from optrack.store.write import Store
from tests.record.making import NOON, a_judgement, a_plan, a_run, an_item, later


def run_to_the_end(store: Store, item: str, seconds: float = 0.0, **fields: str) -> str:
    """Run the item to a success with a judgement, and return the run's id."""
    run = a_run(item, seconds, **fields)
    assert store.claim(run)
    store.record(
        run.id,
        RunEnded(outcome="succeeded", stage="teardown", item_after="completed", why="ran"),
        later(seconds + 1),
    )
    store.record(run.id, RunJudged(judgement=a_judgement(run.id)), later(seconds + 1))
    return run.id


def standing(store: Store) -> dict[str, tuple[str, int, bool]]:
    """Return status, number of runs and whether archived of each item, in order."""
    return {s.item.id: (s.status, s.runs, s.archived) for s in store.reader.items("fast")}


def test_checked_boxes_are_taken_over_the_first_time_only(store: Store) -> None:
    done = a_plan(an_item("1A", status="completed"), an_item("1B", status="cancelled"), an_item("1C"))
    first = store.sync(done, who="ann", at=NOON)
    assert first.first and first.added == ("1A", "1B", "1C")
    assert [(t.item, t.before, t.after, t.who) for t in first.transitions] == [
        ("1A", None, "completed", "ann"),
        ("1B", None, "cancelled", "ann"),
    ]
    store.transition("fast", "1A", "pending", who="bob", why="again", at=later(1))
    ticked = a_plan(an_item("1A", status="completed"), an_item("1B"), an_item("1C", status="completed"))
    second = store.sync(ticked, who="ann", at=later(2))
    assert second.transitions == () and not second.first
    assert [state.status for state in store.reader.items("fast")] == ["pending", "cancelled", "pending"]


def test_an_item_that_is_new_later_brings_its_own_checked_box(synced: Store) -> None:
    plan = a_plan(an_item("baseline"), an_item("1A"), an_item("1B"), an_item("9", status="completed"))
    assert [t.item for t in synced.sync(plan, who="ann", at=later(1)).transitions] == ["9"]


def test_an_unchanged_plan_changes_nothing(synced: Store) -> None:
    plan = a_plan(an_item("baseline"), an_item("1A"), an_item("1B"))
    version = synced.reader.version()
    assert not synced.sync(plan, who="ann", at=later(1)).changed
    assert synced.reader.version() == version


def test_an_item_inserted_above_leaves_the_histories_where_they_were(store: Store) -> None:
    store.sync(a_plan(an_item("1", "Tree"), an_item("2", "Channels")), who="ann", at=NOON)
    run = run_to_the_end(store, "1")
    edited = a_plan(an_item("1", "Buffers"), an_item("2", "Tree"), an_item("3", "Channels"))
    synced = store.sync(edited, who="ann", at=later(5))
    assert synced.added == ("1",)
    assert [(r.before_id, r.after_id) for r in synced.renamed] == [("1", "2"), ("2", "3")]
    assert standing(store) == {
        "1": ("pending", 0, False),
        "2": ("completed", 1, False),
        "3": ("pending", 0, False),
    }
    assert store.reader.run(run).item == "2"
    assert {t.item for t in store.reader.transitions("fast")} == {"2"}
    assert [j.item for j in store.reader.judgements("fast")] == ["2"]


def test_a_run_that_goes_on_while_its_item_is_renamed_ends_under_the_new_name(synced: Store) -> None:
    run = a_run("1A")
    assert synced.claim(run)
    synced.sync(
        a_plan(an_item("baseline"), an_item("T1", "Title of 1A"), an_item("1B")), who="ann", at=later(1)
    )
    synced.record(
        run.id, RunEnded(outcome="succeeded", stage="teardown", item_after="completed", why="ran"), later(2)
    )
    synced.record(run.id, RunJudged(judgement=a_judgement(run.id)), later(2))
    state = next(s for s in synced.reader.items("fast") if s.item.id == "T1")
    assert (state.status, state.runs) == ("completed", 1)
    assert state.judgement is not None and state.judgement.candidate == run.id


def test_a_vanished_item_is_archived_last_and_comes_back_with_its_history(synced: Store) -> None:
    run_to_the_end(synced, "1A")
    gone = synced.sync(a_plan(an_item("baseline"), an_item("1B")), who="ann", at=later(5))
    assert gone.archived == ("1A",)
    assert list(standing(synced)) == ["baseline", "1B", "1A"]
    assert standing(synced)["1A"] == ("completed", 1, True)
    assert not synced.claim(a_run("1A", 6), from_statuses=("completed", "pending"))
    back = synced.sync(a_plan(an_item("1A"), an_item("baseline"), an_item("1B")), who="ann", at=later(7))
    assert back.revived == ("1A",) and back.added == ()
    assert standing(synced)["1A"] == ("completed", 1, False)


def test_a_label_given_to_something_new_leaves_the_old_history_under_a_label_of_its_own(
    synced: Store,
) -> None:
    run_to_the_end(synced, "1A")
    synced.sync(a_plan(an_item("baseline"), an_item("1B")), who="ann", at=later(5))
    synced.sync(
        a_plan(an_item("baseline"), an_item("1A", "Unrelated"), an_item("1B")), who="ann", at=later(6)
    )
    assert standing(synced)["1A"] == ("pending", 0, False)
    assert standing(synced)["1A~1"] == ("completed", 1, True)


def test_a_former_name_is_refused_with_the_present_one(synced: Store) -> None:
    synced.sync(
        a_plan(an_item("baseline"), an_item("T1", "Title of 1A"), an_item("1B")), who="ann", at=later(1)
    )
    with pytest.raises(UsageError) as refused:
        synced.note("fast", "1A", "hello", who="ann", at=later(2))
    assert refused.value.hint == "it is called T1 now"


def test_an_unknown_item_is_refused_with_the_nearest(synced: Store) -> None:
    with pytest.raises(UsageError) as refused:
        synced.note("fast", "baselin", "hello", who="ann", at=NOON)
    assert refused.value.hint == "did you mean baseline?"
    synced.note("fast", "1a", "case doesn't matter", who="ann", at=NOON)


def test_an_edited_recipe_makes_the_judgement_stale_until_it_runs_again(store: Store) -> None:
    plan = a_plan(an_item("1A"), an_item("1B"))
    store.sync(plan, who="ann", at=NOON, digests={"1A": "one", "1B": "x"})
    run_to_the_end(store, "1A", recipe_digest="one")
    assert not any(state.stale for state in store.reader.items("fast"))
    edited = store.sync(plan, who="ann", at=later(5), digests={"1A": "two", "1B": "x"})
    assert edited.edited == ("1A",) and edited.stale == ("1A",)
    assert [state.stale for state in store.reader.items("fast")] == [True, False]
    store.transition("fast", "1A", "pending", who="ann", why="stale", at=later(6))
    run_to_the_end(store, "1A", 7, recipe_digest="two")
    assert not any(state.stale for state in store.reader.items("fast"))


def test_an_edited_baseline_makes_what_was_judged_against_it_stale(store: Store) -> None:
    plan = a_plan(an_item("baseline"), an_item("1A"))
    store.sync(plan, who="ann", at=NOON, digests={"baseline": "b", "1A": "one"})
    base, run = a_run("baseline", recipe_digest="b"), a_run("1A", 1, recipe_digest="one")
    assert store.claim(base) and store.claim(run)
    store.record(
        a_judgement(run.id, base.id).candidate, RunJudged(judgement=a_judgement(run.id, base.id)), later(2)
    )
    store.sync(plan, who="ann", at=later(3), digests={"baseline": "b2", "1A": "one"})
    assert store.reader.stale("fast") == ("1A",)


def test_a_run_keeps_the_plan_text_and_recipe_it_ran_with(synced: Store, database: Path) -> None:
    run = a_run("1A", recipe={"env": {"Z": "1", "A": "0777"}, "bench": {"second": "b", "first": "a"}})
    synced.claim(run)
    synced.sync(a_plan(an_item("baseline"), an_item("1A", "Other")), who="ann", at=later(1))
    kept = synced.reader.run(run.id)
    assert kept.recipe == run.recipe and list(kept.recipe["bench"]) == ["second", "first"]
    text = "\n".join(f"## {label}: Title of {label}" for label in ("baseline", "1A", "1B"))
    assert kept.plan_digest == digest(text)
    with closing(sqlite3.connect(database)) as connection:
        found = connection.execute(
            "SELECT data FROM content WHERE digest = ?", (kept.plan_digest,)
        ).fetchall()
    assert found == [(text,)]


def test_an_item_added_beside_the_text_stays_until_the_text_has_it(synced: Store) -> None:
    synced.add_item("fast", an_item("9", "Idea"), who="agent", at=later(1))
    with pytest.raises(UsageError, match="has an item 9 already: Idea"):
        synced.add_item("fast", an_item("9", "Other"), who="agent", at=later(1))
    plan = a_plan(an_item("baseline"), an_item("1A"), an_item("1B"), an_item("2"))
    assert synced.sync(plan, who="ann", at=later(2)).archived == ()
    assert list(standing(synced)) == ["baseline", "1A", "1B", "2", "9"]
    assert [state.item.rank for state in synced.reader.items("fast")] == [0, 1, 2, 3, 4]
    synced.sync(a_plan(an_item("9", "Idea"), *plan.items), who="ann", at=later(3))
    assert list(standing(synced)) == ["9", "baseline", "1A", "1B", "2"]
    assert synced.sync(plan, who="ann", at=later(4)).archived == ("9",)


@pytest.mark.parametrize("status", ["pending", "completed", "cancelled", "in_progress"])
def test_every_status_of_a_plan_comes_back_as_it_was(store: Store, status: Status) -> None:
    store.sync(a_plan(an_item("1A", status=status)), who="ann", at=NOON)
    assert store.reader.items("fast")[0].status == status


def test_plans_are_kept_apart(store: Store) -> None:
    store.sync(a_plan(an_item("1A"), name="one"), who="ann", at=NOON)
    store.sync(a_plan(an_item("1A"), an_item("1B"), name="two"), who="ann", at=NOON)
    assert [len(store.reader.items(name)) for name in ("one", "two")] == [1, 2]
    assert store.claim(a_run("1A", plan="one"))
    assert [state.status for state in store.reader.items("two")] == ["pending", "pending"]

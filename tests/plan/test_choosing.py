"""The next item is the first in rank that can run, and each other one has its reason."""

from __future__ import annotations

import pytest

from optrack.model.judgement import Verdict
from optrack.plan.schedule import Choice, choose, reopened, rollup
from optrack.plan.skip import read_condition
from tests.plan.plans import CAMPAIGN, judged, read, states


def kinds(choice: Choice) -> dict[str, str]:
    return {reason.item: reason.kind for reason in choice.reasons}


def why(choice: Choice, item: str) -> str:
    return next(reason.text for reason in choice.reasons if reason.item == item)


def test_the_baseline_is_first() -> None:
    plan = read(CAMPAIGN)
    choice = choose(plan, states(plan))
    assert choice.item == "baseline"
    assert kinds(choice) == {
        "baseline": "chosen", "1": "group", "1A": "later", "1B": "later", "1C": "blocked", "2": "later",
    }  # fmt: skip


def test_then_rank_decides() -> None:
    plan = read(CAMPAIGN)
    assert choose(plan, states(plan, {"baseline": "no_change"})).item == "1A"


def test_an_item_waits_for_what_it_needs() -> None:
    plan = read(CAMPAIGN)
    choice = choose(plan, states(plan, {"baseline": "no_change", "1A": "failed"}))
    assert choice.item == "1B"
    assert why(choice, "1C") == "needs 1B (pending)"


def test_a_combination_runs_once_its_parts_are_done_and_one_was_an_improvement() -> None:
    plan = read(CAMPAIGN)
    done: dict[str, Verdict] = {"baseline": "no_change", "1A": "failed", "1B": "improvement"}
    assert choose(plan, states(plan, done)).item == "1C"


def test_a_combination_of_nothing_that_helped_is_refused() -> None:
    plan = read(CAMPAIGN)
    done: dict[str, Verdict] = {"baseline": "no_change", "1A": "failed", "1B": "no_change"}
    choice = choose(plan, states(plan, done))
    assert choice.item == "2"
    assert "none of 1A, 1B was an improvement" in why(choice, "1C")


def test_an_item_is_skipped_where_its_condition_holds() -> None:
    plan = read(CAMPAIGN)
    done: dict[str, Verdict] = {
        "baseline": "no_change",
        "1A": "failed",
        "1B": "improvement",
        "1C": "improvement",
    }
    choice = choose(plan, states(plan, done))
    assert choice.item is None
    assert choice.skipped[0].item == "2"
    assert "1B is an improvement" in choice.summary


def test_what_is_in_progress_is_left_alone() -> None:
    plan = read(CAMPAIGN)
    choice = choose(plan, states(plan, {"baseline": "no_change"}, {"1A": "in_progress"}))
    assert choice.item == "1B"
    assert why(choice, "1A") == "is in progress"


def test_an_interrupted_item_is_taken_up_again_but_not_for_ever() -> None:
    plan = read(CAMPAIGN)
    base = states(plan, {"baseline": "no_change"})
    again = [
        s.model_copy(update={"runs": 1, "last_outcome": "interrupted"}) if s.item.id == "1A" else s
        for s in base
    ]
    choice = choose(plan, again)
    assert choice.item == "1A"
    assert "its last run was interrupted" in why(choice, "1A")
    tired = [
        s.model_copy(update={"runs": 3, "last_outcome": "interrupted"}) if s.item.id == "1A" else s
        for s in base
    ]
    assert choose(plan, tired).item == "1B"


def test_items_without_any_recipe_are_marked_by_hand() -> None:
    plan = read("# Todo\n- [ ] 1A: One\n- [x] 1B: Two\n")
    choice = choose(plan, states(plan, statuses={"1B": "completed"}))
    assert choice.item is None
    assert why(choice, "1A") == "has no recipe: it is marked by hand"


@pytest.mark.parametrize(
    ("condition", "verdict", "holds"),
    [
        ("1A is an improvement", "improvement", True),
        ("1A is an improvement", None, False),
        ("1A failed", "failed", True),
        ("1A is not an improvement", "no_change", True),
        ("1A is not an improvement", "improvement", False),
        ("1A is not an improvement", None, False),
        ("1A isn't an improvement", "regression", True),
        ("1B failed or 1A is a regression", "regression", True),
        ("1B failed and 1A is a regression", "regression", False),
        ("1A or 1B is an improvement", "improvement", True),
        ("experiment 1A had no effect.", "no_change", True),
        ("1A is completed", "inconclusive", True),
    ],
)
def test_conditions_speak_of_what_is_known(condition: str, verdict: Verdict | None, holds: bool) -> None:
    plan = read(CAMPAIGN)
    known = {s.item.id: s for s in states(plan, {"1A": verdict} if verdict else {})}
    found = read_condition(condition, plan)
    assert found is not None
    assert (found.reason(known) is not None) is holds


@pytest.mark.parametrize("condition", ["the moon is full", "9Z failed", "", "1A"])
def test_other_conditions_cannot_be_evaluated(condition: str) -> None:
    assert read_condition(condition, read(CAMPAIGN)) is None


def test_parents_are_done_when_their_items_are() -> None:
    plan = read(CAMPAIGN)
    done: dict[str, Verdict] = {"1A": "failed", "1B": "improvement"}
    assert rollup(plan, states(plan, done)) == ()
    assert rollup(plan, states(plan, done, {"1C": "cancelled"})) == ("1",)
    whole = states(plan, done, {"1C": "cancelled", "1": "completed"})
    assert rollup(plan, whole) == reopened(plan, whole) == ()
    assert reopened(plan, states(plan, done, {"1": "completed"})) == ("1",)


VALUED = """
# Plan
```yaml recipe
bench: x
```
## 1A: Small and slow
- Gain: 2%
- Effort: 2 days
```yaml recipe
env: {A: 1}
```
## 1B: Big and quick
- Gain: 20-30%
- Effort: 30 minutes
```yaml recipe
env: {B: 1}
```
## 1C: Also good
- Gain: 2x
- Effort: 8 hours
```yaml recipe
env: {C: 1}
```
## 1D: As good as 1B on paper
- Gain: 24%
- Effort: 30 minutes
```yaml recipe
env: {D: 1}
```
"""


def test_by_value_the_most_expected_for_the_least_effort_is_first() -> None:
    plan = read(VALUED)
    choice = choose(plan, states(plan, {"baseline": "no_change"}), by="value")
    assert choice.item == "1B"
    assert "20-30% for 30 minutes" in why(choice, "1B")


def test_estimates_that_did_not_come_true_weigh_less() -> None:
    plan = read(VALUED)
    known = states(plan, {"baseline": "no_change", "1B": "no_change", "1A": "no_change"})
    assert choose(plan, known, by="value").item == "1D"
    text = why(choose(plan, known, by="value"), "1D")
    assert "corrected by" in text


def test_an_archived_item_is_not_chosen() -> None:
    plan = read(CAMPAIGN)
    gone = [s.model_copy(update={"archived": True}) for s in states(plan, {"1A": "improvement"})]
    assert choose(plan, gone).item == "baseline"


def test_a_stale_result_is_said() -> None:
    plan = read(CAMPAIGN)
    known = [
        s.model_copy(update={"stale": True, "judgement": judged("improvement")}) if s.item.id == "1A" else s
        for s in states(plan, {"1A": "improvement"})
    ]
    assert why(choose(plan, known), "1A") == "is completed (improvement), but its recipe was edited since"

"""Nothing of a plan is dropped in silence: what was left is listed with its reason, and warned of where it is odd."""

from __future__ import annotations

import pytest

from optrack.app.plan_check import check
from optrack.model.plan import Plan
from tests.plan.plans import read

MIXED = """\
# Loader plan
## Phase 1: Base
### 1.1 Pin pages
1. open it
2. pin it
## Notes
1. A thought
## Questions
- [ ] ask around
## Phase 2: More
### 2.1 Rings
"""


def warned(plan: Plan) -> list[int]:
    return [p.line for p in check(plan) if p.severity == "warning"]


def test_what_is_no_item_is_listed_with_line_words_and_reason() -> None:
    plan = read(MIXED)
    assert [item.id for item in plan.items] == ["1", "1.1", "2", "2.1"]
    assert {(left.line, left.text) for left in plan.left_out} >= {
        (4, "open it"),
        (6, "Notes"),
        (7, "A thought"),
        (8, "Questions"),
        (9, "ask around"),
    }
    assert all(left.reason for left in plan.left_out)


def test_a_numbered_labelled_or_boxed_line_between_items_is_warned_of_and_a_step_is_not() -> None:
    problems = check(read(MIXED))
    assert [p.line for p in problems] == [7]
    assert "1 more" in problems[0].message


def test_the_warning_names_the_way_to_take_a_line_and_the_way_to_say_that_it_is_none() -> None:
    hints = " ".join(p.hint or "" for p in check(read(MIXED)))
    assert "{#id}" in hints
    assert "{.note}" in hints
    noted = MIXED.replace("A thought", "A thought {.note}").replace("ask around", "ask around {.note}")
    assert not {7, 9} & set(warned(read(noted)))


def test_neighbours_that_were_left_for_one_reason_are_one_warning() -> None:
    thoughts = "".join(f"{n}. Thought {n}\n" for n in range(1, 9))
    plan = read(f"# Plan\n## Phase 1: Base\n## Notes\n{thoughts}## Phase 2: More\n")
    assert warned(plan) == [4]


@pytest.mark.parametrize(
    "body",
    [
        "- [ ] warm the cache\n",
        "1. warm the cache\n2. measure\n",
        "| # | Task | Gain |\n|---|---|---|\n| 1 | warm | 2x |\n",
    ],
)
def test_lists_boxes_and_tables_below_the_baseline_are_no_items_and_are_told(body: str) -> None:
    plan = read(f"# Plan\n## Baseline\n{body}\n## Priority 1: Pages\n## Priority 2: Rings\n")
    assert [item.id for item in plan.items] == ["baseline", "1", "2"]
    assert any(2 < line < 7 for line in warned(plan))


def test_a_ranked_table_beside_headings_is_told() -> None:
    table = "| # | Task | Gain | Effort |\n|---|---|---|---|\n| 7 | Threads | 2x | 1 day |\n"
    plan = read(f"# Plan\n## Phase 1: Pages\n## Phase 2: Rings\n## More\n{table}")
    assert len(plan.items) == 2
    assert warned(plan) == [7]


@pytest.mark.parametrize(
    ("written", "near"),
    [
        ("Expected gian", "Expected gain"),
        ("Efort", "Effort"),
        ("Hypotesis", "Hypothesis"),
        ("Aufwnad", "Aufwand"),
    ],
)
def test_a_misspelt_attribute_is_warned_of_with_the_nearest(written: str, near: str) -> None:
    problems = check(read(f"# Plan\n## 1A: Pages\n- **{written}**: 5 ms\n## 1B: Rings\n"))
    assert [(p.line, near.casefold() in (p.hint or "").casefold()) for p in problems] == [(3, True)]


@pytest.mark.parametrize("name", ["File", "Files", "Test", "Solution", "Costs", "Why now", "Owner", "Target"])
def test_other_names_are_no_misspellings(name: str) -> None:
    assert check(read(f"# Plan\n## 1A: Pages\n- **{name}**: x\n## 1B: Rings\n")) == ()

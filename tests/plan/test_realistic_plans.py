"""Plans as engineers write them: done words, amounts in prose, names in bold, other languages."""

from __future__ import annotations

from optrack.model.plan import Quantity
from tests.plan.plans import outline, read


def test_labelled_paragraphs_in_bold_are_items_and_bold_notes_are_not() -> None:
    plan = read(
        "# Decode experiments\n\n**Experiment 1: Tree** ✅\nGain: 5 ms\n\n"
        "**Experiment 2: Channels (30 min)**\n\n- a\n\n**Note**: on one node.\n"
    )
    assert outline(plan) == [("1", "Tree", None), ("2", "Channels", None)]
    assert [item.status for item in plan.items] == ["completed", "pending"]
    assert amounts(plan.items[0].gain) == (5, 5, "ms")


def test_done_words_after_a_sign_are_marks() -> None:
    plan = read(
        "# P\n## Priority 1: Graphs ✅ DONE\n## Priority 2: Drafts ❌ REJECTED\n## Priority 3: Cache 🚧\n"
    )
    assert [(i.title, i.status) for i in plan.items] == [
        ("Graphs", "completed"),
        ("Drafts", "cancelled"),
        ("Cache", "in_progress"),
    ]


def test_steps_that_restart_in_each_phase_have_the_phase_before_their_number() -> None:
    plan = read(
        "# P\n## Phase 1: A\n### Step 1: x\n### Step 2: y\n## Phase 2: B\n### Step 1: z\n- Needs: Phase 1\n"
    )
    assert [item.id for item in plan.items] == ["1", "1.1", "1.2", "2", "2.1"]
    assert plan.items[4].needs == ("1",)
    assert plan.problems == ()


def test_a_phase_keeps_its_own_effort_beside_those_of_its_parts() -> None:
    plan = read("# Plan\n## Phase 1: Schnell (2 Tage)\n1. **Batch** – Nutzen: 1,5x, Aufwand: 1 Stunde\n")
    assert [amounts(i.effort) for i in plan.items] == [(2, 2, "days"), (1, 1, "hours")]
    assert amounts(plan.items[1].gain) == (1.5, 1.5, "x")


def test_a_list_below_the_name_of_a_gain_says_it() -> None:
    plan = read(
        "# P\n## Exp 1: Async\n**Expected Impact**\n\n- Throughput: +5-8%\n\n**Effort:** 15 minutes\n"
    )
    assert (amounts(plan.items[0].gain), amounts(plan.items[0].effort)) == ((5, 8, "%"), (15, 15, "minutes"))


def test_bullets_that_name_gains_are_items_of_a_plan_and_figures_are_not() -> None:
    plan = read(
        "# Ideas to speed up\n- **Decode**: in parallel. Gain: 2x. Effort: low.\n- **Copy**: none. Gain: 8 ms.\n"
    )
    assert [title for _, title, _ in outline(plan)] == ["Decode", "Copy"]
    assert outline(read("# Speed plan\n- **Throughput**: 1200 tok/s\n- **TTFT**: 340 ms\n")) == []


def test_what_was_slower_is_no_gain() -> None:
    assert (
        read("# Plan\n1. ~~**Warps**~~ — tried, 3% slower\n2. **Loads** — 10%, half a day\n").items[0].gain
        is None
    )


def amounts(value: Quantity | None) -> tuple[float | None, float | None, str] | None:
    return (value.low, value.high, value.unit) if value is not None else None

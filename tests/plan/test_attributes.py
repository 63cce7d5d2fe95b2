"""Attributes and states belong to the candidate right above them, in any of the shapes that people use."""

from __future__ import annotations

import pytest

from optrack.model.plan import Item, Quantity
from tests.plan.plans import read


def one(heading: str, body: str = "") -> Item:
    return read(f"# Plan\n\n## 1A: {heading}\n\n{body}\n\n## 1B: Other\n").items[0]


def amounts(value: Quantity | None) -> tuple[float | None, float | None, str] | None:
    return (value.low, value.high, value.unit) if value is not None else None


@pytest.mark.parametrize(
    ("heading", "title", "status"),
    [
        ("~~Pin the pages~~ DONE (run 12)", "Pin the pages", "completed"),
        ("~~Pin the pages~~ **DONE on both sides**", "Pin the pages", "completed"),
        ("~~Pin the pages~~", "Pin the pages", "cancelled"),
        ("~~Pin the pages~~ rejected", "Pin the pages", "cancelled"),
        ("Pin the pages ✅ **COMPLETE - FASTER**", "Pin the pages", "completed"),
        ("Pin the pages ✅ **COMPLETADA - rápida**", "Pin the pages", "completed"),
        ("Pin the pages ❌ **RECHAZADA**", "Pin the pages", "cancelled"),
        ("Pin the pages ⚠️ IN PROGRESS", "Pin the pages", "in_progress"),
        ("Pin the pages ⏳ PLANNED", "Pin the pages", "pending"),
        ("Pin the pages - PLANNED", "Pin the pages", "pending"),
        ("Pin the pages ⚠️ DEPRECATED - rings do it", "Pin the pages", "cancelled"),
        ("Pin the pages 🔄", "Pin the pages", "in_progress"),
        ("⏸️ Pin the pages", "Pin the pages", "pending"),
        ("[DONE] Pin the pages", "Pin the pages", "completed"),
        ("Pin the pages — erledigt", "Pin the pages", "completed"),
        ("页面固定（已完成）", "页面固定", "completed"),
        ("Pin the pages (partially done)", "Pin the pages (partially done)", "pending"),
        ("Pin the pages that are complete", "Pin the pages that are complete", "pending"),
        ("Not done: pin the pages", "Not done: pin the pages", "pending"),
    ],
)
def test_a_mark_in_a_title_is_its_state_and_no_part_of_it(heading: str, title: str, status: str) -> None:
    item = one(heading)
    assert (item.title, item.status) == (title, status)


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ("✅ done", "completed"),
        ("✅ **GOAL EXCEEDED**", "completed"),
        ("⏸️ On hold", "pending"),
        ("Done, but untested", "in_progress"),
        ("✅ 3/5 done", "in_progress"),
        ("80% complete", "pending"),
        ("Not started", "pending"),
        ("to be implemented", "pending"),
        ("Tested, rejected", "cancelled"),
        ("完成", "completed"),
        ("未完成", "pending"),
        ("進行中", "in_progress"),
        ("выполнено", "completed"),
        ("не выполнено", "pending"),
        ("noch nicht fertig", "pending"),
        ("완료", "completed"),
    ],
)
def test_a_status_field_is_read_by_its_words(value: str, status: str) -> None:
    assert one("Pages", f"**Status**: {value}").status == status


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("- Done", "completed"),
        ("完了", "completed"),
        ("- In progress", "in_progress"),
        ("- Done is better than perfect", "pending"),
        ("- Done\n- Measure again", "pending"),
        ("Not done.", "pending"),
    ],
)
def test_a_text_that_is_nothing_but_a_state_is_one(body: str, status: str) -> None:
    assert one("Pages", body).status == status


def test_a_group_takes_no_state_gain_or_effort_from_what_stands_below_it() -> None:
    plan = read(
        "# Plan\n## P1 - soon\n### 4. Pages\n**Status**: ✅ done\n**Gain**: 3x\n### 5. Rings\n**Effort**: 4 hours\n"
        "## P2 - later\n- [x] **Threads** — 2x faster, 1 hour\n- [ ] Files\n"
    )
    assert [(i.id, i.status, i.gain is None, i.effort is None) for i in plan.items] == [
        ("P1", "pending", True, True),
        ("4", "completed", False, True),
        ("5", "pending", True, False),
        ("P2", "pending", True, True),
        ("threads", "completed", False, False),
        ("files", "pending", True, True),
    ]


def test_a_band_is_not_done_when_its_first_part_is() -> None:
    plan = read(
        "# Plan\n## Short-term\n### 4. Pages\n**Status**: ✅ done\n### 5. Rings\n**Effort**: 4 hours\n"
    )
    assert [i.status for i in plan.items] == ["pending", "completed", "pending"]


def test_the_mark_of_the_item_counts_before_a_row_and_the_difference_is_told() -> None:
    plan = read(
        "# Plan\n## Phase 1: Pages ✅ DONE\n## Phase 2: Rings ⚠️ IN PROGRESS\n## Overview\n| Phase | What | Status |\n"
        "|---|---|---|\n| Phase 1 | pages | ✅ COMPLETE |\n| Phase 2 | rings | ✅ COMPLETE |\n"
    )
    assert [i.status for i in plan.items] == ["completed", "in_progress"]
    assert [p.line for p in plan.problems if p.severity == "warning"] == [8]


def test_a_row_that_names_an_item_lends_effort_in_words_and_its_verdict() -> None:
    plan = read(
        "# Plan\n## Experiment 4: Zip\n## Experiment 5: Raw\n## All\n"
        "| Experiment | Effort | Gain | Verdict |\n|---|---|---|---|\n"
        "| Experiment 4 | High | 5-10% | Skip |\n"
    )
    item = plan.items[0]
    assert (item.effort and item.effort.text, amounts(item.gain), item.status) == (
        "High",
        (5, 10, "%"),
        "cancelled",
    )


@pytest.mark.parametrize(
    ("heading", "priority", "risk", "title"),
    [
        ("Pool (low risk)", None, "low risk", "Pool"),
        ("Pool (risk: high)", None, "high", "Pool"),
        ("Pool (rischio basso)", None, "rischio basso", "Pool"),
        ("Pool (HIGH PRIORITY)", "HIGH PRIORITY", None, "Pool"),
        ("资源池（高优先级）", "高优先级", None, "资源池"),
        ("Pool (2 hours) - **HIGH PRIORITY**", "HIGH PRIORITY", None, "Pool"),
        ("Routing (top-4 exits)", None, None, "Routing (top-4 exits)"),
        ("Pool (high water mark)", None, None, "Pool (high water mark)"),
    ],
)
def test_a_bracket_is_a_priority_or_a_risk_only_if_it_says_nothing_else(
    heading: str, priority: str | None, risk: str | None, title: str
) -> None:
    item = one(heading)
    assert (item.title, item.priority, item.risk) == (title, priority, risk)


def test_a_property_table_holds_the_attributes_of_the_item_above() -> None:
    item = one(
        "Pages",
        "| Property | Value |\n|---|---|\n| Priority | P0 |\n| Estimated effort | 2-3 days |\n| Depends on | 1B |\n"
        "| Expected gain | 1.5x |\n| Status | done |",
    )
    assert (item.priority, item.needs, item.status) == ("P0", ("1B",), "completed")
    assert (amounts(item.gain), amounts(item.effort)) == ((1.5, 1.5, "x"), (2, 3, "days"))


@pytest.mark.parametrize(
    ("body", "gain"),
    [
        ("**Expected boost:** 1.5-2x", (1.5, 2, "x")),
        ("**Boost:** 3x", (3, 3, "x")),
        ("*Expected uplift: +12%*", (12, 12, "%")),
        ("**预期收益**: 编译提升2-5x", (2, 5, "x")),
        ("**预期收益**: 57%的提升", (57, 57, "%")),
        ("- **Nutzen**: bis zu 20 %", (None, 20, "%")),
        ("- **Ожидаемый выигрыш**: 10-15%", (10, 15, "%")),
        ("- **期待効果**: 2倍", (2, 2, "x")),
        ("- **예상 효과**: 30% 단축", (30, 30, "%")),
        ("**Expected outcome**: the file compiles", None),
        ("- Expected: ~3 GB/s sequential", None),
        ("- The suite runs cleanly in 1.01s", None),
    ],
)
def test_gains_are_known_by_many_names_and_none_is_made_up(body: str, gain: object) -> None:
    assert amounts(one("Pages", body).gain) == gain


@pytest.mark.parametrize(
    ("body", "effort"),
    [
        ("**Estimated**: 1-2 hours", (1, 2, "hours")),
        ("- **Aufwand**: 3 Tage", (3, 3, "days")),
        ("- **工作量**：2天", (2, 2, "days")),
        ("- **Трудоёмкость**: 2 недели", (2, 2, "weeks")),
        ("- **공수**: 3일", (3, 3, "days")),
        ("**Lines**: 4, 320-330", None),
    ],
)
def test_efforts_are_known_by_many_names(body: str, effort: object) -> None:
    assert amounts(one("Pages", body).effort) == effort


def test_a_priority_field_is_the_priority() -> None:
    assert one("Pages", "Priority: P2").priority == "P2"


def test_an_effort_in_brackets_before_a_mark_is_read() -> None:
    item = one("Pages (6-8 weeks) ⏳ **LATER**")
    assert (item.title, amounts(item.effort), item.status) == ("Pages", (6, 8, "weeks"), "pending")

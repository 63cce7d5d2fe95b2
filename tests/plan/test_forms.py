"""Items are found in every form that people write them in."""

from __future__ import annotations

import pytest

from tests.plan.plans import outline, read


@pytest.mark.parametrize(
    ("heading", "identity", "title"),
    [
        ("Priority 1: NCCL tuning", "1", "NCCL tuning"),
        ("Priority 2 — Fusion (HIGH PRIORITY)", "2", "Fusion"),
        ("P0: Fix the build", "P0", "Fix the build"),
        ("Tier 3: Larger changes (architecture)", "3", "Larger changes (architecture)"),
        ("✅ PHASE 1: CRITICAL FIXES (COMPLETED)", "1", "CRITICAL FIXES"),
        ("Experiment 3B - Pinned memory", "3B", "Pinned memory"),
        ("Option A: Rewrite", "A", "Rewrite"),
        ("Day 4: Measure", "4", "Measure"),
        ("1a. Install it", "1a", "Install it"),
        ("A1. Parallel rows (HIGHEST IMPACT)", "A1", "Parallel rows"),
        ("1A: `NCCL_ALGO=Tree` (~30 min)", "1A", "NCCL_ALGO=Tree"),
        ("GAP-01: Mapping (P0-CRITICAL) - FIXED", "GAP-01", "Mapping"),
        ("Fase 2: Reestruturação (impacto alto)", "2", "Reestruturação"),
        ("阶段 2：启动", "2", "启动"),
        ("Priority 12345: Far down", "12345", "Far down"),
        ("1234b. Far down", "1234b", "Far down"),
        ("3. Phase 1: Extract", "1", "Extract"),
        ("Anything at all {#own-id}", "own-id", "Anything at all"),
        ("Baseline", "baseline", "Baseline"),
    ],
)
def test_a_labelled_heading_is_an_item(heading: str, identity: str, title: str) -> None:
    plan = read(f"# Plan\n\n## {heading}\n\ntext\n\n## Priority 9: Other\n")
    assert outline(plan)[0] == (identity, title, None)


def test_headings_nest_by_level() -> None:
    plan = read("# Plan\n## Phase 1: One\n### 1.1 First\n### 1.2 Second\n## Phase 2: Two\n### 2a. Third\n")
    assert [(i, p) for i, _, p in outline(plan)] == [
        ("1", None), ("1.1", "1"), ("1.2", "1"), ("2", None), ("2a", "2"),
    ]  # fmt: skip


def test_bands_hold_numbered_entries_as_their_parts() -> None:
    plan = read("# Todo\n## HIGH PRIORITY\n1. Fix a (src/a.py)\n2. Fix b\n## LOW PRIORITY\n1. Fix c\n")
    assert outline(plan) == [
        ("high-priority", "HIGH PRIORITY", None),
        ("high-priority.1", "Fix a", "high-priority"),
        ("high-priority.2", "Fix b", "high-priority"),
        ("low-priority", "LOW PRIORITY", None),
        ("low-priority.1", "Fix c", "low-priority"),
    ]
    assert plan.items[0].priority == "high"


def test_bands_hold_unlabelled_headings_as_their_parts() -> None:
    plan = read(
        "# Roadmap\n## 🔴 High Priority\n### Prefix cache\n**Effort**: 1 day\n### Batch size\n## Low Priority\n### KV\n"
    )
    assert [(t, p) for _, t, p in outline(plan)][:2] == [
        ("High Priority", None),
        ("Prefix cache", "high-priority"),
    ]


def test_task_boxes_under_a_group_are_its_parts_with_their_state() -> None:
    plan = read(
        "# Queue\n## Priority 1 — IO (56% of bottleneck)\n- [x] **Pin** — keep\n- [ ] **Cluster** — move\n"
    )
    assert [(i.title, i.status, i.parent) for i in plan.items] == [
        ("IO", "pending", None), ("Pin", "completed", "1"), ("Cluster", "pending", "1"),
    ]  # fmt: skip
    assert plan.items[0].gain is None


def test_numbered_entries_with_bold_titles_say_gain_and_effort_after_a_dash() -> None:
    plan = read(
        "# Plan\n1. **NCCL tuning** — estimated 5-10ms savings, 30 minutes effort\n   - [ ] 1B: Test fewer channels\n"
        "2. ~~**Fusion**~~ — 2-8 ms\n"
    )
    first, nested, last = plan.items
    assert (first.id, first.title) == ("1", "NCCL tuning")
    assert first.gain is not None and (first.gain.low, first.gain.high, first.gain.unit) == (5, 10, "ms")
    assert first.effort is not None and (first.effort.low, first.effort.unit) == (30, "minutes")
    assert (nested.id, nested.parent) == ("1B", "1")
    assert last.status == "cancelled"


def test_rows_of_a_ranked_table_are_items() -> None:
    plan = read(
        """
        # Ranking
        | Rank | ID | Technique | Impact | Effort | Dependencies | Status |
        |---|---|---|---|---|---|---|
        | 1 | F1 | **Fused kernel** — one launch | 2-5x on MoE | Days | None | ✅ DONE |
        | 2 | D2 | Pruning | 10-30% | Hours-Days | F1 | spec done, kernel TODO |
        | | | **Total** | 5x | | | |
        """
    )
    assert outline(plan) == [("F1", "Fused kernel", None), ("D2", "Pruning", None)]
    assert [i.status for i in plan.items] == ["completed", "pending"]
    assert plan.items[1].needs == ("F1",)
    assert plan.items[0].effort is not None and plan.items[0].effort.unit == "days"


def test_numbers_of_rows_that_collide_with_groups_take_the_groups_id() -> None:
    table = "| # | Work item | Impact |\n|---|---|---|\n"
    plan = read(
        f"# Work\n## Tier 1: A\n{table}| 1 | x | 2x |\n| 2 | y | 3x |\n\n## Tier 2: B\n{table}| 3 | z | 2x |\n"
    )
    assert [i.id for i in plan.items] == ["1", "1.1", "1.2", "2", "3"]


def test_attributes_are_read_from_bullets_lines_and_quotes() -> None:
    plan = read(
        """
        # Plan
        ## 1A: One
        - **Expected gain**: 5-10 ms
        - Effort: 1-2 hours
        - **Hypothesis**: fewer hops

        ## 1B: Two
        **Impact**: high | **Expected speedup:** 2x
        **Risk:** Low. Revert it.
        > **Estimativa**: 2-3 horas
        """
    )
    one, two = plan.items
    assert one.gain is not None and one.gain.text == "5-10 ms"
    assert one.hypothesis == "fewer hops"
    assert two.gain is not None and two.gain.unit == "x"
    assert two.risk == "Low. Revert it."
    assert two.effort is not None and two.effort.unit == "hours"


def test_an_overview_table_completes_what_headings_leave_out() -> None:
    plan = read(
        "# Plan\n## Phase 1: Cache\n## Phase 2: Quantize\n## Time summary\n| Phase | Task | Effort |\n|---|---|---|\n"
        "| Phase 1 | all of it | 2-3h |\n"
    )
    assert plan.items[0].effort is not None and plan.items[0].effort.high == 3
    assert plan.items[1].effort is None


def test_a_heading_with_its_own_recipe_is_an_item_without_a_label() -> None:
    recipe = "```yaml recipe\nbench: x\n```\n"
    plan = read(f"# Plan\n## Setup\n{recipe}\n## Try tree\n{recipe}\n## 1A: One\n### How it runs\n{recipe}\n")
    assert [(i.id, i.recipe is not None) for i in plan.items] == [
        ("baseline", False), ("try-tree", True), ("1A", True),
    ]  # fmt: skip


def test_a_bold_label_before_an_entry_is_its_id() -> None:
    plan = read("# Plan\n## Sprint 1: Start\n- [x] **S1.1** Set up\n- [ ] **S1.2**: Profile\n")
    assert outline(plan)[1:] == [("S1.1", "Set up", "1"), ("S1.2", "Profile", "1")]


def test_a_done_mark_before_the_title_counts() -> None:
    plan = read("# Plan\n1. [DONE] Capture graphs\n2. Tune it (expected: 2x)\n")
    assert [(i.title, i.status) for i in plan.items] == [
        ("Capture graphs", "completed"),
        ("Tune it", "pending"),
    ]
    assert plan.items[1].gain is not None and plan.items[1].gain.low == 2


def test_of_two_numberings_with_the_same_ids_the_one_that_says_more_is_kept() -> None:
    plan = read(
        "# Plan\n## Opportunities\n### Optimization 1: Cache\n**Impact**: 2x\n### Optimization 2: Batch\n"
        "**Impact**: 3x\n"
        "## Build\n### Phase 1: Write cache\n### Phase 2: Write batch\n"
    )
    assert [i.title for i in plan.items] == ["Cache", "Batch"]

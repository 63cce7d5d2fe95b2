"""A series of numbered or labelled candidates is taken or left whole, and nests by level and place."""

from __future__ import annotations

import pytest

from tests.plan.plans import outline, read


def tree(text: str) -> list[tuple[str, str | None]]:
    return [(i, parent) for i, _, parent in outline(read(text))]


@pytest.mark.parametrize(
    "title",
    [
        "Hardware counters",
        "Install the profiler",
        "Cost of a launch",
        "Verify on two nodes",
        "Benchmarks in CI",
        "Expected batch size",
        "How to overlap copies",
        "Latency estimation",
        "Tiling matrix",
        "Dependency-free build",
        "Results cache",
        "Next steps kernel",
    ],
)
def test_a_numbered_child_is_an_item_whatever_its_words(title: str) -> None:
    plan = read(
        f"# Loader plan\n## Phase 1: Base\n### 1.1 Pin pages\n### 1.2 {title}\n### 1.3 Overlap\n## Phase 2: More\n"
    )
    assert outline(plan)[2] == ("1.2", title, "1")
    assert len(plan.items) == 5


def test_numbers_and_numbers_with_letters_are_one_series() -> None:
    text = "# Loader\n## 1. Pages\nWords.\n## 1b. Huge pages\n## 1c. Rings\n## 2. Threads\n## 3. Formats\n"
    assert tree(text) == [(i, None) for i in ("1", "1b", "1c", "2", "3")]


def test_numbers_that_run_through_bands_take_a_group_without_a_band_word_along() -> None:
    text = (
        "# Ideas\n## High priority (measured)\n1. Pages\n2. Rings\n## Lower priority (guesses)\n3. Threads\n4. Files\n"
        "## Ways of measuring\n5. Counters\n"
    )
    assert [title for _, title, parent in outline(read(text)) if parent is not None] == [
        "Pages",
        "Rings",
        "Threads",
        "Files",
        "Counters",
    ]


def test_a_third_band_of_other_words_is_one() -> None:
    text = (
        "# Ideas\n### Quick wins (1 day)\n- **Pages**\n- **Rings**\n### High-Impact (1 week)\n- **Threads**\n"
    )
    text += "### Major improvements (3 weeks, 4x)\n- **Formats**\n- **Copies**\n"
    assert len(tree(text)) == 8


def test_a_heading_that_ends_a_series_with_an_effort_is_its_last_member() -> None:
    text = "# Work\n### Phase 1 (~20 min)\n### Phase 2 (~1 hour)\n### Everything together: one session (half day)\n"
    plan = read(text)
    assert [i.parent for i in plan.items] == [None, None, None]
    assert plan.items[2].title.startswith("Everything together")


def test_a_range_is_a_label() -> None:
    text = "# Sprint\n## DAY 1: Look\n## DAY 2-3: Build (6 hours each)\n### 2.1 Pages\n### 2.2 Rings\n"
    text += "## Week 1, Day 4: Ship\n"
    assert tree(text) == [("1", None), ("2-3", None), ("2.1", "2-3"), ("2.2", "2-3"), ("4", None)]


def test_series_with_the_same_numbers_under_two_parents_are_no_rivals() -> None:
    text = (
        "# Speed plan\n### 1. Reader\n#### Priority 1: Pages\n#### Priority 2: Rings\n"
        "### 2. Writer\n#### Phase 1: Buffers\n#### Phase 2: Flush\n### 3. Index\n**Gain**: 2x\n"
    )
    assert [parent for _, parent in tree(text)] == [None, "1", "1", None, "2", "2", None]


def test_numbered_headings_win_over_bold_lines_in_them() -> None:
    text = (
        "# Plan\n## P2 - later\n### 7. Watch it\n**Step 1: Counters**\nWords.\n\n**Step 2: Alarms**\nWords.\n"
        "### 8. Shrink\n### 9. Split\n"
    )
    assert tree(text) == [("P2", None), ("7", "P2"), ("8", "P2"), ("9", "P2")]


@pytest.mark.parametrize(
    "labels",
    [
        ("Rank 1: ", "Rank 2: "),
        ("PR 1: ", "PR 2: "),
        ("TODO 1: ", "TODO 2: "),
        ("SECTION 1: ", "SECTION 2: "),
        ("P2-1: ", "P2-2: "),
        ("Gate 1: ", "Gate 2: "),
        ("一、", "二、"),
        ("第一阶段：", "第二阶段："),
        ("🔄 Phase 26 IN PROGRESS - ", "✅ Phase 25 COMPLETE - "),
        ("Schritt 1: ", "Schritt 2: "),
        ("Étape 1 : ", "Étape 2 : "),
        ("Этап 1: ", "Этап 2: "),
        ("ステップ1：", "ステップ2："),
        ("1단계: ", "2단계: "),
        ("T4-1 · ", "T4-2 · "),
        ("30 days — ", "60 days — "),
        ("30 Tage: ", "60 Tage: "),
    ],
)
def test_labels_of_many_kinds_make_a_series(labels: tuple[str, str]) -> None:
    plan = read(f"# Tuning plan\n\n## {labels[0]}Pages\n\nWords.\n\n## {labels[1]}Rings\n")
    assert [i.title for i in plan.items] == ["Pages", "Rings"]


def test_two_kinds_of_labels_side_by_side_are_both_taken() -> None:
    text = "# Plan\n### P2-1: Pages\n### P2-2: Rings\n### TODO 3: Threads\n### TODO 4: Files\n"
    assert [i for i, _ in tree(text)] == ["P2-1", "P2-2", "3", "4"]


def test_of_two_tellings_the_one_with_boxes_is_taken() -> None:
    text = (
        "# 优化计划\n## 任务\n### 1. 编译\n- [x] 缓存\n- [ ] 并行\n### 2. 内存\n- [ ] 池化\n"
        "## 路线图\n### 阶段1：先编译\n1. 打开缓存\n2. 测量\n### 阶段2：再内存\n1. 写池\n"
    )
    assert [title for _, title, _ in outline(read(text))] == ["编译", "缓存", "并行", "内存", "池化"]


def test_boxes_below_numbered_and_version_headings_are_their_parts() -> None:
    text = "# Plan\n## 0.2.0 — Sweeps\n- [x] Grid\n- [ ] Random\n## 0.3.0 — Reports\n- [ ] Table\n"
    assert tree(text) == [
        ("0.2.0", None), ("grid", "0.2.0"), ("random", "0.2.0"), ("0.3.0", None), ("table", "0.3.0"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "headings",
    [
        "## 1. Overview\n## 2. Architecture\n### 2.1 Block size tradeoff\n### 2.2 Best use cases\n"
        "## 3. Benefits\n## 4. Conclusion\n",
        "## Background\n### Risk 1: Heat\n### Risk 2: Noise\n## Appendix A: Tables\n## Appendix B: Figures\n",
    ],
)
def test_the_sections_of_prose_are_no_items(headings: str) -> None:
    assert tree(f"# Optimisation plan for the loader\n{headings}") == []


def test_entries_below_a_line_that_speaks_of_ideas_are_items_beside_a_numbered_list() -> None:
    text = (
        "# Faster loader\n## What we know\nProse.\n\nOpen ideas (small ones):\n\n"
        "- ~~**Pages**~~: tried; nothing to gain\n"
        "- ~~**Rings**~~: DONE in run 7\n- **Threads**: should be easy\n"
    )
    assert [(i.title, i.status) for i in read(text).items] == [
        ("Pages", "cancelled"),
        ("Rings", "completed"),
        ("Threads", "pending"),
    ]


def test_an_id_takes_anything_and_a_note_leaves_anything() -> None:
    text = "# Plan\n## Phase 1: Base\n- [ ] Pages\n- [ ] Lunch {.note}\n- Threads {#t1}\n"
    text += "## Phase 2: More {.note}\n## Odd one {#odd}\n"
    plan = read(text)
    assert [i.id for i in plan.items] == ["1", "pages", "t1", "odd"]
    assert {left.text for left in plan.left_out} == {"Lunch", "Phase 2: More"}


def test_a_plan_of_one_numbered_heading_has_that_item() -> None:
    recipe = "```yaml recipe\nbench: echo 1\n```\n"
    for text in ("# Plan\n\n## 1: Use huge pages\n", f"{recipe}\n## 1: Use huge pages\n"):
        assert "1" in [item.id for item in read(text).items]


def test_lines_of_one_paragraph_that_start_with_labels_in_bold_are_a_series() -> None:
    text = "# Gallery\n## Speed plan (2 phases)\n\n**Phase 1: Pages** → read ahead\n**Phase 2: Rings** → two of them\nand a third\n"
    assert outline(read(text)) == [("1", "Pages", None), ("2", "Rings", None)]


def test_a_heading_that_names_a_plan_holds_one_wherever_it_stands() -> None:
    text = "# Loader\n## Benchmark\n1. 12 ms\n### Optimisation plan\n1. **Pages** — huge ones\n2. **Rings** — two\n"
    assert [title for _, title, _ in outline(read(text))] == ["Pages", "Rings"]

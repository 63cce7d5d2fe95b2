"""Context, code, comments and other kinds of documents are no items; nothing is invented."""

from __future__ import annotations

import pytest

from tests.plan.plans import outline, read


def test_sections_around_the_plan_are_no_items() -> None:
    plan = read(
        """
        # Speed plan
        ## Current state
        1. slow
        ## Root causes
        ### 1. Restart
        ## Phase 1: Fix
        ### 1a. Loop
        ### Phase 1 verification
        ## Implementation order
        ### Phase 1: Measure
        ### Phase 2: Apply 1a
        ## Risks
        1. It breaks
        ## References
        - a paper
        """
    )
    assert [i for i, _, _ in outline(plan)] == ["1", "1a"]


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_a_hash_line_in_a_fence_is_no_heading(fence: str) -> None:
    plan = read(f"# Plan\n## 1A: One\n{fence}bash\n# 1B: not an item\n## 1C: neither\n{fence}\n## 1D: Two\n")
    assert [i for i, _, _ in outline(plan)] == ["1A", "1D"]


def test_a_fence_in_a_list_entry_and_an_indented_block_hold_no_headings() -> None:
    plan = read("# Plan\n## 1A: One\n- run:\n  ```bash\n  # 1B: no\n  ```\n\n      # 1C: no\n\n## 1D: Two\n")
    assert [i for i, _, _ in outline(plan)] == ["1A", "1D"]


def test_a_fence_that_never_ends_is_warned_about_with_its_line() -> None:
    plan = read("# Plan\n## 1A: One\n\n```bash\n# x\n## 1B: swallowed\n")
    assert [i for i, _, _ in outline(plan)] == ["1A"]
    assert [(p.severity, p.line) for p in plan.problems] == [("warning", 4)]


def test_a_comment_holds_no_items() -> None:
    assert [i for i, _, _ in outline(read("# Plan\n## 1A: One\n<!--\n## 1Z: gone\n-->\n"))] == ["1A"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "just words\n",
        "# README\n## Installation\n1. Clone it\n2. **Build** it\n## Usage\ntext\n",
        "# Optimisation agent program\n## Phase A: Analyse\n### A1. Profile\n### A2. Extract\n1. run\n",
        "# Incident report\n## Timeline\n1. 10:00 alert\n",
        "# Material der Übung\n## Wie man es benutzt\n### Schritt 1: Lesen\n1. lies\n### Schritt 2: Prüfen\n",
        "# Tools\n## How to use them\n### Step 1: Read\n### Step 2: Check\n",
    ],
)
def test_a_document_that_is_no_plan_has_no_items(text: str) -> None:
    assert outline(read(text)) == []

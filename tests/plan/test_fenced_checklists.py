"""A checklist set in a code fence is read as the checklist that it looks like, sample output is not."""

from __future__ import annotations

import pytest

from optrack.model.plan import Plan
from tests.plan.plans import outline, read

_PHASES = """# Tuning plan
## Phase 1: Fixes
Words.
## Phase 2: Cleanup
Words.
## Checklist
"""


@pytest.mark.parametrize("language", ["", "markdown", "text"])
def test_a_checklist_in_a_fence_breaks_down_the_phases_that_it_names(language: str) -> None:
    plan = read(
        f"{_PHASES}```{language}\nPhase 1: Fixes\n- [x] Governor\n- [ ] Timer\n\nPhase 2: Cleanup\n- [ ] Shells\n```\n"
    )
    assert [(title, parent, line) for (_, title, parent), line in zip(outline(plan), _lines(plan), strict=True)] == [
        ("Fixes", None, 2),
        ("Cleanup", None, 4),
        ("Governor", "1", 9),
        ("Timer", "1", 10),
        ("Shells", "2", 13),
    ]  # fmt: skip
    assert plan.items[2].status == "completed"


def test_a_checklist_outside_a_fence_breaks_down_phases_alike() -> None:
    plan = read(f"{_PHASES}**Phase 1:**\n- [x] Governor\n\n### Phase 2\n- [ ] Shells\n")
    assert [(title, parent) for _, title, parent in outline(plan)] == [
        ("Fixes", None),
        ("Cleanup", None),
        ("Governor", "1"),
        ("Shells", "2"),
    ]


def test_a_document_whose_only_items_stand_in_a_fence_has_those() -> None:
    plan = read("# Optimisation plan\n\n```\n- [ ] Pin the clocks\n- [x] Raise the batch\n```\n")
    assert [title for _, title, _ in outline(plan)] == ["Pin the clocks", "Raise the batch"]


@pytest.mark.parametrize(
    "text",
    [
        "```\n$ tool list\n- [ ] Governor\n- [x] Timer\n```\n",
        "```python\n- [ ] Governor\n- [x] Timer\n```\n",
        "It prints:\n```\n- [ ] Governor\n- [x] Timer\n```\n",
        "Write entries like this:\n\n```markdown\n- [ ] Governor\n- [ ] Timer\n```\n",
        "## Commit template\n```markdown\n- [ ] Governor\n- [ ] Timer\n```\n",
        "```\n- [ ] Governor\n[ INFO ] ready\n- [ ] Timer\n```\n",
    ],
)
def test_sample_output_in_a_fence_is_no_checklist(text: str) -> None:
    assert outline(read(f"# Optimisation plan\n\n{text}")) == []
    assert [i for i, _, _ in outline(read(f"# Plan\n## Priority 1: One\n{text}"))] == ["1"]


def test_criteria_and_phases_with_parts_of_their_own_are_not_broken_down_again() -> None:
    plan = read(
        "# Plan\n## Phase 1: Fixes\n- [ ] Governor\n## Phase 2: Cleanup\nWords.\n"
        "## Success criteria\n### Phase 2\n- [ ] faster\n"
        "## Checklist\n```\nPhase 1:\n- [ ] Set the governor\n- [ ] Measure\n```\n"
    )
    assert [title for _, title, _ in outline(plan)] == ["Fixes", "Governor", "Cleanup"]


def _lines(plan: Plan) -> list[int]:
    return [item.line for item in plan.items]

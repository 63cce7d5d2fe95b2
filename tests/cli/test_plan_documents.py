"""`plan show` ends with what was left out, `plan convert` gives an agent its page, `check --from` holds the result."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Call

SOURCE = """\
# Loader ideas
## Notes
We want it fast.
## Phase 1: Pages
- [ ] Pin the pages
- [x] Huge pages
## Phase 2: Rings
"""
PLAN = "# Loader\n## Priority 1: Pages\n### 1A: Pin the pages\n### 1B: Huge pages\n## Priority 2: Rings\n"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "ideas.md"
    path.write_text(SOURCE)
    return path


def test_show_ends_with_how_many_were_left_and_lists_them_if_asked(source: Path, call: Call) -> None:
    shown = call("plan", "show", str(source)).out
    assert "not read as items: 1 heading" in shown.splitlines()[-1]
    listed = call("plan", "show", str(source), "--left-out").out
    assert "2: heading: Notes" in listed
    answer = call("plan", "show", str(source), "--json").json
    assert [(left["line"], left["text"]) for left in answer["left_out"]] == [(2, "Notes")]


def test_the_page_for_an_agent_holds_the_language_the_lines_and_what_is_read(
    source: Path, call: Call
) -> None:
    page = call("plan", "convert", str(source)).out
    for needed in (
        "{#id}",
        "{.note}",
        "yaml recipe",
        "5  - [ ] Pin the pages",
        "Huge pages (completed)",
        "`Notes`",
    ):
        assert needed in page
    assert call("plan", "convert", "nowhere.md").code == 2


def test_a_plan_that_tells_all_of_its_source_has_no_warning(source: Path, call: Call) -> None:
    Path("plan.md").write_text(PLAN)
    assert call("plan", "check", "plan.md", "--from", str(source), "--json").json["warnings"] == 0


def test_what_was_made_up_and_what_was_lost_is_named(source: Path, call: Call) -> None:
    Path("plan.md").write_text(PLAN.replace("Huge pages", "Quantise weights"))
    problems = call("plan", "check", "plan.md", "--from", str(source), "--json").json["problems"]
    told = " ".join(problem["message"] for problem in problems)
    assert len(problems) == 2
    assert "Quantise weights" in told
    assert "line 6" in told

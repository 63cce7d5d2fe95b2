"""The board of a real campaign: it sees every change, by whomever, and reads no more than what changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from optrack.app import actions
from optrack.app.project import Project
from optrack.errors import PlanError, StoreError
from optrack.settings import load_settings
from optrack.tui.campaign_board import CampaignBoard
from tests.tui.filled import fill


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two items that ran and one that didn't."""
    fill(tmp_path, items=3, runs=4)
    return tmp_path


def looked_at(project: Path) -> CampaignBoard:
    """Return a board that has been read once, and whose plan is in the record."""
    board = CampaignBoard(load_settings(project))
    board.version()
    board.items()
    board.version()
    board.items()
    return board


def test_runs_launches_and_what_is_next_are_read_from_the_record(project: Path) -> None:
    board = looked_at(project)
    assert board.choice().item == "baseline"
    assert sorted(step.item for step in board.history()) == ["1.1", "1.2", "baseline", "baseline"]
    assert board.launches() == {"1.1": 1, "1.2": 1, "baseline": 2}
    assert board.live_runs() == []


def test_nothing_changes_the_version_but_a_change(project: Path) -> None:
    board = looked_at(project)
    assert board.version() == board.version()


def test_what_another_process_marks_is_seen_and_the_rest_is_not_read_again(project: Path) -> None:
    board = looked_at(project)
    version, before = board.version(), {state.item.id: state for state in board.items()}
    actions.mark(Project(load_settings(project)), "1.3", "cancelled", why="no longer wanted")
    assert board.version() != version
    after = {state.item.id: state for state in board.items()}
    assert after["1.3"].status == "cancelled"
    assert after["1.1"] is before["1.1"]


def test_an_edited_plan_is_read_again(project: Path) -> None:
    board = looked_at(project)
    version = board.version()
    _write(project, "\n### 7.1: Written just now\n\n```yaml recipe\nenv: {A: 1}\n```\n")
    assert board.version() != version
    assert [state.item.title for state in board.items()][-1] == "Written just now"


def test_a_plan_with_errors_keeps_its_items_says_what_is_wrong_and_runs_nothing(project: Path) -> None:
    board = looked_at(project)
    before = [state.item.id for state in board.items()]
    _write(project, "\n### 7.1: Broken\n\n```yaml recipe\nenv: [\n```\n")
    board.version()
    plan = board.plan()
    assert [state.item.id for state in board.items()] == before
    assert [problem.severity for problem in plan.problems] == ["error"]
    with pytest.raises(PlanError):
        board.start_next()


def test_a_record_that_was_taken_away_is_told_and_a_new_one_is_followed(project: Path) -> None:
    board = looked_at(project)
    version, record = board.version(), load_settings(project).state
    for file in record.glob("optrack.db*"):
        file.unlink()
    with pytest.raises(StoreError, match="is gone"):
        board.version()
    with pytest.raises(StoreError, match="is gone"):
        board.start_next()
    other = Project(load_settings(project))
    other.campaign()
    actions.mark(other, "1.2", "cancelled", why="begun again")
    assert board.version() != version
    assert {state.item.id: state.status for state in board.items()}["1.2"] == "cancelled"
    assert board.history() == []
    actions.mark(Project(load_settings(project)), "1.3", "cancelled", why="seen too")
    board.version()
    assert {state.item.id: state.status for state in board.items()}["1.3"] == "cancelled"


def _write(project: Path, more: str) -> None:
    path = project / "plans" / "long.md"
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")

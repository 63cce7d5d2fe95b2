"""The view of a campaign: it is made anew at every change, by whomever, and only then."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from optrack.app import actions
from optrack.app.project import Project
from optrack.app.running import start_next
from optrack.app.viewing import history, recipe_of
from optrack.app.watching import View, Watcher
from optrack.errors import PlanError, StoreError
from optrack.settings import load_settings
from tests.tui.filled import fill


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with two items that ran and one that didn't."""
    fill(tmp_path, items=3, runs=4)
    return tmp_path


def up_to_date(project: Path) -> tuple[Watcher, View]:
    """Return a watcher whose record is up to date with the plan's text, and its view."""
    watcher = Watcher(load_settings(project))
    assert watcher.look() is not None
    watcher.update()
    return watcher, looked(watcher)


def looked(watcher: Watcher) -> View:
    view = watcher.look()
    assert view is not None
    return view


def test_runs_launches_and_what_is_next_are_read_from_the_record(project: Path) -> None:
    _, view = up_to_date(project)
    assert view.choice.item == "baseline"
    assert sorted(step.run.item for step in history(view)) == ["1.1", "1.2", "baseline", "baseline"]
    assert view.launches == {"1.1": 1, "1.2": 1, "baseline": 2}
    assert view.live == () and not view.is_behind


def test_nothing_but_a_change_makes_a_view(project: Path) -> None:
    watcher, _ = up_to_date(project)
    assert watcher.look() is None
    assert watcher.look() is None


def test_what_another_process_marks_is_seen_and_the_rest_is_not_made_again(project: Path) -> None:
    watcher, before = up_to_date(project)
    with closing(Project(load_settings(project))) as other:
        actions.mark(other, "1.3", "cancelled", why="no longer wanted")
    after = looked(watcher)
    assert [state.status for state in after.items if state.item.id == "1.3"] == ["cancelled"]
    assert after.state("1.1") is before.state("1.1")


def test_an_edited_plan_is_read_at_once_and_taken_over_by_an_update(project: Path) -> None:
    watcher, _ = up_to_date(project)
    _write(project, "\n### 7.1: Written just now\n\n```yaml recipe\nenv: {A: 1}\n```\n")
    assert looked(watcher).is_behind
    watcher.update()
    view = looked(watcher)
    assert view.items[-1].item.title == "Written just now"
    assert recipe_of(view, "7.1").factors == {"env.A": (None, "1")}


def test_looking_writes_nothing_so_that_a_locked_record_is_read_on(project: Path) -> None:
    watcher, _ = up_to_date(project)
    with closing(sqlite3.connect(load_settings(project).state / "optrack.db")) as holder:
        holder.execute("BEGIN IMMEDIATE")
        _write(project, "\n### 7.1: Written just now\n\n```yaml recipe\nenv: {A: 1}\n```\n")
        view = looked(watcher)
        assert view.plan.item("7.1") is not None and view.is_behind
        assert len(history(view)) == 4


def test_a_plan_with_errors_keeps_its_items_says_what_is_wrong_and_runs_nothing(project: Path) -> None:
    watcher, before = up_to_date(project)
    _write(project, "\n### 7.1: Broken\n\n```yaml recipe\nenv: [\n```\n")
    view = looked(watcher)
    assert [s.item.id for s in view.items] == [s.item.id for s in before.items]
    assert [problem.severity for problem in view.plan.problems] == ["error"]
    with pytest.raises(PlanError), watcher.acting() as acting:
        start_next(acting)


def test_a_record_that_was_taken_away_is_told_and_a_new_one_is_followed(project: Path) -> None:
    watcher, _ = up_to_date(project)
    for file in load_settings(project).state.glob("optrack.db*"):
        file.unlink()
    with pytest.raises(StoreError, match="is gone"):
        watcher.look()
    with pytest.raises(StoreError), watcher.acting():
        pytest.fail("there is nothing to act on")
    with closing(Project(load_settings(project))) as other:
        other.campaign()
        actions.mark(other, "1.2", "cancelled", why="begun again")
        view = looked(watcher)
        assert [state.status for state in view.items if state.item.id == "1.2"] == ["cancelled"]
        assert history(view) == []
        actions.mark(other, "1.3", "cancelled", why="seen too")
        after = looked(watcher)
        assert [state.status for state in after.items if state.item.id == "1.3"] == ["cancelled"]


def test_a_secret_of_the_plan_is_in_no_view(project: Path) -> None:
    secret = "hf_abcdefghijklmnopqrstuvwxyz0123456789"
    _write(project, f"\n### 7.1: Secret\n\n```yaml recipe\nenv: {{HF_TOKEN: {secret}}}\n```\n")
    _, view = up_to_date(project)
    assert secret not in repr((view.plan, view.items, recipe_of(view, "7.1")))


def _write(project: Path, more: str) -> None:
    path = project / "plans" / "long.md"
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")

"""An edit while the run was measured is flagged."""

from __future__ import annotations

from pathlib import Path

from optrack.host.capture import capture_after, capture_before
from optrack.judge.difference import differences
from optrack.model.snapshot import Snapshot
from tests.capture.repositories import commit, git, new_repository

SALT = b"salt"


def before(project: Path, *watch: Path) -> Snapshot:
    return capture_before(project=project, repo=None, env={}, recipe_env={}, watch=watch, salt=SALT)


def edited(snapshot: Snapshot) -> list[str] | None:
    return snapshot.repositories["project"].edited_in_run


def test_an_unchanged_repository_is_not_flagged(tmp_path: Path) -> None:
    project = new_repository(tmp_path / "p", {"a.py": "1\n", "plan.md": "x\n"})
    snapshot = before(project)
    (project / "plan.md").write_text("notes taken meanwhile\n")
    (project / "result.jsonl").write_text("{}\n")
    assert capture_after(snapshot, salt=SALT) == snapshot


def test_an_edited_file_is_named(tmp_path: Path) -> None:
    project = new_repository(tmp_path / "p", {"a.py": "1\n", "b.py": "1\n"})
    snapshot = before(project)
    (project / "a.py").write_text("2\n")
    assert edited(capture_after(snapshot, salt=SALT)) == ["a.py"]


def test_a_new_commit_in_mid_run_is_flagged(tmp_path: Path) -> None:
    project = new_repository(tmp_path / "p", {"a.py": "1\n"})
    snapshot = before(project)
    commit(project, {"a.py": "2\n"}, "meanwhile")
    after = capture_after(snapshot, salt=SALT)
    assert edited(after) == ["a.py"]
    assert after.repositories["project"].commit_after == git(project, "rev-parse", "HEAD")


def test_a_file_edited_again_is_flagged(tmp_path: Path) -> None:
    project = new_repository(tmp_path / "p", {"a.py": "1\n"})
    (project / "a.py").write_text("2\n")
    snapshot = before(project)
    (project / "a.py").write_text("3\n")
    assert edited(capture_after(snapshot, salt=SALT)) == ["a.py"]


def test_an_edit_in_mid_run_makes_a_comparison_unfair_and_says_whose(tmp_path: Path) -> None:
    project = new_repository(tmp_path / "p", {"a.py": "1\n"})
    snapshot = before(project)
    (project / "a.py").write_text("2\n")
    (found,) = differences(capture_after(snapshot, salt=SALT), snapshot, declared={})
    assert found.severity == "blocking"
    assert (
        found.meaning
        == "Code was edited in the project repository while the candidate's run was measured: a.py."
    )


def test_an_edit_during_two_runs_side_by_side_is_flagged_though_both_have_it(tmp_path: Path) -> None:
    project = new_repository(tmp_path / "p", {"a.py": "1\n"})
    snapshot = before(project)
    (project / "a.py").write_text("2\n")
    after = capture_after(snapshot, salt=SALT)
    (found,) = differences(after, after, declared={})
    assert found.severity == "blocking"
    assert "the baseline's and the candidate's run" in found.meaning


def test_a_watched_file_that_changed_meanwhile_is_flagged(tmp_path: Path) -> None:
    project = new_repository(tmp_path / "p", {"a.py": "1\n"})
    watched = tmp_path / "settings.yaml"
    watched.write_text("a\n")
    snapshot = before(project, watched, tmp_path / "missing")
    watched.write_text("b\n")
    (found,) = differences(capture_after(snapshot, salt=SALT), snapshot, declared={})
    assert found.field.endswith("settings.yaml.changed_in_run")

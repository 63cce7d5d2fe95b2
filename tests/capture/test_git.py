"""The code state of repositories in every odd state, and that nothing in them changes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from optrack.host.git import describe_repository
from tests.capture.repositories import commit, git, new_repository


def described(folder: Path, **options: Any) -> dict[str, Any]:
    return describe_repository(folder, salt=b"salt", **options).model_dump()


def test_a_clean_repository_has_commit_branch_and_no_patch(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r", {"a.py": "1\n"})
    found = described(repository)
    assert found["state"] == "branch"
    assert (found["branch"], found["commit"]) == ("main", git(repository, "rev-parse", "HEAD"))
    assert found["dirty"] is False
    assert "patch" not in found


def test_a_detached_head_has_a_commit_and_no_branch(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r", {"a.py": "1\n"})
    git(repository, "checkout", "-q", "--detach")
    found = described(repository)
    assert (found["state"], found["branch"]) == ("detached", None)
    assert found["commit"] == git(repository, "rev-parse", "HEAD")


def test_a_repository_without_a_commit_is_unborn_and_its_files_are_in_the_patch(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r")
    (repository / "a.py").write_text("new\n")
    found = described(repository)
    assert (found["state"], found["commit"], found["branch"]) == ("unborn", None, "main")
    assert "+new" in found["patch"]


def test_a_bare_repository_is_said_to_be_bare(tmp_path: Path) -> None:
    source = new_repository(tmp_path / "r", {"a.py": "1\n"})
    git(tmp_path, "clone", "-q", "--bare", str(source), "bare.git")
    found = described(tmp_path / "bare.git")
    assert found == {"state": "bare", "commit": git(source, "rev-parse", "HEAD"), "branch": None}


def test_a_folder_outside_any_repository_is_none(tmp_path: Path) -> None:
    assert described(tmp_path) == {"state": "none"}


def test_a_folder_that_is_not_there_is_none(tmp_path: Path) -> None:
    assert described(tmp_path / "gone")["state"] == "none"


def test_without_a_git_program_the_commit_comes_from_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = new_repository(tmp_path / "r", {"a.py": "1\n"})
    head = git(repository, "rev-parse", "HEAD")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    found = described(repository)
    assert (found["state"], found["commit"], found["branch"]) == ("no_git", head, "main")
    assert found["unknown"] == ["changes", "untracked files"]


def test_without_a_git_program_a_plain_folder_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert described(tmp_path)["state"] == "none"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_repository_of_another_owner_is_refused_by_git_and_its_commit_still_known(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r", {"a.py": "1\n"})
    head = git(repository, "rev-parse", "HEAD")
    subprocess.run(["chown", "-R", "12345:12345", str(repository)], check=True)
    found = described(repository)
    assert (found["state"], found["commit"]) == ("refused", head)
    assert "dubious ownership" in found["problem"]


def test_a_worktree_is_a_repository_with_its_own_commit(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r", {"a.py": "1\n"})
    git(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    head = commit(tmp_path / "side", {"a.py": "2\n"}, "second")
    (tmp_path / "side" / "sub").mkdir()
    found = described(tmp_path / "side" / "sub")
    assert (found["commit"], found["branch"], found["worktree"]) == (head, "side", True)
    assert Path(found["root"]) == tmp_path / "side"


def test_inside_a_submodule_its_own_state_is_described(tmp_path: Path) -> None:
    inner = new_repository(tmp_path / "inner", {"b.py": "1\n"})
    outer = new_repository(tmp_path / "outer", {"a.py": "1\n"})
    git(outer, "submodule", "add", "-q", str(inner), "dep")
    found = described(outer / "dep")
    assert found["commit"] == git(inner, "rev-parse", "HEAD")
    assert Path(found["root"]) == outer / "dep"


def test_a_submodule_shows_its_recorded_and_its_real_commit_and_its_changes(tmp_path: Path) -> None:
    inner = new_repository(tmp_path / "inner", {"b.py": "1\n"})
    outer = new_repository(tmp_path / "outer", {"a.py": "1\n"})
    git(outer, "submodule", "add", "-q", str(inner), "dep")
    git(outer, "commit", "-q", "-m", "dep")
    assert described(outer)["submodules"]["dep"]["dirty"] is False
    moved = commit(outer / "dep", {"b.py": "2\n"}, "moved")
    (outer / "dep" / "c.py").write_text("loose\n")
    found = described(outer)["submodules"]["dep"]
    assert found["recorded"] == git(inner, "rev-parse", "HEAD")
    assert found["commit"] == moved
    assert found["dirty"] is True
    assert "c.py" in found["untracked"]


def test_a_submodule_that_was_never_checked_out_is_said_to_be(tmp_path: Path) -> None:
    inner = new_repository(tmp_path / "inner", {"b.py": "1\n"})
    outer = new_repository(tmp_path / "outer", {"a.py": "1\n"})
    git(outer, "submodule", "add", "-q", str(inner), "dep")
    git(outer, "commit", "-q", "-m", "dep")
    git(tmp_path, "clone", "-q", str(outer), "clone")
    assert described(tmp_path / "clone")["submodules"]["dep"]["state"] == "not checked out"


def test_a_shallow_clone_and_a_sparse_checkout_are_said_to_be(tmp_path: Path) -> None:
    source = new_repository(tmp_path / "r", {"a/x.py": "1\n", "b/y.py": "1\n"})
    commit(source, {"a/x.py": "2\n"}, "second")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{source}", "shallow")
    found = described(tmp_path / "shallow")
    assert found["shallow"] is True
    git(tmp_path / "shallow", "sparse-checkout", "set", "a")
    found = described(tmp_path / "shallow")
    assert found["sparse"] == ["a"]
    assert found["dirty"] is False


def test_the_remote_has_no_credentials(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r", {"a.py": "1\n"})
    git(repository, "remote", "add", "origin", "https://me:s3cr3t@example.org/x.git")
    found = described(repository)["remote"]
    assert found.startswith("https://me:<masked:")
    assert "s3cr3t" not in found


def test_the_surroundings_cannot_send_git_to_another_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = new_repository(tmp_path / "mine", {"a.py": "1\n"})
    other = new_repository(tmp_path / "other", {"b.py": "1\n"})
    head = git(mine, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git" / "index"))
    found = described(mine)
    assert (found["commit"], found["dirty"]) == (head, False)


def test_a_broken_repository_is_no_traceback(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r", {"a.py": "1\n"})
    (repository / ".git" / "HEAD").write_text("nonsense\n")
    assert described(repository)["state"] in ("none", "refused")
    (repository / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (repository / ".git" / "index").write_bytes(b"not an index")
    assert described(repository)["state"] == "refused"

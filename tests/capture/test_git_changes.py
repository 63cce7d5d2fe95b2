"""The uncommitted changes of a repository: one patch that makes them again, and nothing in it changes."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from optrack.host.git import describe_repository
from optrack.render.replay import shell_word
from tests.capture.repositories import commit, fingerprint, git, new_repository


def described(folder: Path, **options: Any) -> dict[str, Any]:
    return describe_repository(folder, salt=b"salt", **options).model_dump()


def everything_changed(repository: Path) -> None:
    """Change a repository in every way that git knows, staged and not."""
    (repository / "staged.py").write_text("staged\n")
    git(repository, "add", "staged.py")
    (repository / "edited.py").write_text("edited\n")
    (repository / "both.py").write_text("staged\n")
    git(repository, "add", "both.py")
    (repository / "both.py").write_text("staged and edited\n")
    (repository / "removed.py").unlink()
    (repository / "run.sh").chmod(0o755)
    (repository / "data.bin").write_bytes(bytes(range(256)) * 4)
    (repository / "with space\tand tab.py").write_text("odd name\n")
    (repository / "ümlaut.py").write_text("non-ascii name\n")
    (repository / "latin.txt").write_bytes(b"caf\xe9\n")
    (repository / "crlf.txt").write_bytes(b"one\r\ntwo\r\n")
    git(repository, "add", "data.bin", "latin.txt", "crlf.txt")
    (repository / "no_newline.py").write_text("no newline at the end")
    (repository / "empty.py").write_text("")
    (repository / "link").symlink_to("staged.py")
    (repository / "folder").mkdir()
    (repository / "folder" / "deep.py").write_text("deep\n")
    (repository / "kind").unlink()
    (repository / "kind").mkdir()
    (repository / "kind" / "now_a_folder.py").write_text("x\n")


FIRST = dict.fromkeys(("edited.py", "both.py", "removed.py", "run.sh", "kind", "same.py"), "first\n")


def test_the_patch_makes_the_whole_tree_again(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r", FIRST)
    everything_changed(repository)
    found = described(repository)
    assert found["left_out"] == {}
    again = tmp_path / "again"
    git(repository, "worktree", "add", "-q", "--detach", str(again), found["commit"])
    (tmp_path / "patch").write_bytes(
        subprocess.run(
            ["bash", "-c", f"printf %s {shell_word(found['patch'])}"], check=True, capture_output=True
        ).stdout
    )
    git(again, "apply", "--whitespace=nowarn", "--binary", str(tmp_path / "patch"))

    def tree(folder: Path) -> dict[str, tuple[bytes | str, int]]:
        return {
            str(path.relative_to(folder)): (
                str(path.readlink()) if path.is_symlink() else path.read_bytes(),
                path.lstat().st_mode & 0o111,
            )
            for path in folder.rglob("*")
            if path.relative_to(folder).parts[0] != ".git" and (path.is_symlink() or path.is_file())
        }

    assert tree(again) == tree(repository)


def test_nothing_in_the_repository_changes_while_it_is_described(tmp_path: Path) -> None:
    inner = new_repository(tmp_path / "inner", {"b.py": "1\n"})
    repository = new_repository(tmp_path / "r", FIRST)
    git(repository, "submodule", "add", "-q", str(inner), "dep")
    git(repository, "commit", "-q", "-m", "dep")
    everything_changed(repository)
    commit(repository / "dep", {"b.py": "2\n"}, "moved")
    os.utime(repository / "same.py", (1, 1))
    before = fingerprint(repository)
    described(repository)
    assert fingerprint(repository) == before


def test_an_unmerged_file_is_in_the_patch_and_the_merge_goes_on(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r", {"a.py": "base\n"})
    git(repository, "checkout", "-q", "-b", "side")
    commit(repository, {"a.py": "side\n"}, "side")
    git(repository, "checkout", "-q", "main")
    commit(repository, {"a.py": "main\n"}, "main")
    with pytest.raises(subprocess.CalledProcessError):
        git(repository, "merge", "side")
    before = fingerprint(repository)
    found = described(repository)
    assert "<<<<<<<" in found["patch"]
    assert fingerprint(repository) == before


def test_the_code_is_the_same_whether_a_change_is_staged_or_not(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r", {"a.py": "1\n"})
    (repository / "a.py").write_text("2\n")
    loose = described(repository)["code"]
    git(repository, "add", "a.py")
    assert described(repository)["code"] == loose
    git(repository, "commit", "-q", "-m", "second")
    assert described(repository)["code"] == loose


def test_an_edit_in_the_moment_of_the_commit_is_seen(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r")
    git(repository, "config", "core.trustctime", "false")
    commit(repository, {"a.py": "1\n"}, "first")
    before = described(repository)["code"]
    moment = (repository / "a.py").stat().st_mtime_ns
    (repository / "a.py").write_text("2\n")
    for path in (repository / "a.py", repository / ".git" / "index"):
        os.utime(path, ns=(moment, moment))
    assert described(repository)["code"] != before


def test_documents_and_outputs_are_no_code_but_are_kept(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r", {"a.py": "1\n", "plan.md": "# plan\n"})
    before = described(repository)
    (repository / "plan.md").write_text("# plan\n\nresult\n")
    (repository / "server.log").write_text("started\n")
    (repository / "__pycache__").mkdir()
    (repository / "__pycache__" / "a.pyc").write_bytes(b"\0")
    after = described(repository)
    assert after["code"] == before["code"]
    assert after["untracked"] == {}
    assert after["outputs"] == 1
    assert "+started" not in after["patch"]
    assert "a.pyc" not in after["patch"]


def test_optracks_own_folder_is_never_looked_at(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r", {"a.py": "1\n", "sub/b.py": "1\n"})
    for folder in (repository / ".optrack", repository / "sub" / ".optrack"):
        folder.mkdir()
        (folder / "optrack.db").write_text("rows")
    assert described(repository)["dirty"] is False


def test_a_file_over_the_cap_is_left_out_and_compared_by_its_digest(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r", {"a.py": "1\n"})
    (repository / "weights").write_bytes(b"\0" * 3_000_000)
    first = described(repository)
    (repository / "weights").write_bytes(b"\1" * 3_000_000)
    second = described(repository)
    assert first["left_out"]["weights"].startswith("3000000 bytes ")
    assert first["left_out"] != second["left_out"]
    assert "weights" not in first.get("patch", "")


def test_a_file_made_to_hold_secrets_is_left_out_by_its_name(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r", {"a.py": "1\n"})
    (repository / ".env").write_text("COLOUR=plain-but-private\n")
    found = described(repository)
    assert found["left_out"][".env"].startswith("private ")
    assert "plain-but-private" not in str(found)


def test_a_repository_inside_another_is_named_and_not_copied(tmp_path: Path) -> None:
    repository = new_repository(tmp_path / "r", {"a.py": "1\n"})
    new_repository(repository / "vendored", {"b.py": "1\n"})
    assert described(repository)["left_out"] == {"vendored/": "a repository of its own"}


def test_lfs_pointers_that_were_never_fetched_are_listed_and_fetched_content_is_no_change(
    tmp_path: Path,
) -> None:
    content = b"weights" * 100
    pointer = (
        "version https://git-lfs.github.com/spec/v1\n"
        f"oid sha256:{hashlib.sha256(content).hexdigest()}\nsize {len(content)}\n"
    )
    repository = new_repository(tmp_path / "r")
    git(repository, "config", "filter.lfs.clean", "cat")
    files = {".gitattributes": "*.bin filter=lfs diff=lfs\n", "w.bin": pointer, "x.bin": pointer}
    commit(repository, files, "weights")
    before = described(repository)
    assert before["lfs"] == {"files": 2, "missing": ["w.bin", "x.bin"]}
    (repository / "w.bin").write_bytes(content)
    after = described(repository)
    assert after["lfs"]["missing"] == ["x.bin"]
    assert after["code"] == before["code"]
    assert after["dirty"] is False

"""Nothing of a repository runs while it is captured or patched, whatever its settings name."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from optrack.host.git import describe_repository
from optrack.host.patching import patched_copy, working_tree
from tests.capture.repositories import commit, git, new_repository

HOOKS = ("post-index-change", "post-checkout", "pre-commit", "reference-transaction", "fsmonitor-watchman")


def hostile_settings(command: str) -> Iterator[tuple[str, str]]:
    """Settings that make git run `command`, each in some of its commands."""
    for driver in ("evil", "lfs", "odd=name", 'with "quotes"'):
        for key in ("clean", "smudge", "process"):
            yield f"filter.{driver}.{key}", command
        yield f"filter.{driver}.required", "true"
    for key in ("textconv", "command"):
        yield f"diff.evil.{key}", command
    for key in (
        "core.fsmonitor",
        "core.sshCommand",
        "core.askPass",
        "core.pager",
        "core.editor",
        "gpg.program",
    ):
        yield key, command
    yield "diff.external", command
    yield "credential.helper", f"!{command}"
    yield "log.showSignature", "true"
    yield "core.alternateRefsCommand", command
    yield "remote.origin.url", f"ext::{command}"
    yield "remote.origin.promisor", "true"
    yield "protocol.ext.allow", "always"
    yield "merge.evil.driver", command


def arm(repository: Path, command: str) -> None:
    """Make a repository run `command` wherever git lets one, by its own settings, an included file and hooks."""
    attributes = "*.py filter=evil diff=evil merge=evil\n*.bin filter=lfs\n"
    attributes += "*.odd filter=odd=name\n*.inc filter=included\n"
    files = {".gitattributes": attributes, "a.py": "1\n", "b.bin": "1\n", "c.odd": "1\n", "d.inc": "1\n"}
    commit(repository, files, "armed")
    folder = Path(git(repository, "rev-parse", "--absolute-git-dir"))
    for key, value in hostile_settings(command):
        git(repository, "config", key, value)
    (folder / "included").write_text(
        "".join(f'[filter "included"]\n\t{key} = {command}\n' for key in ("clean", "smudge", "process"))
    )
    git(repository, "config", "include.path", "included")
    (folder / "hooks").mkdir(exist_ok=True)
    git(repository, "config", "core.hooksPath", str(folder / "hooks"))
    for hook in HOOKS:
        (folder / "hooks" / hook).write_text(f"#!/bin/sh\n{command}\n")
        (folder / "hooks" / hook).chmod(0o755)
    for name in ("a.py", "b.bin", "c.odd", "d.inc"):
        (repository / name).write_text("2\n")
    (repository / "loose.py").write_text("3\n")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A repository with a submodule, both armed to make a file `ran`."""
    script = tmp_path / "payload.sh"
    script.write_text(f"#!/bin/sh\necho $0 >> '{tmp_path / 'ran'}'\ncat\n")
    script.chmod(0o755)
    inner = new_repository(tmp_path / "inner", {"b.py": "1\n"})
    repository = new_repository(tmp_path / "r", {"x.py": "1\n"})
    git(repository, "submodule", "add", "-q", str(inner), "dep")
    git(repository, "commit", "-q", "-m", "dep")
    arm(repository / "dep", str(script))
    arm(repository, str(script))
    return repository


def test_the_hostile_repository_does_run_its_command_when_asked_plainly(
    hostile: Path, tmp_path: Path
) -> None:
    subprocess.run(["git", "status"], cwd=hostile, check=False, capture_output=True)
    assert (tmp_path / "ran").exists()


def test_a_capture_runs_nothing_of_the_repository_or_its_submodule(hostile: Path, tmp_path: Path) -> None:
    found = describe_repository(hostile, salt=b"salt").model_dump()
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()
    assert "a.py" in found["changed"]
    assert found["submodules"]["dep"]["dirty"] is True


def test_a_patched_copy_runs_nothing_of_the_repository_or_its_submodule(
    hostile: Path, tmp_path: Path
) -> None:
    patch = tmp_path / "p.diff"
    patch.write_text("--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-2\n+4\n")
    copy = patched_copy(working_tree(hostile), [patch], tmp_path / "copy")
    describe_repository(copy, salt=b"salt")
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()
    assert (copy / "a.py").read_text() == "4\n"
    assert (copy / "dep" / "a.py").read_text() == "2\n"

"""A patch is applied in a copy of the repository, measured there, judged, and made again by its replay."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.capture.repositories import commit, fingerprint, git, new_repository
from tests.end_to_end.campaigns import QUICK, Campaign, Make, item

BASE = QUICK.replace("bench: bash bench.sh", 'bench: cd "${REPO:-.}" && sh speed.sh').replace(
    "launches: 3", "launches: 1"
)
PATCHED = "patch: faster.diff"


def diff_of(repository: Path, name: str, text: str) -> str:
    """Return the patch that makes the file `name` say `text`, and leave the file as it was."""
    before = (repository / name).read_text() if (repository / name).exists() else None
    (repository / name).write_text(text)
    git(repository, "add", "-N", name)
    patch = git(repository, "diff", "--binary", name) + "\n"
    if before is None:
        git(repository, "rm", "-q", "--cached", name)
        (repository / name).unlink()
    else:
        (repository / name).write_text(before)
    return patch


def patched(make: Make, recipe: str = PATCHED, *, base: str = BASE) -> Campaign:
    """Return a campaign in a repository, with an item whose patch makes the score 140."""
    project = make(item("1", "Faster", recipe), base=base)
    (project.folder / ".gitignore").write_text("ignored/\n")
    new_repository(project.folder, {"speed.sh": "echo score = 100\n"})
    (project.folder / "faster.diff").write_text(diff_of(project.folder, "speed.sh", "echo score = 140\n"))
    return project


def score(project: Campaign) -> Any:
    return project.show("1")["runs"][-1]["metrics"]["score"]["median"]


def replay(project: Campaign, run: str, step: str, target: Path) -> str:
    script = target.with_suffix(".sh")
    assert project.call("replay", run, "-o", str(script)).code == 0
    done = subprocess.run(
        ["bash", str(script), step, str(target)],
        cwd=project.folder,
        env=project.environment(),
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


@pytest.mark.parametrize("repo", ["", "\nrepo: ."], ids=["left out", "named"])
def test_a_patch_is_measured_in_a_copy_judged_as_one_factor_and_replayed(
    make: Make, tmp_path: Path, repo: str
) -> None:
    project = patched(make, PATCHED + repo)
    before = fingerprint(project.folder / ".git")
    assert project.call("run", "1").code == 0
    shown = project.show("1")
    assert score(project) == 140
    judgement = shown["judgement"]
    assert judgement["comparison"] == "fair", judgement["differences"]
    assert judgement["attribution"] == {"status": "single", "factors": ["patch"]}
    assert (project.folder / "speed.sh").read_text() == "echo score = 100\n"
    assert fingerprint(project.folder / ".git") == before
    run, target = shown["runs"][-1]["id"], tmp_path / "again"
    for _ in range(2):
        replay(project, run, "code", target)
    assert (target / "repo" / "speed.sh").read_text() == "echo score = 140\n"
    assert "score = 140" in replay(project, run, "bench", target)

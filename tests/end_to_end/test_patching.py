"""A patch is applied in a copy of the repository, measured there, judged, and made again by its replay."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.capture.repositories import fingerprint, git, new_repository
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


def test_a_patch_applies_in_a_shallow_repository_with_submodules_pointers_and_loose_files(
    make: Make, tmp_path: Path
) -> None:
    inner = new_repository(tmp_path / "inner", {"inner.txt": "inner\n"})
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 9\n"
    files = {".gitattributes": "*.bin filter=lfs diff=lfs\n", "w.bin": pointer, ".gitignore": "ignored/\n"}
    source = new_repository(tmp_path / "source", files | {"speed.sh": "echo score = 100\n"})
    git(source, "submodule", "add", "-q", str(inner), "dep")
    git(source, "commit", "-q", "-m", "dep")
    project = make(item("1", "Faster", PATCHED), base=BASE.replace("bench:", "repo: code\nbench:", 1))
    code = project.folder / "code"
    git(project.folder, "clone", "-q", "--depth", "1", f"file://{source}", "code")
    git(code, "submodule", "update", "-q", "--init")
    (code / "dep" / "inner.txt").write_text("edited\n")
    (code / "loose.sh").write_text("echo loose\n")
    (code / "ignored").mkdir()
    (code / "ignored" / "x").write_text("x\n")
    speed = "cat dep/inner.txt w.bin && sh loose.sh && sh new.txt && ls ignored || echo score = 140\n"
    patch = diff_of(code, "speed.sh", speed) + diff_of(code, "new.txt", "echo made\n")
    (project.folder / "faster.diff").write_text(patch)
    before = fingerprint(code)
    called = project.call("run", "1")
    assert called.code == 0, called
    assert score(project) == 140
    assert fingerprint(code) == before
    run = project.show("1")["runs"][-1]
    repo = run["snapshot"]["git"]["repo"]
    assert repo["commit"] == git(code, "rev-parse", "HEAD")
    assert repo["submodules"]["dep"]["dirty"] is True
    log = (project.folder / f".optrack/runs/{run['id']}/launch-0/bench.log").read_text()
    assert "edited\n" in log
    assert "loose\nmade\n" in log


@pytest.mark.parametrize("where", ["no commit", "no repository", "no folder", "no patch"])
def test_a_patch_with_nothing_to_apply_to_is_an_error_of_the_plan_and_nothing_runs(
    make: Make, where: str
) -> None:
    project = make(item("1", "Faster", PATCHED + ("\nrepo: nowhere" * (where == "no folder"))), base=BASE)
    if where in ("no commit", "no patch"):
        new_repository(project.folder, {"a.sh": "true\n"} if where == "no patch" else None)
    if where != "no patch":
        (project.folder / "faster.diff").write_text("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n")
    assert project.call("plan", "check", "--json").json["problems"]
    called = project.call("run", "1", "--json")
    assert (called.code, called.json["error"]["code"]) == (2, "plan")
    assert project.runs() == []


def test_a_repository_that_isnt_there_is_an_error_of_plan_check(make: Make) -> None:
    project = make(item("1", "Other code", "repo: /nonexistent"), base=BASE)
    called = project.call("plan", "check")
    assert called.code == 2
    assert "/nonexistent" in called.out
    assert project.call("run", "1").code == 2
    assert project.runs() == []


def test_a_patch_that_doesnt_apply_is_told_by_plan_check_and_is_the_items_failure(make: Make) -> None:
    project = patched(make)
    patch = project.folder / "faster.diff"
    patch.write_text(patch.read_text().replace("-echo score = 100", "-echo score = 90"))
    assert "doesn't apply" in project.call("plan", "check").out
    assert project.call("run", "1").code == 1
    run = project.show("1")["runs"][-1]
    assert (run["outcome"], run["stage"], run["failure"]["kind"]) == ("failed", "preflight", "patch")
    assert "faster.diff doesn't apply" in run["failure"]["message"]
    assert project.items()["1"]["verdict"] == "failed"


def test_a_copy_that_fails_is_no_result_of_the_item(make: Make) -> None:
    project = patched(make)
    programs = project.folder.parent / f"{project.folder.name}-bin"
    programs.mkdir()
    (programs / "git").write_text(
        '#!/bin/sh\nfor word; do\n  if [ "$word" = update-ref ]; then\n'
        '    echo "fatal: No space left on device" >&2; exit 128\n  fi\ndone\n'
        f'exec "{shutil.which("git")}" "$@"\n'
    )
    (programs / "git").chmod(0o755)
    called = project.call("run", "1", env={"PATH": f"{programs}:{os.environ['PATH']}"})
    assert called.code == 1, called
    run = project.show("1")["runs"][-1]
    assert (run["outcome"], run["failure"]["kind"]) == ("interrupted", "disk_full")
    assert (project.items()["1"]["status"], project.items()["1"]["verdict"]) == ("pending", None)

"""The replay script makes the code of a run again and runs its commands in its environment."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from optrack.host.capture import capture_before
from optrack.model.snapshot import Snapshot
from optrack.render.replay import replay_script
from tests.capture.repositories import commit, fingerprint, git, new_repository
from tests.capture.test_git_changes import FIRST, everything_changed

SALT = b"salt"


def captured(project: Path, repo: Path | None = None, **env: str) -> Snapshot:
    return capture_before(project=project, repo=repo, env=env, recipe_env=dict(env), salt=SALT)


def replayed(tmp_path: Path, snapshot: Snapshot, project: Path, step: str, **options: Any) -> str:
    commands = {"bench": 'echo "$NCCL_ALGO|$NCCL_ODD|$ITEM_ID|$PWD"; cat edited.py'}
    script = tmp_path / "replay.sh"
    text = replay_script(
        snapshot, run="20260101T000000-abc", item="1A", project=str(project), commands=commands, **options
    )
    script.write_text(text)
    done = subprocess.run(
        ["bash", str(script), step, str(tmp_path / "again")],
        cwd=tmp_path,
        env={**os.environ, **{"HOME": str(tmp_path)}},
        check=True,
        capture_output=True,
    )
    return done.stdout.decode(errors="surrogateescape")


def files(folder: Path) -> dict[str, str]:
    return {name: digest for name, (digest, _) in fingerprint(folder).items() if name.split("/")[0] != ".git"}


def test_the_code_is_made_again_with_every_change(tmp_path: Path) -> None:
    project = new_repository(tmp_path / "p", FIRST)
    everything_changed(project)
    before = fingerprint(project / ".git" / "refs")
    replayed(tmp_path, captured(project), project, "code")
    assert files(tmp_path / "again" / "project") == files(project)
    assert fingerprint(project / ".git" / "refs") == before


def test_a_step_runs_where_and_with_what_it_ran(tmp_path: Path) -> None:
    project = new_repository(tmp_path / "p", {"sub/edited.py": "1\n"})
    (project / "sub" / "edited.py").write_text("2\n")
    snapshot = captured(project, NCCL_ALGO='it\'s $a "test"\nline', NCCL_ODD="caf\udce9")
    replayed(tmp_path, snapshot, project / "sub", "code")
    out = replayed(tmp_path, snapshot, project / "sub", "bench")
    where = tmp_path / "again" / "project" / "sub"
    assert out == f'it\'s $a "test"\nline|caf\udce9|1A|{where}\n2\n'


def test_the_recipes_repository_and_submodules_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = new_repository(tmp_path / "inner", {"b.py": "1\n"})
    project = new_repository(tmp_path / "p", {"edited.py": "1\n"})
    repo = new_repository(tmp_path / "r", {"c.py": "1\n"})
    git(repo, "submodule", "add", "-q", str(inner), "dep")
    git(repo, "commit", "-q", "-m", "dep")
    commit(repo / "dep", {"b.py": "2\n"}, "moved")
    git(repo / "dep", "push", "-q", "origin", "HEAD:refs/heads/moved")
    (repo / "dep" / "b.py").write_text("3\n")
    (repo / "c.py").write_text("2\n")
    snapshot = captured(project, repo)
    settings = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "protocol.file.allow",
        "GIT_CONFIG_VALUE_0": "always",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    replayed(tmp_path, snapshot, project, "code")
    assert (tmp_path / "again" / "repo" / "c.py").read_text() == "2\n"
    assert (tmp_path / "again" / "repo" / "dep" / "b.py").read_text() == "3\n"


def test_a_repository_without_a_commit_is_made_again(tmp_path: Path) -> None:
    project = new_repository(tmp_path / "p")
    (project / "edited.py").write_text("1\n")
    replayed(tmp_path, captured(project), project, "code")
    assert (tmp_path / "again" / "project" / "edited.py").read_text() == "1\n"


def test_a_secret_has_to_be_set_by_whoever_replays(tmp_path: Path) -> None:
    project = new_repository(tmp_path / "p", {"edited.py": "1\n"})
    snapshot = captured(project, HF_TOKEN="hf_" + "a" * 20)
    text = replay_script(snapshot, run="r", item="1", project=str(project), commands={"bench": "true"})
    assert '"${HF_TOKEN:?is a secret' in text


def test_what_the_server_had_beyond_what_was_passed_is_said() -> None:
    snapshot = Snapshot(env={"passed": {}, "server": {"NCCL_PROTO": "LL"}})
    text = replay_script(snapshot, run="r", item="1", project="/p", commands={})
    assert "# the server's processes had NCCL_PROTO: LL" in text


def test_a_variable_that_the_recipe_took_away_is_taken_away() -> None:
    text = replay_script(Snapshot(), run="r", item="1", project="/p", commands={}, unset=("NCCL_PROTO",))
    assert "  unset NCCL_PROTO" in text


def test_every_script_is_valid_bash(tmp_path: Path) -> None:
    for snapshot in (
        Snapshot(),
        Snapshot(git={"project": {"state": "none"}}),
        Snapshot(git={"problem": "x"}),
    ):
        text = replay_script(snapshot, run="r", item="it's", project="/p q", commands={"server": "a 'b'"})
        subprocess.run(["bash", "-n"], input=text.encode(), check=True)

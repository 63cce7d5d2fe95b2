"""Real processes: a run from the shell, what it answers, and who is told when it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from optrack.app.answers import answer_schema
from tests.cli.quick import quick

ROOT = Path(__file__).parents[2]


def optrack(folder: Path, *arguments: str, code: int = 0) -> str:
    """Run a command in a project and return what it printed on standard output."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("OPTRACK_")}
    env |= {"PYTHONPATH": str(ROOT), "OPTRACK_LOCKS": str(folder), "OPTRACK_CPU_SHARE": "1"}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "optrack", *arguments],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.mark.slow
def test_runs_answer_by_their_schemas_and_are_told_of(tmp_path: Path) -> None:
    folder = quick(tmp_path / "project")
    tell = "cat > $OPTRACK_ITEM.json; echo $OPTRACK_OUTCOME $OPTRACK_VERDICT > $OPTRACK_ITEM.txt"
    (folder / "optrack.toml").write_text(f"cpu_share = 1\nnotify = '{tell}'\n", encoding="utf-8")

    answer = json.loads(optrack(folder, "next", "--json"))
    jsonschema.validate(answer, answer_schema("next"))
    assert answer["run"]["outcome"] == "succeeded"
    run = answer["run"]["id"]
    failed = json.loads(optrack(folder, "run", "2", "--json", code=1))
    jsonschema.validate(failed, answer_schema("run"))
    log = json.loads(optrack(folder, "log", run, "--which", "bench", "--json"))
    jsonschema.validate(log, answer_schema("log"))
    assert "score" in log["text"]
    doctor = json.loads(optrack(folder, "doctor", "--json"))
    jsonschema.validate(doctor, answer_schema("doctor"))

    told = [folder / "baseline.txt", folder / "2.txt"]
    for path in told:
        wait_for(path)
    assert told[0].read_text() == "succeeded none\n"
    assert told[1].read_text() == "failed failed\n"
    document = json.loads((folder / "2.json").read_text())
    assert document["event"] == "run_ended"
    assert "out of luck" in document["run"]["failure"]["message"]
    assert "snapshot" not in document["run"]


def wait_for(path: Path) -> None:
    """Wait until a file has something in it."""
    import time

    deadline = time.monotonic() + 30
    while not (path.is_file() and path.stat().st_size):
        assert time.monotonic() < deadline, f"{path} was never written"
        time.sleep(0.05)

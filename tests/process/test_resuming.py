"""An interrupted run is gone on with where the same is run, and measured anew where it isn't."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from optrack.host.teardown import leftovers
from tests.process.conftest import FAKE, eventually
from tests.process.torture import ASK, Project

PLAN = f"""\
---
title: Resuming
metric: {{name: score, better: higher}}
---

```yaml recipe
launch: exec {sys.executable} -S {FAKE} --port $PORT
ready: {{http: /health, timeout: 60s}}
bench: |
  {ASK}echo $ITEM_ID >> passes
  made=$(wc -l < passes)
  while [ -e hold ] && [ $made -ge 5 ]; do sleep 0.05; done
  echo "score = $((100 + made))"
metrics: {{score: {{regex: 'score = (\\d+)', better: higher}}}}
launches: 3
timeout: {{grace: 300ms}}
```

## Baseline

## 1: Item

```yaml recipe
env: {{NUMBER: "1"}}
```
"""


class Interrupted(Project):
    """A project whose item 1 was interrupted in its third pair of launches, after four passes."""

    def __init__(self, folder: Path, *, kill: bool) -> None:
        super().__init__(folder, 0)
        self.plan = folder / "plans" / "torture.md"
        self.plan.write_text(PLAN)
        (folder / "hold").touch()
        with self.optrack("run", "1") as follower:
            assert eventually(lambda: len(self.passes()) == 5, within_s=90)
            if kill:
                for pid in [*self.runners(), follower.pid]:
                    os.kill(pid, signal.SIGKILL)
            else:
                follower.send_signal(signal.SIGINT)
            follower.communicate(timeout=60)
        (folder / "hold").unlink()
        ((self.earlier,),) = self.rows("SELECT id FROM run WHERE paired_run IS NULL")

    def passes(self) -> list[str]:
        """The items of the benchmark passes so far."""
        path = self.folder / "passes"
        return path.read_text().split() if path.exists() else []

    def resumed(self) -> dict[str, Any]:
        """Run the item with --resume and return its run's document."""
        code, out, err = self.ask("run", "1", "--resume", "--json")
        assert code == 0, err
        run: dict[str, Any] = json.loads(out)["run"]
        assert leftovers(self.earlier) == () and leftovers(run["id"]) == ()
        return run

    def scores(self, run: str) -> dict[int, float]:
        """The run's score of each launch."""
        rows = self.rows("SELECT launch, value FROM sample WHERE run = ? ORDER BY seq", run)
        assert len(rows) == len({launch for launch, _ in rows})
        return dict(rows)

    def beside(self, run: str) -> str:
        """The baseline's run beside this one."""
        ((found,),) = self.rows("SELECT id FROM run WHERE paired_run = ?", run)
        return str(found)


@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
def test_the_complete_pairs_of_an_interrupted_run_are_kept_and_named(tmp_path: Path, kill: bool) -> None:
    project = Interrupted(tmp_path / "project", kill=kill)
    run = project.resumed()
    passes = project.passes()
    pairs = [passes[:2], passes[2:4], passes[5:]]
    assert pairs[0] == ["1", "baseline"] and all(sorted(pair) == ["1", "baseline"] for pair in pairs), (
        f"{passes}"
    )
    ours, theirs = (
        {
            n: 101 + first + pair.index(item)
            for n, (first, pair) in enumerate(zip((0, 2, 5), pairs, strict=True))
        }
        for item in ("1", "baseline")
    )
    assert project.scores(run["id"]) == ours
    assert project.scores(project.beside(run["id"])) == theirs
    said = f"2 pairs of launches of run {project.earlier} are kept"
    assert any(said in note for note in run["notes"])
    assert said in project.ask("export")[1]
    baseline = json.loads(project.ask("show", project.beside(run["id"]), "--json")[1])
    assert project.beside(project.earlier) in json.dumps(baseline)
    assert project.scores(project.earlier) == {0: ours[0], 1: ours[1]}


def test_an_edited_recipe_is_measured_anew(tmp_path: Path) -> None:
    project = Interrupted(tmp_path / "project", kill=False)
    project.plan.write_text(PLAN.replace('NUMBER: "1"', 'NUMBER: "2"'))
    run = project.resumed()
    assert set(project.scores(run["id"])) == {0, 1, 2} and len(project.passes()) == 5 + 6
    assert any("the recipe was edited since" in note for note in run["notes"])


def test_a_changed_environment_is_measured_anew_from_the_launch_that_shows_it(tmp_path: Path) -> None:
    project = Interrupted(tmp_path / "project", kill=False)
    project.env["NCCL_ALGO"] = "Tree"
    run = project.resumed()
    assert set(project.scores(run["id"])) == {2, 3, 4} and len(project.passes()) == 5 + 6
    assert set(project.scores(project.beside(run["id"]))) == {2, 3, 4}
    assert any("measuring from scratch" in note and "NCCL_ALGO" in note for note in run["notes"])


def test_a_follower_says_what_it_waits_for_and_its_end_ends_the_waiting(tmp_path: Path) -> None:
    project = Project(tmp_path / "project", 0, bench=f"{ASK}sleep 30; echo score = 5")
    with project.optrack("run", "baseline") as first:
        assert eventually(lambda: any(project.folder.glob(".optrack/runs/*/launch-0")), within_s=60)
        with project.optrack("run", "baseline", "--wait") as second:
            assert second.stderr is not None
            line = second.stderr.readline().decode()
            assert "waiting: the host is measured on already: run" in line
            begin = time.monotonic()
            second.send_signal(signal.SIGINT)
            _, err = second.communicate(timeout=30)
            assert second.returncode == 130 and time.monotonic() - begin < 10
            assert b"waiting:" not in err
        assert len(project.runners()) == 1
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=60)
    assert project.runners() == [] and len(project.rows("SELECT 1 FROM run")) == 1

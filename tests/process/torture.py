"""Torture of whole runs: `python -m tests.process.torture kills|contention [--times N] [--seed N] [--keep DIR]`.

kills       runner, its process group, follower or all are killed at N random moments over all stages of a run whose
            server wipes its environment, forks twice and calls setsid. After each: the next command closes the
            dead run, no process of it is left, the database is sound, no transition or sample is lost or doubled,
            and the item can be run again.
contention  eight `optrack next` at once on three items, N times: each item is run by exactly one of them.

Every broken promise is a line on the output; the exit code is 1 if there is one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from optrack.host import proc
from optrack.host.teardown import leftovers

ROOT = Path(__file__).parents[2]
FAKE = Path(__file__).with_name("fake_server.py")
PLAN = """\
---
title: Torture
metric: {{name: score, better: higher}}
---

```yaml recipe
launch: exec {python} -S {fake} {launch}
ready: {{http: /health, timeout: 60s}}
bench: {bench}
metrics: {{score: {{regex: 'score = ([\\d.]+)', better: higher}}}}
timeout: {{grace: 300ms}}
```

## Baseline
{items}"""
ITEM = '\n## {id}: Item\n\n```yaml recipe\nenv: {{NUMBER: "{id}"}}\n```\n'
LAUNCH = "--port $PORT --orphans 3 --setsid --wipe --stubborn 1 --ready-after 0.2"
ASK = "(exec 3<>/dev/tcp/127.0.0.1/$PORT; echo >&3; cat <&3) >/dev/null 2>&1; "
"""A request to the server."""
BENCH = f"{ASK}sleep 0.15; echo score = 5\nsetup: sleep 0.1\nrepetitions: 2"
PATIENCE_S = 120.0


class Project:
    """A project in a folder of its own, with a plan of `items` items beside the baseline."""

    def __init__(self, folder: Path, items: int, *, launch: str = LAUNCH, bench: str = BENCH) -> None:
        self.folder = folder
        (folder / "plans").mkdir(parents=True)
        text = "".join(ITEM.format(id=number + 1) for number in range(items))
        plan = PLAN.format(python=sys.executable, fake=FAKE, launch=launch, bench=bench, items=text)
        (folder / "plans" / "torture.md").write_text(plan)
        (folder / "optrack.toml").write_text("cpu_share = 1.0\n")
        self.env = {**os.environ, "PYTHONPATH": str(ROOT), "OPTRACK_LOCKS": str(folder)}

    def optrack(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start an optrack command."""
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "optrack", *arguments],
            cwd=self.folder,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def ask(self, *arguments: str) -> tuple[int, str, str]:
        """Run an optrack command to its end; return its exit code, output and narration."""
        with self.optrack(*arguments) as process:
            out, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out.decode(errors="replace"), err.decode(errors="replace")

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Read from the database; empty if there is none yet."""
        path = self.folder / ".optrack" / "optrack.db"
        if not path.exists():
            return []
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as connection:
            return connection.execute(query, values).fetchall()

    def runners(self) -> list[int]:
        """Return the pids of this project's runners."""
        mark = f"--project {self.folder}"
        return [pid for pid, line in command_lines() if "optrack.runner.main" in line and mark in line]

    def lost(self) -> list[tuple[int, str]]:
        """Return the processes that have wiped their environment and live, by their last argument."""
        return [(pid, line) for pid, line in command_lines() if line.endswith(f" {self.folder}")]


def command_lines() -> Iterator[tuple[int, str]]:
    """Yield every process of the machine with its whole command line."""
    for pid in proc.table():
        with suppress(OSError):
            words = (proc.PROC / str(pid) / "cmdline").read_bytes().strip(b"\0").replace(b"\0", b" ")
            yield pid, words.decode(errors="replace")


def kills(folder: Path, times: int, seed: int) -> list[str]:
    """Kill and check `times` times; return what was broken."""
    chance = random.Random(seed)
    project = Project(folder, 1)
    broken: list[str] = []
    seen: Counter[str] = Counter()
    for item in ("baseline", "1"):
        code, _, err = project.ask("run", item)
        if code != 0:
            return [f"the undisturbed run failed with {code}: {err}"]
    (span,) = project.rows(
        "SELECT (julianday(ended_at) - julianday(started_at)) * 86400 FROM run "
        "WHERE paired_run IS NULL ORDER BY id DESC LIMIT 1"
    )[0]
    for turn in range(times):
        before = {run for (run,) in project.rows("SELECT id FROM run")}
        victim = chance.choice(["runner", "group", "follower", "both"])
        follower = project.optrack("run", "1")
        moment = chance.random()
        if moment < 0.4:
            _await(lambda: bool(project.lost()) or follower.poll() is not None)  # noqa: B023
            time.sleep(chance.uniform(0, 0.2))
        elif moment < 0.85:
            _await(lambda: _stage(project, before) != "no run yet")  # noqa: B023
            time.sleep(chance.uniform(0, span))
        else:
            time.sleep(chance.uniform(0.05, 2))
        if victim in ("follower", "both"):
            follower.kill()
        for pid in project.runners() if victim != "follower" else ():
            with suppress(ProcessLookupError):
                os.killpg(os.getpgid(pid), signal.SIGKILL) if victim == "group" else os.kill(
                    pid, signal.SIGKILL
                )
        stage = _stage(project, before)
        follower.communicate(timeout=PATIENCE_S)
        _settle(project, before)
        seen[f"{victim} in {stage}"] += 1
        found = check(project, before)
        broken += [f"turn {turn} ({victim} in {stage}): {line}" for line in found]
        if turn % 10 == 9:
            say(f"{turn + 1} kills, {len(broken)} broken promises")
    code, _, err = project.ask("run", "1")
    if code != 0:
        broken.append(f"the item can't be run at the end: exit {code}: {err}")
    say(json.dumps(dict(sorted(seen.items()))))
    outcomes = project.rows("SELECT coalesce(outcome, 'open'), count(*) FROM run GROUP BY 1")
    say(f"runs: {dict(outcomes)}, transitions: {project.rows('SELECT count(*) FROM transition')[0][0]}")
    return broken


def _stage(project: Project, before: set[str]) -> str:
    """Return the stage that the newest run is in."""
    rows = project.rows("SELECT id, outcome FROM run WHERE paired_run IS NULL ORDER BY id DESC LIMIT 1")
    if not rows or rows[0][0] in before:
        return "no run yet"
    query = "SELECT data FROM event WHERE run = ? AND kind = 'stage_started' ORDER BY seq DESC LIMIT 1"
    told = project.rows(query, rows[0][0])
    return "done" if rows[0][1] else str(json.loads(told[0][0])["stage"]) if told else "claimed"


def _settle(project: Project, before: set[str]) -> None:
    """Wait for a runner that lives on to end its run, then let the next command find a dead one."""
    _await(lambda: not project.runners())
    new = [run for (run,) in project.rows("SELECT id FROM run") if run not in before]
    if new:
        project.ask("attach", new[0])


def _await(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)


def check(project: Project, before: set[str]) -> list[str]:
    """Return what is wrong after a kill, once the next command has run."""
    broken = []
    runs = project.rows("SELECT id, outcome FROM run")
    for run, outcome in runs:
        if run in before:
            continue
        if outcome is None:
            broken.append(f"run {run} is still open")
        if left := leftovers(run):
            broken.append(f"run {run} left {[(p.pid, proc.command_line(p.pid)) for p in left]}")
    if lost := project.lost():
        broken.append(f"lost processes live on: {lost}")
        for pid, _ in lost:
            os.kill(pid, signal.SIGKILL)
    if project.rows("PRAGMA integrity_check") != [("ok",)]:
        broken.append("the database is damaged")
    if project.rows("PRAGMA foreign_key_check"):
        broken.append("the database has dangling references")
    broken += _transitions(project) + _samples(project)
    statuses = {status for (status,) in project.rows("SELECT status FROM item")}
    if not statuses <= {"pending", "completed"}:
        broken.append(f"an item stands at {statuses}")
    return broken


def _transitions(project: Project) -> list[str]:
    """Each transition must begin where the last one ended, and the last be where the item stands."""
    broken = []
    for key, name, status in project.rows("SELECT key, id, status FROM item"):
        at: str | None = None
        for seq, old, new in project.rows(
            "SELECT seq, before, after FROM transition WHERE item_key = ? ORDER BY seq", key
        ):
            if at is not None and old != at:
                broken.append(f"transition {seq} of {name} begins at {old}, the last ended at {at}")
            if old == new:
                broken.append(f"transition {seq} of {name} is doubled")
            at = new
        if at is not None and at != status:
            broken.append(f"item {name} stands at {status}, its last transition says {at}")
    return broken


def _samples(project: Project) -> list[str]:
    """What the journal tells as measured is recorded, once."""
    doubled = "SELECT run FROM sample GROUP BY run, launch, repetition, metric HAVING count(*) > 1"
    broken = [f"run {run} has a sample twice" for (run,) in project.rows(doubled)]
    empty = (
        "SELECT e.run FROM event e LEFT JOIN sample s ON s.event = e.seq "
        "WHERE e.kind = 'repetition_measured' GROUP BY e.run, e.seq HAVING count(s.seq) = 0"
    )
    return broken + [f"run {run} was told to have samples that it has not" for (run,) in project.rows(empty)]


def contention(folder: Path, times: int, seed: int) -> list[str]:
    """Let eight callers race for three items, `times` times; return what was broken."""
    broken = []
    for turn in range(times):
        project = Project(folder / str(turn), 2)
        callers = [project.optrack("next", "--wait", "--json") for _ in range(8)]
        codes = Counter[int]()
        errors = []
        for caller in callers:
            _, err = caller.communicate(timeout=PATIENCE_S * 4)
            codes[caller.returncode] += 1
            errors.append(err.decode(errors="replace"))
        query = (
            "SELECT i.id, count(*) FROM run r JOIN item i ON i.key = r.item_key "
            "WHERE r.paired_run IS NULL GROUP BY 1"
        )
        taken = dict(project.rows(query))
        if taken != {"baseline": 1, "1": 1, "2": 1}:
            broken.append(f"turn {turn}: items were taken {taken}, exits {dict(codes)}: {errors}")
        if not set(codes) <= {0, 3}:
            broken.append(f"turn {turn}: exits {dict(codes)}: {errors}")
        broken += [f"turn {turn}: {line}" for line in check(project, set())]
        say(f"{turn + 1} races, exits {dict(sorted(codes.items()))}, {len(broken)} broken promises")
    return broken


def say(text: str) -> None:
    """Narrate."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def main() -> int:
    """Torture, print what was broken, return 1 if anything was."""
    what = {"kills": (kills, 200), "contention": (contention, 20)}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=what)
    parser.add_argument("--times", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="work in this folder and keep it")
    options = parser.parse_args()
    torture, usual = what[options.what]
    with tempfile.TemporaryDirectory() as folder:
        place = (options.keep or Path(folder)).resolve() / "project"
        broken = torture(place, options.times or usual, options.seed)
    sys.stdout.write("".join(f"{line}\n" for line in broken) or "nothing was broken\n")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

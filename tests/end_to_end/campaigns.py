"""A project folder with a tiny server and benchmark, and the command line called in it as a user calls it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]

SERVER = """\
import os, socket
listening = socket.socket()
listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listening.bind(("127.0.0.1", int(os.environ["PORT"])))
listening.listen(50)
print("ready", flush=True)
while True:
    client, _ = listening.accept()
    client.recv(4096)
    client.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
    client.close()
"""

ASK = '(exec 3<>"/dev/tcp/127.0.0.1/$PORT"; echo >&3; cat <&3) >/dev/null 2>&1; '
"""What a benchmark begins with: a request to the server."""

BENCH = (
    f"{ASK}\n"
    + """\
awk -v r=$RANDOM 'BEGIN {
  speed = ENVIRON["SPEED"] ? ENVIRON["SPEED"] : 100
  if (ENVIRON["NCCL_PROTO"] == "LL") speed *= 1.4
  printf "score = %.3f\\n", speed + r / 32768
}'
"""
)

BASE = """\
---
title: Campaign
metric: {name: score, unit: pt, better: higher}
min_effect: 2%
---

```yaml recipe
launch: exec python3 -S -E server.py
bench: bash bench.sh
metrics: {score: {regex: 'score = ([\\d.]+|nan)', unit: pt, better: higher}}
launches: 3
timeout: {grace: 2s}
```

## Baseline

"""

QUICK = BASE.replace("launch: exec python3 -S -E server.py\n", "")
"""The base without a server: a run takes a moment."""


def item(label: str, title: str, recipe: str) -> str:
    """Return an item of a plan with its recipe."""
    return f"## {label}: {title}\n\n```yaml recipe\n{recipe}\n```\n\n"


class Called(NamedTuple):
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on standard output."""
        return json.loads(self.out)


class Campaign:
    """A folder with a plan, in which commands are called as processes of their own."""

    def __init__(self, folder: Path, plan: str = "", *, base: str = BASE) -> None:
        self.folder = folder
        (folder / "plans").mkdir(parents=True)
        (folder / "server.py").write_text(SERVER, encoding="utf-8")
        (folder / "bench.sh").write_text(BENCH, encoding="utf-8")
        (folder / "optrack.toml").write_text("cpu_share = 1\n", encoding="utf-8")
        self.base = base
        self.write(plan)

    def write(self, plan: str) -> None:
        """Write the plan: the base, then these items."""
        (self.folder / "plans" / "plan.md").write_text(self.base + plan, encoding="utf-8")

    def environment(self, env: Mapping[str, str | None] | None = None) -> dict[str, str]:
        """Return a user's environment in this project, with these variables set, or unset where None."""
        own = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PYTHONPATH": str(ROOT),
            "OPTRACK_LOCKS": str(self.folder),
            "OPTRACK_ACTOR": "ada",
            "COLUMNS": "400",
        }
        merged = {**own, **(env or {})}
        return {name: value for name, value in merged.items() if value is not None}

    def start(
        self, *arguments: str, env: Mapping[str, str | None] | None = None, **more: Any
    ) -> subprocess.Popen[str]:
        """Start a command and return its process."""
        return subprocess.Popen(
            command(arguments),
            cwd=self.folder,
            env=self.environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )

    def call(self, *arguments: str, env: Mapping[str, str | None] | None = None) -> Called:
        """Call a command and return what it printed and how it ended."""
        return ended(self.start(*arguments, env=env))

    def show(self, what: str) -> Any:
        """Return the document of `optrack show`."""
        return self.call("show", what, "--json").json

    def items(self) -> dict[str, Any]:
        """Return the items of `optrack status`, by id."""
        return {item["id"]: item for item in self.call("status", "--json").json["items"]}

    def runs(self) -> list[Any]:
        """Return the runs of `optrack runs`, the latest first."""
        found: list[Any] = self.call("runs", "--json").json["runs"]
        return found

    def open_run(self) -> tuple[str, int] | None:
        """Return the id of the run that goes on and its runner's pid, or None."""
        database = self.folder / ".optrack" / "optrack.db"
        if not database.exists():
            return None
        with closing(sqlite3.connect(database, timeout=10)) as connection:
            found: tuple[str, int] | None = connection.execute(
                "SELECT id, runner_pid FROM run WHERE outcome IS NULL AND paired_run IS NULL"
            ).fetchone()
        return found

    def wrote(self, log: str) -> bool:
        """Whether a run has begun this log of a launch."""
        return any(self.folder.glob(f".optrack/runs/*/launch-*/{log}"))

    def processes(self) -> list[str]:
        """Return the command lines of the processes that live in the project's folder."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                if (entry / "cwd").readlink() == self.folder and alive(int(entry.name)):
                    found.append(
                        (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    )
            except OSError:
                continue
        return found


Make = Callable[..., Campaign]


def command(arguments: Sequence[str]) -> list[str]:
    """Return the words that call optrack with these arguments."""
    return [sys.executable, "-P", "-m", "optrack", *arguments]


def ended(process: subprocess.Popen[str], timeout_s: float = 120) -> Called:
    """Wait for a started command and return what it printed and how it ended."""
    out, err = process.communicate(timeout=timeout_s)
    return Called(process.returncode, out, err)


def wait_for(condition: Callable[[], Any], what: str, timeout_s: float = 60) -> Any:
    """Wait until the condition holds and return what it gave."""
    deadline = time.monotonic() + timeout_s
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)
    return found


def alive(pid: int) -> bool:
    """Whether the process lives; a zombie doesn't."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"

"""What may go on in the world between two captures of the same thing without making them differ.

`python -m tests.capture.fair` captures after each of them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from optrack.judge.difference import comparison, differences
from tests.capture.repositories import SETTINGS, git
from tests.capture.world import World

HAPPENED: dict[str, Callable[[World], object]] = {
    "nothing but time, and other process numbers": lambda w: None,
    "another port": lambda w: w.set(PORT="30417"),
    "another run folder": lambda w: w.set(RUN_DIR=str(w.root / "runs" / "two")),
    "the run folder named in a variable": lambda w: w.set(RUN_DIR=str(w.root / "runs" / "three")),
    "optrack's own variables": lambda w: w.set(OPTRACK_RUN="x", ITEM_ID="2"),
    "another login": lambda w: w.set(SSH_CONNECTION="1.2.3.4 5 6 7", XDG_SESSION_ID="9"),
    "another terminal": lambda w: w.set(TERM="dumb", TMUX="/tmp/tmux", COLUMNS="80"),
    "another rendezvous port": lambda w: w.set(MASTER_PORT="4711"),
    "a restarted host": lambda w: (
        w.host("proc/sys/kernel/random/boot_id", "22222222-2222-2222-2222-222222222222"),
        w.host("proc/uptime", "12.00 20.00"),
        w.host("proc/cmdline", "BOOT_IMAGE=/vmlinuz-6.8-b root=UUID=5678 ro mitigations=auto"),
    ),
    "a warmer GPU": lambda w: setattr(w.nvml.devices[0], "temperature", 41),
    "an idle GPU's lower link": lambda w: setattr(w.nvml.devices[0], "pcie_generation", 1),
    "a GPU's clock within its noise": lambda w: setattr(w.nvml.devices[0], "sm_clock", 350),
    "more power drawn": lambda w: setattr(w.nvml.devices[0], "power_mw", 81_000),
    "some memory of the GPU in use": lambda w: setattr(w.nvml.devices[0].memory, "used", 700_000_000),
    "less free memory": lambda w: w.host(
        "proc/meminfo",
        "MemTotal:       64990000 kB\nMemAvailable:   20000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB",
    ),
    "another CPU frequency at the moment": lambda w: w.host(
        "proc/cpuinfo",
        "processor\t: 0\nmodel name\t: A CPU\nphysical id\t: 0\ncpu MHz\t\t: 800.0\n\n"
        "processor\t: 1\nmodel name\t: A CPU\nphysical id\t: 0\ncpu MHz\t\t: 3400.0",
    ),
    "the plan was edited": lambda w: (w.project / "plan.md").write_text("# Plan\n\nmore\n"),
    "logs, results and caches were written": lambda w: (
        (w.project / "server.log").write_text("x"),
        (w.project / "result.jsonl").write_text("{}"),
        w.write("project/__pycache__/a.pyc", b"x"),
    ),
    "optrack's own folder": lambda w: w.write("project/.optrack/optrack.db", "rows"),
    "notes were committed": lambda w: git(w.project, "commit", "-q", "-m", "notes", "plan.md"),
    "the same code on another branch": lambda w: git(w.repo, "checkout", "-q", "-b", "other"),
    "the same code detached": lambda w: git(w.repo, "checkout", "-q", "--detach"),
    "the server reports other counters": lambda w: w.reported.update(last_gen_throughput=12.5),
    "the KV cache is a little smaller": lambda w: w.reported.update(max_total_num_tokens=99_500),
}


def flagged(world: World, batch: int) -> dict[str, list[str]]:
    """Let everything happen, `batch` at a time, capture after each, and return what was flagged."""
    world.reported["max_total_num_tokens"] = 100_000
    world.set(NCCL_DEBUG_FILE=f"{world.env['RUN_DIR']}/nccl.log")
    baseline = world.capture()
    found: dict[str, list[str]] = {}
    names: Sequence[str] = list(HAPPENED)
    for start in range(0, len(names), batch):
        for name in names[start : start + batch]:
            HAPPENED[name](world)
        world.set(NCCL_DEBUG_FILE=f"{world.env['RUN_DIR']}/nccl.log")
        shown = differences(world.capture(), baseline, declared={})
        if shown or comparison(shown) != "fair":
            fields = [f"{d.field}: {d.baseline} -> {d.candidate}" for d in shown]
            found[", ".join(names[start : start + batch])] = fields
    return found


def main() -> None:
    """Print what was flagged, one by one."""
    os.environ.update(SETTINGS)
    with tempfile.TemporaryDirectory() as folder:
        found = flagged(World(Path(folder) / "world"), batch=1)
    for name, fields in found.items():
        sys.stdout.write(f"{name}: {fields}\n")
    sys.stdout.write(f"{len(HAPPENED) - len(found)} of {len(HAPPENED)} fair pairs show nothing\n")


if __name__ == "__main__":
    main()

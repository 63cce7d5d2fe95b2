"""Figures of launching and measuring, by hand: `python -m tests.process.figures FIGURE [--times N]`.

latency   seconds from a server being ready to its benchmark having started, over N starts: median and worst
memory    peak memory of the process that waits for a server which logs N GB, and reads that log for its ready line
idle      CPU share that watching a server and a benchmark takes, over N seconds
overhead  share of its wall time that `optrack run` adds to a server start of 2 s and a benchmark of 6 s, N times
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from optrack.host.bench import run_bench
from optrack.host.command import become_subreaper
from optrack.host.fitness import free_port
from optrack.host.launch import start_server, wait_until_ready
from optrack.host.logs import Limits
from optrack.host.stretch import window_of
from optrack.host.tree import Tree
from optrack.model.recipe_parts import Ready
from optrack.model.value import Frozen
from tests.process.torture import Project

FAKE = Path(__file__).with_name("fake_server.py")


class Pass(Frozen):
    """A benchmark's command."""

    shell: str
    env: Mapping[str, str] = {}
    output: Path | None = None


def serve(folder: Path, options: str, ready: Ready) -> tuple[Tree, Path]:
    """Start the fake server and wait until it is ready; return its tree and its log."""
    port, log = free_port(), folder / f"{time.monotonic_ns()}.log"
    shell = f"exec {sys.executable} -S {FAKE} --port {port} {options}"
    tree = start_server(shell, os.environ, folder, log, run="figures")
    limits = Limits(log_bytes=0)
    wait_until_ready(
        tree, ready, host="127.0.0.1", port=port, log=log, should_stop=lambda: False, limits=limits
    )
    return tree, log


def bench(folder: Path, shell: str, tree: Tree) -> bytes:
    """Run one pass beside the server and return what it printed."""
    written = run_bench(
        Pass(shell=shell),
        env=os.environ,
        cwd=folder,
        log=folder / "bench.log",
        server=tree,
        timeout_s=600,
        run="figures",
        should_stop=lambda: False,
    )
    return window_of(written).data


def latency(folder: Path, times: int) -> str:
    """Start, wait, begin a benchmark, `times` times."""
    late = []
    for turn in range(times):
        tree, log = serve(folder, f"--ready-after {0.3 + turn % 7 * 0.017}", Ready(http="/health"))
        began = float(bench(folder, "echo $EPOCHREALTIME", tree))
        match = re.search(rb"ready at ([\d.]+)", log.read_bytes())
        assert match is not None
        late.append(began - (time.time() - time.monotonic()) - float(match.group(1)))
        tree.stop(signal=signal.SIGTERM, grace_s=5)
    return f"{times} starts: median {statistics.median(late) * 1000:.0f} ms, worst {max(late) * 1000:.0f} ms"


def memory(folder: Path, times: int) -> str:
    """Read a log of so many GB for its ready line, then watch it through a benchmark."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ready = Ready(log="fired up", http="/health", timeout_s=600)
    tree, log = serve(folder, f"--flood {times * 10**9}", ready)
    seconds = time.monotonic() - tree.started
    bench(folder, "sleep 1", tree)
    tree.stop(signal=signal.SIGTERM, grace_s=5)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (
        f"log of {log.stat().st_size / 1e9:.2f} GB, ready after {seconds:.1f} s: "
        f"peak {peak / 1024:.0f} MiB, {before / 1024:.0f} MiB before"
    )


def idle(folder: Path, times: int) -> str:
    """Watch an idle server through a benchmark that only sleeps."""
    tree, _ = serve(folder, "", Ready(http="/health"))
    before = time.process_time()
    bench(folder, f"sleep {times}", tree)
    used = time.process_time() - before
    tree.stop(signal=signal.SIGTERM, grace_s=5)
    return f"{used / times:.2%} of one CPU while a benchmark ran for {times} s"


def overhead(folder: Path, times: int) -> str:
    """Run a whole item, command line and runner process included."""
    project = Project(
        folder / "project", 0, launch="--bind-after 2 --port $PORT", bench="sleep 6; echo score = 5"
    )
    added = []
    for _ in range(times):
        begin = time.monotonic()
        code, out, err = project.ask("run", "baseline")
        added.append(time.monotonic() - begin - 8)
        if code != 0:
            return f"failed with {code}: {out}{err}"
    middle = statistics.median(added)
    return f"{times} runs: {middle:.2f} s added to 8 s, {middle / (8 + middle):.0%} of the wall time"


def main() -> None:
    """Measure one figure and print it."""
    figures = {"latency": (latency, 50), "memory": (memory, 2), "idle": (idle, 10), "overhead": (overhead, 3)}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figure", choices=figures)
    parser.add_argument("--times", type=int)
    options = parser.parse_args()
    measure, usual = figures[options.figure]
    become_subreaper()
    with tempfile.TemporaryDirectory() as folder:
        sys.stdout.write(measure(Path(folder), options.times or usual) + "\n")


if __name__ == "__main__":
    main()

"""What the capture costs: time beside `git status`, bytes in the database, and the sampler's effect on a
benchmark.

`python -m tests.capture.cost [capture|bytes|sampling]…` prints the figures of this machine; they differ with
its load.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from optrack.host.capture import capture_after, capture_before, capture_running
from optrack.host.sampler import Sampler
from optrack.model.events import PartsCaptured
from optrack.model.snapshot import Snapshot
from optrack.store.write import Store
from tests.capture.fake_nvml import Device, FakeNvml
from tests.capture.repositories import SETTINGS, git, new_repository
from tests.capture.world import SALT, World
from tests.record.making import NOON, a_plan, a_run, an_item

ROUNDS = 5


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds that something takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def large_repository(folder: Path, files: int) -> Path:
    """Make a repository of this many small files in folders of a hundred, all committed."""
    folder.mkdir()
    for number in range(files):
        place = folder / f"d{number // 10000}" / f"e{number // 100}"
        if number % 100 == 0:
            place.mkdir(parents=True)
        (place / f"f{number}.py").write_text(f"value = {number}\n")
    new_repository(folder)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    return folder


def cost_of_capture() -> None:
    """Print the time of the captures in a small and a large repository, clean and with changes."""
    with tempfile.TemporaryDirectory() as root:
        world = World(Path(root) / "world")
        with world.running() as (leader, pids):
            for files in (2_000, 80_000):
                repository = large_repository(Path(root) / f"r{files}", files)
                for changed in (False, True):
                    if changed:
                        for number in range(0, 1000, 100):
                            (repository / "d0" / f"e{number // 100}" / f"f{number}.py").write_text(
                                "value = -1\n"
                            )
                        (repository / "new.py").write_text("value = 0\n")
                    measure(repository, leader, pids, files, changed)


def measure(repository: Path, leader: int, pids: list[int], files: int, changed: bool) -> None:
    """Print the median times of one repository, taken in turn."""
    times: dict[str, list[float]] = {"git status": [], "before": [], "running": [], "after": []}
    quiet = {**os.environ, **SETTINGS, "GIT_OPTIONAL_LOCKS": "0"}
    status = ["git", "status", "--porcelain"]
    found: list[Snapshot] = []
    for _ in range(ROUNDS):
        times["git status"].append(
            seconds(
                lambda: subprocess.run(status, cwd=repository, env=quiet, check=True, capture_output=True)
            )
        )
        times["before"].append(
            seconds(
                lambda: found.append(
                    capture_before(
                        project=repository, repo=None, env=dict(os.environ), recipe_env={}, salt=SALT
                    )
                )
            )
        )
        running = lambda: capture_running(pids, leader=leader, recipe_env={}, salt=SALT)  # noqa: E731
        times["running"].append(seconds(running))
        times["after"].append(seconds(lambda: capture_after(found[-1], salt=SALT)))
    state = "11 changes" if changed else "clean"
    medians = ", ".join(f"{name} {statistics.median(values):.3f} s" for name, values in times.items())
    say(f"{files:6} files, {state}: {medians}")


def bytes_stored() -> None:
    """Print how much the database grows with the first run's snapshot, and with later unchanged ones."""
    with tempfile.TemporaryDirectory() as root:
        world = World(Path(root) / "world")
        (world.project / "run.sh").write_text("edited\n" * 500)
        for number in range(300):
            world.package(f"package{number}", f"1.{number}")
        with Store.open(Path(root) / "optrack.db") as store:
            store.sync(a_plan(an_item("1A")), who="ann", at=NOON)
            first = a_run("1A")
            store.claim(first)
            sizes = [size_of(Path(root))]
            for number in range(100):
                run = first if number == 0 else a_run("1A", number, role="baseline", beside=first.id)
                if number:
                    store.claim(run)
                    sizes[-1] = size_of(Path(root))
                world.set(PORT=str(30000 + number), RUN_DIR=f"{root}/runs/{number}")
                snapshot = world.capture()
                if number == 0:
                    say(f"a snapshot as JSON: {len(snapshot.model_dump_json())} bytes")
                store.record(run.id, PartsCaptured.of(snapshot))
                now = size_of(Path(root))
                if number in (0, 1, 99):
                    say(
                        f"run {number + 1}: its snapshot adds {now - sizes[-1]} bytes to the database's content"
                    )
                sizes.append(now)


def size_of(root: Path) -> int:
    """Return the bytes of content in the database: all rows' texts, blobs and numbers, page slack left
    out."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(root / "optrack.db")) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        total = 0
        for name in names:
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
            sums = " + ".join(f'COALESCE(LENGTH(CAST("{column}" AS BLOB)), 0)' for column in columns)
            total += connection.execute(f"SELECT COALESCE(SUM({sums}), 0) FROM {name}").fetchone()[0]
    return total


def cost_of_sampling() -> None:
    """Print a benchmark's time with and without the sampler, in turn, on all cores."""
    burn = "t = 0\nfor i in range(6_000_000): t += i * i % 7\n"
    cores = os.cpu_count() or 1

    def bench() -> float:
        def work() -> None:
            running = [subprocess.Popen([sys.executable, "-c", burn]) for _ in range(cores)]
            for process in running:
                process.wait()

        return seconds(work)

    nvml = FakeNvml(devices=[Device(n) for n in range(8)])
    without, sampled, cost = [], [], []
    bench()
    for number in range(20):
        for with_sampler in (number % 2 == 0, number % 2 == 1):
            if with_sampler:
                with Sampler(library=nvml) as sampler:
                    sampled.append(bench())
                about: dict[str, Any] = sampler.summary().model_dump()["sampling"]
                cost.append(about["cpu_s"] / about["elapsed_s"])
            else:
                without.append(bench())
    relative = statistics.median(sampled) / statistics.median(without) - 1
    pairs = sorted(one / other - 1 for one, other in zip(sampled, without, strict=True))
    say(f"benchmark on {cores} cores, 20 pairs in turn, a sample a second of 8 stand-in GPUs")
    say(
        f"without {statistics.median(without):.3f} s, sampled {statistics.median(sampled):.3f} s: {relative:+.2%}"
    )
    say(f"middle half of the pairs: {pairs[5]:+.2%} to {pairs[14]:+.2%}")
    say(f"the sampler's own CPU time: {statistics.median(cost):.4%} of one core")


FIGURES = {"capture": cost_of_capture, "bytes": bytes_stored, "sampling": cost_of_sampling}


def main() -> None:
    """Print the figures that are named, or all."""
    os.environ.update(SETTINGS)
    for name in sys.argv[1:] or list(FIGURES):
        say(f"# {name}")
        FIGURES[name]()


if __name__ == "__main__":
    main()

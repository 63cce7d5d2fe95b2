"""Ending a server so that the host is as it was (processes gone, port free, GPU memory back), and what a dead run
has left, found by what identifies its own processes."""

from __future__ import annotations

import os
import signal as signals
import time
from collections.abc import Callable, Mapping, Sequence

from optrack.host import proc
from optrack.host.command import DEATH_S, MARKER, POLL_S, Exit, alive, kill_all, send
from optrack.host.gpus import GpuUse, gpu_use
from optrack.host.proc import boot_id, identity_of, is_alive
from optrack.host.supervisor import GRACE_S
from optrack.host.tree import Tree
from optrack.model.run import ProcessId
from optrack.model.value import Frozen

PORT_S = 5.0
BACK_WITHIN_BYTES = 512 * 2**20
MEMORY_POLL_S = 0.2


class Teardown(Frozen):
    """How a server ended: its exit, who had to be killed, and a line for each thing that is left behind."""

    exit: Exit | None
    killed: tuple[ProcessId, ...] = ()
    left: tuple[str, ...] = ()


def tear_down(
    server: Tree,
    *,
    signal: int,
    grace_s: float,
    is_forced: Callable[[], bool],
    port: int | None = None,
    gpus: Sequence[GpuUse] = (),
    within_s: float = 60.0,
) -> Teardown:
    """End the server with all that it started, and see that its port and its GPUs' memory come back.

    So ends whatever else carries the run's marker, a container's processes say. `gpus` is their use
    before the server was started; their memory may take `within_s` seconds to come back.
    """
    stopped = server.stop(signal=signal, grace_s=grace_s, is_forced=is_forced)
    others, alive = end_leftovers(server.run, (), grace_s=0.0)
    remaining = dict.fromkeys((*stopped.left, *alive))
    left = [f"pid {p.pid} ({proc.command_line(p.pid)}) can't be ended" for p in remaining if is_alive(p)]
    if port is not None and not _is_given_back(port):
        left.append(f"port {port} is still held by {proc.describe(port)}")
    left += wait_for_memory(gpus, within_s=within_s, is_forced=is_forced)
    return Teardown(exit=stopped.exit, killed=(*stopped.killed, *others), left=tuple(left))


def _is_given_back(port: int) -> bool:
    deadline = time.monotonic() + PORT_S
    while proc.is_listened(port):
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.05)
    return True


def memory_held(before: Sequence[GpuUse]) -> tuple[str, ...]:
    """Return one line for each GPU that has not got back the memory that was free in `before`."""
    was = {gpu.index: gpu.used_bytes for gpu in before}
    return tuple(
        f"GPU {gpu.index} still holds {(gpu.used_bytes - was[gpu.index]) / 2**30:.1f} GiB"
        + (f" for pids {', '.join(map(str, gpu.pids))}" if gpu.pids else "")
        for gpu in gpu_use(was)
        if gpu.used_bytes > was[gpu.index] + BACK_WITHIN_BYTES
    )


def wait_for_memory(
    before: Sequence[GpuUse], *, within_s: float, is_forced: Callable[[], bool] = lambda: False
) -> tuple[str, ...]:
    """Wait until the GPUs' memory is back as it was; return what is still held after `within_s` seconds."""
    deadline = time.monotonic() + within_s
    while (held := memory_held(before)) and time.monotonic() < deadline and not is_forced():
        time.sleep(MEMORY_POLL_S)
    return held


def leftovers(run: str, recorded: Sequence[ProcessId] = ()) -> tuple[ProcessId, ...]:
    """Return the living processes of a run: the recorded ones, those that carry its marker, those in the
    sessions of recorded ones, and what descends from any of them.

    Never this process or one that it descends from, whatever they carry.
    """
    rows = {pid: row for pid, row in proc.table().items() if not row.is_dead}
    known = {process.pid: process.start_ticks for process in recorded if process.boot_id == boot_id()}
    found = {row.pid for row in rows.values() if _belongs(row, run.encode(), known, rows)}
    spared = _own_ancestors(rows)
    frontier = list(found)
    children: dict[int, list[int]] = {}
    for row in rows.values():
        children.setdefault(row.parent, []).append(row.pid)
    while frontier:
        below = [pid for pid in children.get(frontier.pop(), []) if pid not in found and pid not in spared]
        found.update(below)
        frontier += below
    return tuple(identity_of(rows[pid]) for pid in sorted(found - spared))


def end(processes: Sequence[ProcessId], grace_s: float) -> tuple[ProcessId, ...]:
    """End these very processes: SIGTERM, the grace, SIGKILL. Return those that live on."""
    for process in processes:
        send(process, signals.SIGTERM)
    if not _gone(processes, grace_s):
        kill_all(lambda: alive(processes))
    return alive(processes)


def end_leftovers(
    run: str, recorded: Sequence[ProcessId], grace_s: float
) -> tuple[tuple[ProcessId, ...], tuple[ProcessId, ...]]:
    """End everything a run has left, also what it forks meanwhile.

    Returns those found, and those that live on.
    """
    found = leftovers(run, recorded)
    end(found, grace_s)
    killed, left = kill_all(lambda: leftovers(run, recorded))
    return tuple(dict.fromkeys((*found, *killed))), left


def await_supervisors(
    run: str, recorded: Sequence[ProcessId], supervisors: Sequence[ProcessId]
) -> tuple[ProcessId, ...]:
    """Wait while a dead runner's supervisor ends what is below it; return what it had still to end.

    What it can't end within its grace and the time that a killed process may take is left to `end_leftovers`.
    """
    if not alive(supervisors):
        return ()
    below = leftovers(run, (*recorded, *supervisors))
    _gone(supervisors, GRACE_S + DEATH_S)
    return tuple(process for process in below if process not in supervisors)


def _gone(processes: Sequence[ProcessId], within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while alive(processes):
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_S)
    return True


def _belongs(row: proc.Row, run: bytes, known: Mapping[int, int], rows: Mapping[int, proc.Row]) -> bool:
    if known.get(row.pid) == row.start_ticks:
        return True
    env = proc.environ(row.pid)
    if MARKER.encode() in env:
        return env[MARKER.encode()] == run
    if row.session not in known or row.start_ticks < known[row.session] or b"PATH" in env:
        return False
    leader = rows.get(row.session)
    return leader is None or leader.start_ticks == known[row.session]


def _own_ancestors(rows: Mapping[int, proc.Row]) -> set[int]:
    line: set[int] = set()
    pid = os.getpid()
    while pid in rows and pid not in line:
        line.add(pid)
        pid = rows[pid].parent
    return line

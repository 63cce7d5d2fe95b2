"""What an ended or dead run has left alive, found by what identifies its own processes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence

from optrack.host import proc
from optrack.host.command import DEATH_S, MARKER, POLL_S, alive, kill_all, send
from optrack.host.proc import boot_id, identity_of
from optrack.host.supervisor import GRACE_S
from optrack.model.run import ProcessId


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
        send(process, signal.SIGTERM)
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

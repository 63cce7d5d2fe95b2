"""A program, `supervisor.py PID`: the process above a runner, which ends all that a dead runner leaves.

It is the runner's parent and a subreaper (prctl(2), PR_SET_CHILD_SUBREAPER), and neither can be undone by what
the run starts. The kernel gives a process whose parent has died to its nearest living ancestor that is a
subreaper: the runner while it lives, this process afterwards. So whatever a process does to get lost (fork
twice, call setsid, wipe its environment, set its title, take any name), it descends from here until it ends,
and waitpid(2) says ECHILD when, and only when, nothing is left. What isn't below this process was started by
somebody else, a container daemon say, and never belonged to the run by descent.

It holds nothing that could make it fail: no file, no lock, no import beyond the standard library's smallest. It
has a process group of its own, so that what kills the runner's group spares it; should it be killed itself, the
runner is told by PR_SET_PDEATHSIG and stops with its teardown. Where both are killed in the same moment, the
next command finds what they left by the recorded processes and the marker in their environment.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from types import FrameType

GRACE_S = 5.0
POLL_S = 0.02
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
"""Blocked when this program begins, so that none is lost. The first two are handed on to the runner."""


def main(runner: int) -> int:
    """Wait for the runner's end, end what it leaves unless it ended well, and return its exit code."""
    handle = _pidfd(runner)

    def hand_on(number: int, _frame: FrameType | None) -> None:
        if number in (signal.SIGTERM, signal.SIGINT):
            _signal(handle, runner, number)

    for number in SIGNALS:
        signal.signal(number, hand_on)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    code = _code_of(runner)
    if code != 0:
        _end_all()
    return code


def _code_of(runner: int) -> int:
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == runner:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _end_all() -> None:
    """Ask everything below this process to end, kill what hasn't after the grace, and wait for the last."""
    asked: set[tuple[int, bytes]] = set()
    deadline = time.monotonic() + GRACE_S
    while not _reap():
        is_over = time.monotonic() >= deadline
        for pid, started in _descendants().items():
            if is_over:
                _send(pid, started, signal.SIGKILL)
            elif (pid, started) not in asked:
                asked.add((pid, started))
                _send(pid, started, signal.SIGTERM)
        time.sleep(POLL_S)


def _reap() -> bool:
    """Take note of the children that have ended; return whether there is no child left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return True
    return False


def _descendants() -> dict[int, bytes]:
    """Return the processes below this one by pid, each with its start time in clock ticks (proc(5))."""
    rows: dict[int, list[bytes]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 (pathlib is slow to import)
        if name.isdigit() and (row := _row(int(name))):
            rows[int(name)] = row
    found: dict[int, bytes] = {}
    frontier = {os.getpid()}
    while frontier:
        frontier = {pid for pid, row in rows.items() if int(row[1]) in frontier and pid not in found}
        found |= {pid: rows[pid][19] for pid in frontier}
    return {pid: started for pid, started in found.items() if rows[pid][0] not in b"ZX"}


def _row(pid: int) -> list[bytes]:
    """Return the fields of /proc/PID/stat from the state on; empty if there is no such process."""
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return []
    try:
        text = os.read(descriptor, 1024)
    except OSError:
        return []
    finally:
        os.close(descriptor)
    return text[text.rindex(b")") + 2 :].split()


def _send(pid: int, started: bytes, number: int) -> None:
    """Signal that very process, not one that has been given its number since."""
    handle = _pidfd(pid)
    row = _row(pid)
    if row and row[19] == started:
        _signal(handle, pid, number)
    if handle is not None:
        os.close(handle)


def _pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def _signal(handle: int | None, pid: int, number: int) -> None:
    try:
        if handle is None:
            os.kill(pid, number)
        else:
            signal.pidfd_send_signal(handle, number)
    except OSError:
        pass


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))

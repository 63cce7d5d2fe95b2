"""Ending processes: signals that reach the very process meant, and killing until none is left."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable

from optrack.core.run import ProcessId
from optrack.steps.process.identity import identity, is_alive

POLL_S = 0.02
DEATH_S = 10.0
"""How long a killed process may take to go: one that waits on a device can't be killed before it returns."""


def pidfd(pid: int) -> int | None:
    """Return a descriptor that stands for the process (pidfd_open(2)); None where the kernel has none."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        return None


def send(process: ProcessId, number: int) -> bool:
    """Send a signal to that very process; False if it is gone, or isn't ours to signal."""
    handle = pidfd(process.pid)
    try:
        if identity(process.pid) != process:
            return False
        if handle is None:
            os.kill(process.pid, number)
        else:
            signal.pidfd_send_signal(handle, number)
    except OSError:
        return False
    finally:
        if handle is not None:
            os.close(handle)
    return True


def alive(processes: Iterable[ProcessId]) -> tuple[ProcessId, ...]:
    """Return those that live."""
    return tuple(process for process in processes if is_alive(process))


def kill_all(
    members: Callable[[], Iterable[ProcessId]], *, wait_s: float = DEATH_S
) -> tuple[tuple[ProcessId, ...], tuple[ProcessId, ...]]:
    """Kill whatever `members` finds until it finds nothing, so that no fork slips through.

    Returns those that were killed, and those that live on after `wait_s` seconds.
    """
    killed: dict[ProcessId, None] = {}
    deadline = time.monotonic() + wait_s
    while True:
        remaining = tuple(members())
        for process in remaining:
            if send(process, signal.SIGKILL):
                killed[process] = None
        if not remaining or time.monotonic() >= deadline:
            return tuple(killed), remaining
        time.sleep(POLL_S)

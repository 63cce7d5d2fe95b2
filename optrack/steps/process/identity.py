"""Who a process is beyond its number, which the kernel gives away again: start time and boot."""

from __future__ import annotations

import functools
import os
from pathlib import Path

from optrack.core.run import ProcessId
from optrack.steps.process import proc


@functools.cache
def boot_id() -> str:
    """Return the id of this boot and, since each counts for itself, of this pid namespace."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    try:
        namespace = Path("/proc/self/ns/pid").readlink().name.strip("pid:[]")
    except OSError:
        return boot
    return f"{boot}/{namespace}"


def identity(pid: int) -> ProcessId | None:
    """Return the identity of a living process, or None if there is none with that number."""
    found = proc.row(pid)
    return None if found is None or found.is_dead else identity_of(found)


def own_identity() -> ProcessId:
    """Return the identity of this process."""
    found = identity(os.getpid())
    assert found is not None
    return found


def identity_of(row: proc.Row) -> ProcessId:
    """Return the identity of a process of the table."""
    return ProcessId(pid=row.pid, start_ticks=row.start_ticks, boot_id=boot_id())


def is_alive(process: ProcessId) -> bool:
    """Whether that very process lives: not one that has been given its number since, nor a zombie."""
    return identity(process.pid) == process

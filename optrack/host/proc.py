"""Processes as /proc shows them (proc(5)): rows, identities, and who listens on which port."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from optrack.model.run import ProcessId

PROC = Path("/proc")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Row(NamedTuple):
    """One process as the kernel lists it; `start_ticks` counts clock ticks since the boot."""

    pid: int
    state: str
    parent: int
    group: int
    session: int
    start_ticks: int

    @property
    def is_dead(self) -> bool:
        """Whether it has ended and only waits to be reaped, with none of its threads left."""
        return self.state in "ZX" and not _has_threads_left(self.pid)


def row(pid: int) -> Row | None:
    """Return the row of `pid`, or None if there is no such process."""
    fields = _stat(pid)
    if not fields:
        return None
    return Row(pid, fields[0].decode(), *map(int, (fields[1], fields[2], fields[3], fields[19])))


def table() -> dict[int, Row]:
    """Return every process of the machine by its pid. Costs about 20 microseconds a process."""
    rows: dict[int, Row] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (found := row(int(entry.name))) is not None:
            rows[found.pid] = found
    return rows


def environ(pid: int) -> dict[bytes, bytes]:
    """Return the environment that `pid` was started with; empty if it can't be read or was overwritten."""
    try:
        data = (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return {}
    found: dict[bytes, bytes] = {}
    for entry in data.split(b"\0"):
        name, equals, value = entry.partition(b"=")
        if equals:
            found[name] = value
    return found


def command_line(pid: int) -> str:
    """Return the command line of `pid` for people to read; its short name if it has none."""
    import psutil

    try:
        process = psutil.Process(pid)
        line = " ".join(process.cmdline()) or process.name()
    except psutil.Error:
        return "?"
    return line if len(line) <= 120 else f"{line[:119]}…"


def program(pid: int) -> str:
    """Return the file name of the program that `pid` executes, or an empty text."""
    import psutil

    try:
        return Path(psutil.Process(pid).exe()).name
    except psutil.Error:
        return ""


def _stat(pid: int) -> list[bytes]:
    """Return the fields of the process from its state on, numbered from 0; empty if there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:  # noqa: PTH123
            text = file.read(1024)
    except OSError:
        return []
    return text[text.rindex(b")") + 2 :].split()


def _has_threads_left(pid: int) -> bool:
    try:
        return sum(1 for _ in (PROC / str(pid) / "task").iterdir()) > 1
    except OSError:
        return False


def age_s(row: Row) -> float:
    """Return for how many seconds the process has lived."""
    now = time.clock_gettime(time.CLOCK_BOOTTIME)
    return now - row.start_ticks / _TICKS_PER_S


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
    found = row(pid)
    return None if found is None or found.is_dead else identity_of(found)


def own_identity() -> ProcessId:
    """Return the identity of this process."""
    found = identity(os.getpid())
    assert found is not None
    return found


def identity_of(row: Row) -> ProcessId:
    """Return the identity of a process of the table."""
    return ProcessId(pid=row.pid, start_ticks=row.start_ticks, boot_id=boot_id())


def is_alive(process: ProcessId) -> bool:
    """Whether that very process lives: not one that has been given its number since, nor a zombie."""
    return identity(process.pid) == process


_LISTEN = "0A"


def listeners() -> dict[str, int]:
    """Return the listening TCP sockets of this network namespace: inode -> port."""
    found: dict[str, int] = {}
    for name in ("tcp", "tcp6"):
        try:
            lines = (PROC / "net" / name).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == _LISTEN:
                found[fields[9]] = int(fields[1].rsplit(":", 1)[1], 16)
    return found


def is_listened(port: int) -> bool:
    """Whether any process listens on the port."""
    return port in listeners().values()


def holders(port: int, pids: Iterable[int] | None = None) -> tuple[int, ...]:
    """Return the pids, of all processes or of those given, that hold a listening socket on the port.

    The processes of other users can't be looked into: a listened port without holders is one of theirs.
    """
    inodes = {inode for inode, at in listeners().items() if at == port}
    if not inodes:
        return ()
    among = sorted(pids) if pids is not None else sorted(table())
    return tuple(pid for pid in among if inodes & sockets_of(pid))


def are_held_by(port: int, pids: Iterable[int]) -> bool:
    """Whether the port is listened on, and each socket that does is held by one of the given processes."""
    inodes = {inode for inode, at in listeners().items() if at == port}
    return bool(inodes) and inodes <= {inode for pid in pids for inode in sockets_of(pid)}


def ports_of(pids: Iterable[int]) -> tuple[int, ...]:
    """Return the ports on which the given processes listen."""
    at = listeners()
    held = {inode for pid in pids for inode in sockets_of(pid)}
    return tuple(sorted({port for inode, port in at.items() if inode in held}))


def describe(port: int) -> str:
    """Say who listens on the port: `pid 123 (python server.py)`, or that it can't be seen."""
    pids = holders(port)
    if not pids:
        return "a process that can't be seen from here (another user's, or a container's)"
    return ", ".join(f"pid {pid} ({command_line(pid)})" for pid in pids[:3])


def sockets_of(pid: int) -> set[str]:
    """Return the inodes of the sockets that a process holds; empty where it can't be looked into."""
    found: set[str] = set()
    try:
        for link in (PROC / str(pid) / "fd").iterdir():
            target = _target(link)
            if target.startswith("socket:["):
                found.add(target[8:-1])
    except OSError:
        return found
    return found


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""

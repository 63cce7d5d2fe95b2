"""Who listens on which TCP port, read from `/proc/net/tcp` and the descriptors of processes (proc(5))."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from optrack.steps.process import proc

_LISTEN = "0A"


def listeners() -> dict[str, int]:
    """Return the listening TCP sockets of this network namespace: inode -> port."""
    found: dict[str, int] = {}
    for name in ("tcp", "tcp6"):
        try:
            lines = (proc.PROC / "net" / name).read_text(encoding="ascii").splitlines()[1:]
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
    among = sorted(pids) if pids is not None else sorted(proc.table())
    return tuple(pid for pid in among if inodes & _sockets_of(pid))


def are_held_by(port: int, pids: Iterable[int]) -> bool:
    """Whether the port is listened on, and each socket that does is held by one of the given processes."""
    inodes = {inode for inode, at in listeners().items() if at == port}
    return bool(inodes) and inodes <= {inode for pid in pids for inode in _sockets_of(pid)}


def ports_of(pids: Iterable[int]) -> tuple[int, ...]:
    """Return the ports on which the given processes listen."""
    at = listeners()
    held = {inode for pid in pids for inode in _sockets_of(pid)}
    return tuple(sorted({port for inode, port in at.items() if inode in held}))


def describe(port: int) -> str:
    """Say who listens on the port: `pid 123 (python server.py)`, or that it can't be seen."""
    pids = holders(port)
    if not pids:
        return "a process that can't be seen from here (another user's, or a container's)"
    return ", ".join(f"pid {pid} ({proc.command_line(pid)})" for pid in pids[:3])


def _sockets_of(pid: int) -> set[str]:
    found: set[str] = set()
    try:
        for link in (proc.PROC / str(pid) / "fd").iterdir():
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

"""Whether a benchmark pass reached the server: connections as /proc/net shows them (proc(5)), and CPU time.

A TCP connection of this host stands in the table twice, once for each end; an end that is closed has no socket's inode
any more, but stays in the table for a minute (TIME_WAIT), so that even a pass of a few milliseconds leaves a trace.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from optrack.host import proc
from optrack.model.run import ProcessId

LOOK_EVERY_S = 0.05
_LISTEN = "0A"
_SHARE = 0.02
"""The share of one CPU that looking may take."""
_IDLE_S = 0.001
_IDLE_SHARE = 0.002
"""A server that nobody asks uses less CPU time than this, and this share of the time that passes."""


class Reached(NamedTuple):
    """Whether a pass reached the server, None where that can't be told, and why it isn't so or can't be told."""

    is_so: bool | None
    why: str = ""


class _Socket(NamedTuple):
    local: str
    local_port: int
    remote: str
    remote_port: int
    state: str
    inode: str


@dataclass
class Reach:
    """What is seen of one benchmark pass, from its making on. `server` gives the server's processes, `port` is the
    one that it was told to listen on, `bench` gives the pass's pids; `look` is to be called while it runs."""

    server: Callable[[], Iterable[ProcessId]]
    port: int
    bench: Callable[[], Iterable[int]]
    _elsewhere: dict[int, None] = field(default_factory=dict)
    _closed_elsewhere: dict[int, None] = field(default_factory=dict)
    _is_reached: bool = False
    _cost_s: float = 0.0

    def __post_init__(self) -> None:
        self._began = self._looked = time.monotonic()
        self._pids = {process.pid for process in self.server()}
        self._tables = _tables(self._pids)
        sockets = self._sockets()
        self._ports = self._server_ports(sockets)
        self._before = {_ends(s) for s in sockets if s.state != _LISTEN}
        self._cpu_s = _cpu_s(self._pids)
        self._opened = _passive_opens()

    def look(self) -> None:
        """Look at the connections now, unless it is known already that the server was reached, or too early."""
        now = time.monotonic()
        pause = max(LOOK_EVERY_S, self._cost_s / _SHARE, 0.02 * (now - self._began))
        if self._is_reached or now - self._looked < pause:
            return
        begin = time.thread_time()
        self._see(self._sockets())
        self._looked, self._cost_s = now, time.thread_time() - begin

    def result(self) -> Reached:
        """Return what the whole pass shows, once it has ended."""
        if not self._is_reached:
            self._see(self._sockets())
        if self._is_reached:
            return Reached(True)
        cpu_s = _cpu_s({process.pid for process in self.server()} | self._pids)
        if self._elsewhere:
            why = f"it talked to {_ports(self._elsewhere)}, not to port {self._own()}"
            return Reached(False, f"{_NOT_REACHED}: {why}")
        if cpu_s is None or self._cpu_s is None:
            return Reached(
                None, f"no connection to port {self._own()} was seen, and the server can't be looked into"
            )
        passed = time.monotonic() - self._began
        if cpu_s - self._cpu_s > _IDLE_S + _IDLE_SHARE * passed:
            return Reached(True)
        if cpu_s > self._cpu_s and _passive_opens() > self._opened:
            return Reached(True)  # a client that resets its connection leaves it in no table
        if not self._ports:
            return Reached(
                None, "the server listens on no port, so nobody can see whether the benchmark asked it"
            )
        why = f"nothing connected to port {self._own()} while it ran"
        but = f", but to {_ports(self._closed_elsewhere)}" if self._closed_elsewhere else ""
        return Reached(False, f"{_NOT_REACHED}: {why}{but}")

    def _see(self, sockets: list[_Socket]) -> None:
        own = {inode for pid in self._pids for inode in proc.sockets_of(pid)}
        bench = {inode for pid in self.bench() for inode in proc.sockets_of(pid)} - own
        listened = {s.local_port for s in sockets if s.state == _LISTEN}
        theirs = {s.local_port for s in sockets if s.state == _LISTEN and s.inode in bench}
        connected = {(s.local_port, s.remote_port) for s in sockets}
        for one in sockets:
            if self._is_of_server(one):
                is_closed = one.inode == "0" and _ends(one) not in self._before
                is_client = one.inode not in own | {"0"} and one.remote_port in self._ports
                is_from_afar = one.inode in own and (one.remote_port, one.local_port) not in connected
                self._is_reached |= is_closed or is_client or is_from_afar
            elif one.inode in bench and one.remote_port in listened - theirs:
                self._elsewhere.setdefault(one.remote_port)
            elif one.inode == "0" and _ends(one) not in self._before:
                for port in (listened - theirs) & {one.local_port, one.remote_port}:
                    self._closed_elsewhere.setdefault(port)

    def _is_of_server(self, one: _Socket) -> bool:
        return one.state != _LISTEN and not self._ports.isdisjoint((one.local_port, one.remote_port))

    def _server_ports(self, sockets: list[_Socket]) -> set[int]:
        own = {inode for pid in self._pids for inode in proc.sockets_of(pid)}
        listening = [s for s in sockets if s.state == _LISTEN]
        return {s.local_port for s in listening if s.inode in own or s.local_port == self.port}

    def _sockets(self) -> list[_Socket]:
        return [one for table in self._tables for one in _read(table)]

    def _own(self) -> str:
        ports = sorted(self._ports)
        return str(self.port) if self.port in ports or not ports else " or ".join(map(str, ports[:3]))


_NOT_REACHED = "the benchmark did not talk to the server that was started"


def _ports(ports: Iterable[int]) -> str:
    return " and ".join(f"port {port} ({proc.describe(port)})" for port in list(ports)[:3])


def _tables(pids: Iterable[int]) -> list[Path]:
    """Return the tables of this network namespace, and of those others that the server's processes are in."""
    folders = {_namespace(proc.PROC / "self"): proc.PROC / "self"}
    for pid in pids:
        folder = proc.PROC / str(pid)
        if name := _namespace(folder):
            folders.setdefault(name, folder)
    return [folder / "net" / name for folder in folders.values() for name in ("tcp", "tcp6")]


def _passive_opens() -> int:
    """Return how many connections this network namespace has accepted since it was made (RFC 4022)."""
    try:
        names, values = (
            line.split()
            for line in (proc.PROC / "net/snmp").read_text(encoding="ascii").splitlines()
            if line.startswith("Tcp:")
        )
        return int(values[names.index("PassiveOpens")])
    except (OSError, ValueError, IndexError):
        return 0


def _namespace(folder: Path) -> str:
    try:
        return str((folder / "ns/net").readlink())
    except OSError:
        return ""


def _read(table: Path) -> Iterator[_Socket]:
    try:
        lines = table.read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return
    for line in lines:
        words = line.split()
        local, remote = words[1], words[2]
        ports = int(local[-4:], 16), int(remote[-4:], 16)
        yield _Socket(local, ports[0], remote, ports[1], words[3], words[9])


def _ends(one: _Socket) -> tuple[str, str]:
    return one.local, one.remote


def _cpu_s(pids: Iterable[int]) -> float | None:
    """Return the CPU time that these processes have used, None if none of them can be looked into."""
    found = [used for pid in pids if (used := _used_s(pid)) is not None]
    return sum(found) if found else None


def _used_s(pid: int) -> float | None:
    try:
        return sum(_task_s(task) for task in (proc.PROC / str(pid) / "task").iterdir())
    except OSError:
        return None


def _task_s(task: Path) -> float:
    try:
        return int((task / "schedstat").read_text(encoding="ascii").split()[0]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0

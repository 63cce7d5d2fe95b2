"""The processes of a tree as they were while they lived, looked at by a thread: often at first, then ever less."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

from optrack.host.libraries import mapped
from optrack.host.limits import allowances
from optrack.host.process_tree import Member, read_bytes, read_link, read_tree

_MOST_OBSERVED = 64
"""A start that makes more processes compiles something; its workers come first."""

_SHORTEST_PAUSE_S = 0.002
_LONGEST_PAUSE_S = 1.0
_DENSE_S = 0.1
"""While a tree is younger, looking at it may cost a tenth of one core, afterwards a hundredth."""

_BRIEF_S = 0.015
"""A process that was seen for less time may go unseen at the next start."""

_MAPS_AT_S = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 60.0)
"""At these ages of a process the files that it has mapped are read: a library is loaded once, and stays."""


@dataclass
class _Observed:
    """A process with the seconds when it was seen first and last, and how often its mapped files were read."""

    member: Member
    first_s: float
    last_s: float
    argv: bytes = b""
    maps_read: int = 0


class TreeObserver:
    """The processes of a tree: one that has ended can still be told of, and what each was executed with stands,
    whatever it writes over its own memory later.

    The first process that it is told of is the leader; what descends from that it finds by itself, and `look` tells
    it of what was found otherwise. Looking is cheap and grows seldom, so that no benchmark shows it.
    """

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self._observed: dict[int, _Observed] = {}
        self._leader: int | None = None
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def look(self, pid: int) -> None:
        """Look at a process of the tree; the first is the leader."""
        with self._lock:
            if self._leader is None:
                self._leader = pid
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()
            self._see({pid})

    def stop(self) -> None:
        """Look once more, if anything lives, and then no more."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(1.0)
            with self._lock:
                self._see(set(), at_last=True)
            self._thread = None

    @property
    def members(self) -> list[Member]:
        """The processes in the order of their appearance, each as it was seen last."""
        with self._lock:
            return [
                replace(seen.member, brief=seen.last_s - seen.first_s < _BRIEF_S)
                for seen in self._observed.values()
            ]

    @property
    def by_pid(self) -> dict[int, Member]:
        """The same by their process ids."""
        return {member.pid: member for member in self.members}

    @property
    def lasting(self) -> list[Member]:
        """The programs, shells and helpers left out, that lived for at least half as long as the longest did; those
        are the ones that do the work of a command."""
        with self._lock:
            spans = {pid: seen.last_s - seen.first_s for pid, seen in self._observed.items()}
            programs = [
                s.member for s in self._observed.values() if not s.member.shell and not s.member.helper
            ]
        longest = max((spans[member.pid] for member in programs), default=0.0)
        return [member for member in programs if 2 * spans[member.pid] >= longest]

    def _run(self) -> None:
        begin = time.monotonic()
        cost = 0.0
        while not self._stopped.wait(_pause(time.monotonic() - begin, cost)):
            start = time.thread_time()
            with self._lock:
                self._see(set())
            cost = time.thread_time() - start

    def _see(self, more: set[int], *, at_last: bool = False) -> None:
        """Read what is new of the tree's processes: other programs, other titles, what was mapped since."""
        assert self._leader is not None
        pids = {*self._observed, *more, *self._descendants()}
        known = {pid: seen.member for pid, seen in self._observed.items()}
        fresh = {pid for pid in pids if pid in more or self._has_changed(pid)}
        now = time.monotonic()
        for member in read_tree(fresh & pids, self._leader, self._proc, known) if fresh else ():
            seen = self._observed.get(member.pid)
            if seen is not None:
                again = seen.member.image == member.image and seen.member.executable == member.executable
                if not again:
                    seen.first_s, seen.maps_read = now, 0
                if member.environ is not None or not again:
                    seen.member = self._with_allowances(member)
            elif len(self._observed) < _MOST_OBSERVED:
                argv = self._argv(member.pid) or b""
                self._observed[member.pid] = _Observed(self._with_allowances(member), now, now, argv)
        for pid, seen in self._observed.items():
            if read_link(self._proc / str(pid) / "exe") is not None:
                seen.last_s = now
                self._read_maps(seen, math.inf if at_last else now - seen.first_s)

    def _has_changed(self, pid: int) -> bool:
        """Whether a process is new or runs another command line than at the last look."""
        seen, argv = self._observed.get(pid), self._argv(pid)
        if argv is None:
            return False
        if seen is None:
            return True
        changed, seen.argv = seen.argv != argv or not seen.member.environ, argv
        return changed

    def _argv(self, pid: int) -> bytes | None:
        return read_bytes(self._proc / str(pid) / "cmdline") or None

    def _with_allowances(self, member: Member) -> Member:
        return replace(member, allowed=allowances([member.pid], proc=self._proc, policy=False))

    def _read_maps(self, seen: _Observed, age_s: float) -> None:
        due = sum(age_s >= at for at in _MAPS_AT_S)
        if due > seen.maps_read and not seen.member.shell:
            seen.maps_read = due
            files = dict.fromkeys(
                (*(seen.member.mapped or ()), *mapped(self._proc / str(seen.member.pid) / "maps"))
            )
            seen.member = replace(seen.member, mapped=tuple(files))

    def _descendants(self) -> set[int]:
        """Return the processes that descend from the leader, as the kernel lists children by thread (proc(5))."""
        found: set[int] = set()
        frontier = [self._leader]
        while frontier:
            tasks = self._proc / str(frontier.pop()) / "task"
            try:
                lists = [read_bytes(thread / "children") or b"" for thread in tasks.iterdir()]
            except OSError:
                continue
            below = {int(pid) for text in lists for pid in text.split()} - found
            found |= below
            frontier += below
        return found


def _pause(age_s: float, cost_s: float) -> float:
    dear = cost_s * (10 if age_s < _DENSE_S else 100)
    return max(_SHORTEST_PAUSE_S, min(age_s / 10, _LONGEST_PAUSE_S), dear)

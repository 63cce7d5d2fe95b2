"""A command with all that descends from it: followed while it lives, and ended without leaving anything."""

from __future__ import annotations

import os
import select
import signal as signals
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Mapping

from optrack.host import logs, proc
from optrack.host.command import POLL_S, TREE, Command, Exit, alive, exit_of, kill_all, pidfd, send, spawn
from optrack.host.proc import identity_of, is_alive
from optrack.model.run import ProcessId
from optrack.model.value import Frozen

SETTLE_S = 3.0
"""How long the rest of a tree may take to end once those that were asked to stop have gone."""

LONGEST_PAUSE_S = 1.0
"""How long a process may go unseen: one that changes all that tells whose it is before that is lost."""

SHELLS = frozenset({"bash", "sh", "dash", "zsh", "ksh", "busybox"})
PIPE_ENDS = frozenset({"tee", "cat", "ts", "sed", "awk", "gawk", "mawk", "grep"})

_trees: list[Tree] = []
"""The trees that this process has started and not yet stopped, the oldest first."""

_starting = threading.RLock()
"""Held while a command is started, and while orphans are reaped: a child may have ended, and be seen by
another thread that looks for orphans, before it is known as a tree's leader."""


class Stopped(Frozen):
    """How a tree ended: the leader's exit, who had to be killed, and who lives on in spite of it."""

    exit: Exit | None
    killed: tuple[ProcessId, ...] = ()
    left: tuple[ProcessId, ...] = ()


class Tree:
    """A running command and its descendants.

    A process belongs to the tree if it descends from the leader, is in its session, carries the tree's
    marker in its environment, or ever did one of these. With `become_subreaper`, orphans of the tree
    become children of this process, so that even those which lost their marker are found. `log_start` is
    the end that the log had before: what the command writes begins there.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        *,
        run: str,
        token: str,
        log_start: logs.Mark = logs.START,
        on_new: Callable[[ProcessId], None] | None = None,
    ) -> None:
        self.run = run
        self.log_start = log_start
        self.started = time.monotonic()
        self._process = process
        self._token = token.encode()
        self._on_new = on_new
        self._known: dict[int, int] = {}
        self._unrelated: set[tuple[int, int]] = set()
        self._seen: tuple[ProcessId, ...] = ()
        self._scanned = 0.0
        self._cost_s = 0.0
        row = proc.row(process.pid)
        assert row is not None  # it is our child and hasn't been reaped
        self.leader = identity_of(row)
        self._take(row)
        self._handle = pidfd(process.pid)
        _trees.append(self)

    def poll(self) -> Exit | None:
        """Return how the leader ended, or None while it runs."""
        code = self._process.poll()
        return None if code is None else exit_of(code)

    def wait(self, seconds: float) -> Exit | None:
        """Wait until the leader ends, at most so many seconds; return how it ended, or None."""
        if self.poll() is None and seconds > 0:
            if self._handle is None:
                time.sleep(min(seconds, POLL_S))
            else:
                poller = select.poll()
                poller.register(self._handle, select.POLLIN)
                poller.poll(seconds * 1000)
        return self.poll()

    def knows(self, row: proc.Row) -> bool:
        """Whether the process was seen in this tree before."""
        return self._known.get(row.pid) == row.start_ticks

    def ended(self) -> Exit | None:
        """Return how the command ended, or None while it lives.

        A leader that exits with 0 and leaves processes behind has put its server into the background:
        the command lives as long as one of them.
        """
        exit_ = self.poll()
        if exit_ is None or not exit_.ok:
            return exit_
        return None if any(map(is_alive, self._seen)) or self.track() else exit_

    def track(self) -> tuple[ProcessId, ...]:
        """Look for the tree's processes now, and return those that live."""
        begin = time.thread_time()
        rows = {row.pid: row for row in proc.table().values() if not _reaped(row)}
        members = self._members(rows)
        for row in members:
            self._take(row)
        self._scanned = time.monotonic()
        self._cost_s = time.thread_time() - begin
        self._seen = tuple(identity_of(row) for row in members)
        return self._seen

    def refresh(self) -> None:
        """Track again if that is due: seldom enough to use 2% of one core, but every second at the least."""
        if time.monotonic() - self._scanned >= min(max(0.2, 50 * self._cost_s), LONGEST_PAUSE_S):
            self.track()

    def listening(self, port: int) -> bool:
        """Whether a process of the tree listens on the TCP port."""
        return bool(proc.holders(port, {process.pid for process in self.track()}))

    def holds(self, port: int) -> bool:
        """Whether the port is listened on by the tree's processes and by nobody else."""
        return proc.are_held_by(port, {process.pid for process in self.track()})

    def ports(self) -> tuple[int, ...]:
        """Return the TCP ports on which the tree's processes listen."""
        return proc.ports_of({process.pid for process in self.track()})

    def stop(self, *, signal: int, grace_s: float, is_forced: Callable[[], bool] = lambda: False) -> Stopped:
        """End the whole tree: the signal to its main processes, the grace, then killing what remains.

        The members are listed before the first signal, since a parent that exits takes the way to its
        children with it. `is_forced` is asked while waiting; once it says True the grace is over.
        """
        members = self.track()
        for process in self._main(members):
            send(process, signal)
        members = self._await(members, grace_s, is_forced)
        killed: tuple[ProcessId, ...] = ()
        left: tuple[ProcessId, ...] = ()
        if members:
            killed, left = kill_all(self.track)
        exit_ = self.wait(1.0)
        self.close()
        return Stopped(exit=exit_, killed=killed, left=left)

    def close(self) -> None:
        """Forget the tree: its processes are no longer followed."""
        if self in _trees:
            _trees.remove(self)
            if self._handle is not None:
                os.close(self._handle)

    def _await(
        self, members: tuple[ProcessId, ...], grace_s: float, is_forced: Callable[[], bool]
    ) -> tuple[ProcessId, ...]:
        deadline = time.monotonic() + grace_s
        asked = {process.pid for process in self._main(members)}
        orphaned = False
        while members and time.monotonic() < deadline and not is_forced():
            self.wait(POLL_S) if self.poll() is None else time.sleep(POLL_S)
            self.refresh()
            members = alive(self._seen) or self.track()
            if not orphaned and not asked & {process.pid for process in members}:
                orphaned = True
                deadline = min(deadline, time.monotonic() + SETTLE_S)
                for process in members:
                    send(process, signals.SIGTERM)
        return members

    def _main(self, members: tuple[ProcessId, ...]) -> tuple[ProcessId, ...]:
        """Return the processes to ask for a graceful end: below the shells that only wait for them."""
        rows = {process.pid: row for process in members if (row := proc.row(process.pid)) is not None}
        by_pid = {process.pid: process for process in members}
        children: dict[int, list[int]] = {}
        for row in rows.values():
            children.setdefault(row.parent, []).append(row.pid)
        tops = (
            [self.leader.pid] if self.leader.pid in rows else [p for p in rows if rows[p].parent not in rows]
        )
        found: list[int] = []
        while tops:
            pid = tops.pop()
            below = children.get(pid, [])
            if below and proc.program(pid) in SHELLS:
                tops += below
            else:
                found.append(pid)
        servers = [pid for pid in found if proc.program(pid) not in PIPE_ENDS] or found
        return tuple(by_pid[pid] for pid in servers)

    def _members(self, rows: Mapping[int, proc.Row]) -> list[proc.Row]:
        found = {row.pid for row in rows.values() if self._is_ours(row)}
        children: dict[int, list[int]] = {}
        for row in rows.values():
            children.setdefault(row.parent, []).append(row.pid)
        frontier = list(found)
        while frontier:
            below = [pid for pid in children.get(frontier.pop(), []) if pid not in found]
            found.update(below)
            frontier += below
        return [rows[pid] for pid in found if not rows[pid].is_dead]

    def _is_ours(self, row: proc.Row) -> bool:
        if self.knows(row) or row.session == self.leader.pid:
            return True
        if row.pid == os.getpid() or (row.pid, row.start_ticks) in self._unrelated:
            return False
        token = proc.environ(row.pid).get(TREE.encode())
        if token is None and _is_orphan(row):
            return _trees[:1] == [self]
        if token != self._token and proc.age_s(row) > 1.0:
            self._unrelated.add((row.pid, row.start_ticks))
        return token == self._token

    def _take(self, row: proc.Row) -> None:
        if not self.knows(row):
            self._known[row.pid] = row.start_ticks
            if self._on_new is not None:
                self._on_new(identity_of(row))


def _is_orphan(row: proc.Row) -> bool:
    """Whether this process has inherited that one: its child, started by none of its own means.

    What this process starts otherwise stays in its session, which an orphan of a tree can't enter.
    """
    return (
        row.parent == os.getpid()
        and row.session != os.getsid(0)
        and all(row.pid != tree.leader.pid for tree in _trees)
        and not any(tree.knows(row) for tree in _trees)
    )


def _reaped(row: proc.Row) -> bool:
    """Reap an inherited orphan that has ended; False if it lives or somebody else has to reap it."""
    if row.parent != os.getpid() or row.session == os.getsid(0) or not row.is_dead:
        return False
    with _starting:
        if any(row.pid == tree.leader.pid for tree in _trees):
            return False
        try:
            os.waitpid(row.pid, os.WNOHANG)
        except OSError:
            return False
    return True


def start(command: Command, *, run: str, on_new: Callable[[ProcessId], None] | None = None) -> Tree:
    """Start a command as a tree; `on_new` hears of each process of it once, the leader first."""
    token = uuid.uuid4().hex[:16]
    begin = logs.mark(command.log)
    with _starting:
        process = spawn(command, run=run, tree=token)
        return Tree(process, run=run, token=token, log_start=begin, on_new=on_new)

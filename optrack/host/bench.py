"""Commands run to their end, and one benchmark pass: the server is watched, what it wrote handed to the parser."""

from __future__ import annotations

import hashlib
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from optrack.host import logs
from optrack.host.command import Command, Exit
from optrack.host.launch import breached, command_failed, interrupted, not_started, server_ended, stage_failed
from optrack.host.logs import Limits, LogGuard, Mark
from optrack.host.reach import Reach
from optrack.host.regular import is_regular, open_regular, problem_of
from optrack.host.stretch import Stretch
from optrack.host.tree import Tree, start
from optrack.model.run import ProcessId, Stage

LOOK_EVERY_S = 0.05
GRACE_S = 5.0


class CommandTimeoutError(Exception):
    """The command didn't end within its time and was ended; `timeout_s` is that time."""

    def __init__(self, timeout_s: float) -> None:
        super().__init__(f"not done after {timeout_s:g} s")
        self.timeout_s = timeout_s


def run_to_end(
    command: Command,
    *,
    run: str,
    timeout_s: float,
    watch: Callable[[], None] = lambda: None,
    is_forced: Callable[[], bool] = lambda: False,
    on_new: Callable[[ProcessId], None] | None = None,
    keep_background: bool = False,
) -> Exit:
    """Run a command to its end and return how it ended.

    `watch` is called at least every 50 ms and may raise, which ends the command at once; it then has 5 s to go
    by itself, or less once `is_forced` says True. What the command leaves in the background is ended with it, unless
    `keep_background` leaves it for the run's end. Raises CommandTimeoutError.
    """
    tree = start(command, run=run, on_new=on_new)
    deadline = tree.started + timeout_s
    done = False
    try:
        while (exit_ := tree.wait(LOOK_EVERY_S)) is None:
            watch()
            tree.refresh()
            if time.monotonic() >= deadline:
                raise CommandTimeoutError(timeout_s)
        done = True
        return exit_
    finally:
        if done and keep_background:
            tree.track()
            tree.close()
        else:
            tree.stop(signal=signal.SIGTERM, grace_s=GRACE_S, is_forced=is_forced)


class Bench(Protocol):
    """A benchmark's command: shell text, variables beside the environment's, and the file it writes."""

    @property
    def shell(self) -> str: ...
    @property
    def env(self) -> Mapping[str, str]: ...
    @property
    def output(self) -> Path | None: ...


def run_bench(
    command: Bench,
    *,
    cwd: Path,
    log: Path,
    server: Tree | None,
    timeout_s: float,
    run: str,
    should_stop: Callable[[], bool],
    is_forced: Callable[[], bool] = lambda: False,
    env: Mapping[str, str] | None = None,
    server_log: Path | None = None,
    limits: Limits | None = None,
    stage: Stage = "bench",
    on_new: Callable[[ProcessId], None] | None = None,
    reach: Reach | None = None,
) -> Stretch:
    """Run one pass; return what its parser is to read: what it printed, or what it added to its output file.

    The server's death ends the pass at once. Raises StageFailed: an exit code that isn't 0, the server's
    death, a time-out, a limit, `should_stop`, or an output file that the pass didn't write. A pass that is ended
    gets 5 s to go by itself, until `is_forced` says True. `reach` is shown its connections.
    """
    begin = logs.mark(log)
    before = _Before.of(cwd / command.output) if command.output is not None else None
    watch = _Watch(stage, log, begin, server, server_log, limits or Limits(), should_stop)
    whole = {**(env or {}), **command.env}
    bench = Command(shell=command.shell, env=whole, cwd=cwd, log=log)

    def look() -> None:
        watch.check()
        if reach is not None:
            reach.look()

    try:
        exit_ = run_to_end(
            bench, run=run, timeout_s=timeout_s, watch=look, is_forced=is_forced, on_new=on_new
        )
    except CommandTimeoutError as error:
        raise stage_failed(stage, "timed_out", str(error), log, start=begin, outcome="timed_out") from error
    except (OSError, ValueError) as error:
        raise stage_failed(stage, "not_started", not_started(error), log, start=begin) from error
    watch.check()
    if not exit_.ok:
        raise command_failed(stage, exit_, log, start=begin)
    if before is None:
        return Stretch.since(log, begin)
    written = before.added()
    if written is None:
        problem = problem_of(before.path)
        message = f"the benchmark exited 0 but did not write {before.path}"
        if problem is not None and before.path.exists():
            message = f"the benchmark's output {before.path} {problem}"
        raise stage_failed("parse", "no_result", message, log, start=begin)
    return written


class _Watch:
    """What is looked at while a pass runs: the server, both logs, and whether somebody wants it to stop."""

    def __init__(
        self,
        stage: Stage,
        log: Path,
        begin: Mark,
        server: Tree | None,
        server_log: Path | None,
        limits: Limits,
        should_stop: Callable[[], bool],
    ) -> None:
        self._stage = stage
        self._log = log
        self._begin = begin
        self._server = server
        self._server_log = server_log
        self._should_stop = should_stop
        self._guards = [(log, begin, LogGuard(log, limits, start=begin))]
        if server is not None and server_log is not None:
            patient = limits.model_copy(update={"silence_s": None})
            start = server.log_start
            self._guards.append((server_log, start, LogGuard(server_log, patient, start=start)))

    def check(self) -> None:
        """Raise StageFailed if the pass has to end now."""
        if self._should_stop():
            raise interrupted(self._stage, self._log, start=self._begin)
        server = self._server
        if server is not None:
            if (exit_ := server.ended()) is not None:
                raise server_ended(self._stage, exit_, self._server_log or self._log, start=server.log_start)
            server.refresh()
        for path, begin, guard in self._guards:
            if (breach := guard.check()) is not None:
                raise breached(self._stage, breach, path, start=begin)


class _Before(NamedTuple):
    """An output file as it was before the pass."""

    path: Path
    inode: int | None
    size: int
    changed_ns: int
    digest: bytes

    @staticmethod
    def of(path: Path) -> _Before:
        try:
            stat = path.stat()
            return _Before(path, stat.st_ino, stat.st_size, stat.st_ctime_ns, _digest(path, stat.st_size))
        except OSError:
            return _Before(path, None, 0, 0, b"")

    def added(self) -> Stretch | None:
        """Return what was written since: appended to the same file, or all of a new or rewritten one."""
        try:
            if not is_regular(self.path):
                return None
            stat = self.path.stat()
            if self.inode is not None and stat.st_ctime_ns == self.changed_ns and stat.st_size == self.size:
                return None
            appended = stat.st_size > self.size and _digest(self.path, self.size) == self.digest
        except OSError:
            return None
        start = self.size if appended else 0
        return Stretch(path=self.path, start=start, end=stat.st_size) if stat.st_size > start else None


def _digest(path: Path, length: int) -> bytes:
    digest = hashlib.blake2b()
    with open_regular(path) as file:
        while length > 0 and (piece := file.read(min(length, 2**20))):
            digest.update(piece)
            length -= len(piece)
    return digest.digest()

"""Starting a server and waiting until it is ready; how a step says that its stage failed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from optrack.host import logs, proc
from optrack.host.command import Command, Exit
from optrack.host.logs import START, Breach, Follower, Limits, LogGuard, Mark
from optrack.host.parsing import ParseError, ParserProcess
from optrack.host.readiness import PIECE_BYTES, CommandProbe, HttpProbe, LogProbe, Probe, TcpProbe
from optrack.host.tree import Tree, start
from optrack.judge.failures import classify, plain_failure, shortened
from optrack.model.recipe_parts import Ready
from optrack.model.run import Failure, ProcessId, Stage

FailedOutcome = Literal["failed", "timed_out", "interrupted"]
TAIL_BYTES = 8192


class StageFailed(Exception):  # noqa: N818
    """A stage failed, ran out of time or was interrupted: which, how, and what is known of the cause."""

    def __init__(self, stage: Stage, outcome: FailedOutcome, failure: Failure) -> None:
        super().__init__(f"{stage} {outcome.replace('_', ' ')}: {failure.message}")
        self.stage: Stage = stage
        self.outcome: FailedOutcome = outcome
        self.failure = failure


def command_failed(stage: Stage, exit_: Exit, log: Path, *, start: Mark = START) -> StageFailed:
    """Return the failure of a command that ended by itself, its cause read from its log."""
    text = logs.tail(log, start=start).decode(errors="replace")
    return StageFailed(
        stage, "failed", classify(text, stage=stage, exit_code=exit_.code, signal=exit_.signal)
    )


def server_ended(stage: Stage, exit_: Exit, log: Path, *, start: Mark = START) -> StageFailed:
    """Return the failure of a stage in which the server ended by itself; `stage` is `ready` or `bench`."""
    when = "during the benchmark" if stage == "bench" else "before it was ready"
    ended = f"the server ended {when} ({exit_})"
    text = logs.tail(log, start=start).decode(errors="replace")
    failure = classify(text, stage=stage, exit_code=exit_.code, signal=exit_.signal, ended=ended)
    if stage == "bench" and not failure.message.startswith(ended):
        failure = failure.model_copy(update={"message": shortened(f"{ended}: {failure.message}")})
    return StageFailed(stage, "failed", failure)


def stage_failed(
    stage: Stage,
    kind: str,
    message: str,
    log: Path,
    *,
    start: Mark = START,
    outcome: FailedOutcome = "failed",
) -> StageFailed:
    """Return a failure whose cause is known without reading a log; the log's end goes with it."""
    text = logs.tail(log, start=start, limit=TAIL_BYTES).decode(errors="replace")
    return StageFailed(stage, outcome, plain_failure(kind, message, text))


def not_started(error: OSError | ValueError) -> str:
    """Say why a command couldn't be started: what is missing, and where."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'the command'}: {error.strerror.lower()}"
    return str(error)


def breached(stage: Stage, breach: Breach, log: Path, *, start: Mark = START) -> StageFailed:
    """Return the failure of a stage whose log passed a limit: silence is a time-out, the rest a failure."""
    outcome: FailedOutcome = "timed_out" if breach.kind == "silent" else "failed"
    return stage_failed(stage, breach.kind, breach.message, log, start=start, outcome=outcome)


def interrupted(stage: Stage, log: Path, *, start: Mark = START) -> StageFailed:
    """Return the end of a stage that somebody asked to stop."""
    return stage_failed(stage, "interrupted", "stopped on request", log, start=start, outcome="interrupted")


__all__ = ["StageFailed", "start_server", "wait_until_ready"]

TICK_S = 0.02
LOOK_EVERY_S = 0.5
SURE_AFTER_S = 1.0
"""How long the port must be seen in foreign hands before that is believed."""

ANY_HOST = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
_RUNNING_ON = re.compile(rb"running on https?://[^\s:/]*\]?:(\d+)", re.IGNORECASE)


def start_server(
    shell: str,
    env: Mapping[str, str],
    cwd: Path,
    log: Path,
    *,
    run: str,
    on_new: Callable[[ProcessId], None] | None = None,
) -> Tree:
    """Start the server's command; raises StageFailed (`launch`) if not even bash can be started there."""
    try:
        return start(Command(shell=shell, env=env, cwd=cwd, log=log), run=run, on_new=on_new)
    except (OSError, ValueError) as error:
        raise stage_failed("launch", "not_started", not_started(error), log) from error


def wait_until_ready(
    tree: Tree,
    ready: Ready,
    *,
    host: str,
    port: int,
    log: Path,
    should_stop: Callable[[], bool],
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    limits: Limits | None = None,
    parser: ParserProcess | None = None,
) -> float:
    """Wait until each condition of `ready` holds and the port is held by a process of the tree.

    Returns the seconds since the server's start. Raises StageFailed (`ready`): the server has ended, another
    process answers, the server listens on another port, a limit was passed, `should_stop` said so. `env` and
    `cwd` are those of a ready command; `parser` is the process that looks for the expression in the log.
    """
    limits = limits or Limits(silence_s=ready.silence_s)
    at = ANY_HOST.get(host, host)
    path = urlsplit(_url(ready.http, at, port)).path if ready.http is not None else None
    echo = f"GET {path or '/'}".encode() if path is not None else None
    wait = _Wait(tree, log, port, LogGuard(log, limits, start=tree.log_start, echo=echo))
    probes = _probes(ready, tree, at, port, log, env or {}, cwd or Path.cwd(), parser)
    try:
        for probe in probes:
            while not probe.holds():
                wait.check(should_stop)
                if time.monotonic() - tree.started >= ready.timeout_s:
                    raise wait.failed("timed_out", f"not ready after {ready.timeout_s:g} s: {probe.seen}")
                tree.wait(TICK_S)
        answering = _answering_ports(ready, at, port)
        for each in (*answering, *([port] if port not in answering and proc.is_listened(port) else [])):
            wait.verify(each)
        return time.monotonic() - tree.started
    except ParseError as error:
        kind = "timed_out" if error.is_timeout else "failed"
        raise wait.failed(kind, f"{error.message}; {error.hint}" if error.hint else error.message) from None
    finally:
        for probe in probes:
            probe.close()


class _Wait:
    """What is looked at between two looks at a probe: the tree, its log, and the port."""

    def __init__(self, tree: Tree, log: Path, port: int, guard: LogGuard) -> None:
        self._tree = tree
        self._log = log
        self._port = port
        self._guard = guard
        self._looked = time.monotonic()
        self._strange = False

    def check(self, should_stop: Callable[[], bool]) -> None:
        """Raise StageFailed if waiting on makes no sense."""
        if (exit_ := self._tree.ended()) is not None:
            raise server_ended("ready", exit_, self._log, start=self._tree.log_start)
        if should_stop():
            raise interrupted("ready", self._log, start=self._tree.log_start)
        if (breach := self._guard.check()) is not None:
            raise breached("ready", breach, self._log, start=self._tree.log_start)
        self._tree.refresh()
        if time.monotonic() - self._looked >= LOOK_EVERY_S:
            self._looked = time.monotonic()
            self._look_at_port()

    def verify(self, port: int) -> None:
        """Raise StageFailed unless the tree, and nobody else, listens on the port.

        A server that is just ending looks like a stranger for a moment, so one look isn't enough.
        """
        deadline = time.monotonic() + SURE_AFTER_S
        while not self._tree.holds(port):
            if (exit_ := self._tree.ended()) is not None:
                raise server_ended("ready", exit_, self._log, start=self._tree.log_start)
            if time.monotonic() >= deadline:
                raise self._stranger(port)
            self._tree.wait(TICK_S)
        if (exit_ := self._tree.ended()) is not None:
            raise server_ended("ready", exit_, self._log, start=self._tree.log_start)

    def failed(self, kind: str, message: str) -> StageFailed:
        """Return a failure of waiting, with the log's end."""
        outcome: FailedOutcome = "timed_out" if kind == "timed_out" else "failed"
        start = self._tree.log_start
        return stage_failed("ready", kind, message, self._log, start=start, outcome=outcome)

    def _look_at_port(self) -> None:
        if proc.is_listened(self._port):
            ours = self._tree.listening(self._port)
            if not ours and self._strange:
                raise self._stranger(self._port)
            self._strange = not ours
            return
        self._strange = False
        elsewhere = self._said_port()
        if elsewhere is not None and elsewhere != self._port and elsewhere in self._tree.ports():
            message = f"the server listens on port {elsewhere} instead of port {self._port}"
            raise self.failed("port_drift", message)

    def _said_port(self) -> int | None:
        said = _RUNNING_ON.findall(logs.tail(self._log, start=self._tree.log_start, limit=65536))
        return int(said[-1]) if said else None

    def _stranger(self, port: int) -> StageFailed:
        leader = self._tree.leader.pid
        message = (
            f"port {port} is held by {proc.describe(port)}, "
            f"not by this run's server, pid {leader} ({proc.command_line(leader)}); a server that a daemon starts "
            "(docker, srun, systemd) is found by `process`"
        )
        return self.failed("port_in_use", message)


def _probes(
    ready: Ready,
    tree: Tree,
    host: str,
    port: int,
    log: Path,
    env: Mapping[str, str],
    cwd: Path,
    parser: ParserProcess | None,
) -> list[Probe]:
    probes: list[Probe] = []
    if ready.log is not None:
        probes.append(LogProbe(Follower(log, start=tree.log_start, piece=PIECE_BYTES), ready.log, parser))
    if ready.tcp or (ready.http is None and ready.log is None and ready.command is None):
        probes.append(TcpProbe(host, port if ready.tcp in (True, None, False) else int(ready.tcp or port)))
    if ready.http is not None:
        probes.append(HttpProbe(_url(ready.http, host, port)))
    if ready.command is not None:
        shell = Command(shell=ready.command, env=env, cwd=cwd, log=log.with_name(f"{log.stem}.ready.log"))
        probes.append(CommandProbe(shell, run=tree.run))
    return probes


def _url(text: str, host: str, port: int) -> str:
    text = text.replace("${PORT}", str(port)).replace("$PORT", str(port))
    if "://" in text:
        return text
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/{text.lstrip('/')}"


def _answering_ports(ready: Ready, host: str, port: int) -> list[int]:
    """Return the local ports that answered: each must be held by the run's own processes."""
    ports: list[int] = []
    if ready.http is not None:
        url = urlsplit(_url(ready.http, host, port))
        if url.hostname in LOCAL_HOSTS or url.hostname == host:
            ports.append(url.port or (443 if url.scheme == "https" else 80))
    if ready.tcp and ready.tcp is not True:
        ports.append(int(ready.tcp))
    elif ready.http is None and (ready.tcp or (ready.log is None and ready.command is None)):
        ports.append(port)
    return ports

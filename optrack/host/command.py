"""Commands: shell text with its environment, folder and log; run to the end, or ended."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import FrameType

from optrack.host import supervisor
from optrack.host.proc import identity, is_alive
from optrack.model.run import ProcessId
from optrack.model.value import Frozen

MARKER = "OPTRACK_RUN"
"""The variable that carries the run's id in the environment of everything the run starts."""

TREE = "OPTRACK_TREE"
"""The variable that tells the commands of one run apart."""


BASH = shutil.which("bash") or "/bin/bash"
"""The shell of all commands, found by this process: a recipe's own PATH may lead elsewhere."""


class Command(Frozen):
    """Shell text for bash with `pipefail`; `env` is its whole environment, output is appended to `log`."""

    shell: str
    env: Mapping[str, str]
    cwd: Path
    log: Path


class Exit(Frozen):
    """How a process ended: its exit code, and the signal that ended it.

    A shell reports a child's signal N as the code 128 + N: then both are given.
    """

    code: int | None
    signal: str | None = None

    @property
    def ok(self) -> bool:
        """Whether it ended with code 0."""
        return self.code == 0

    def __str__(self) -> str:
        if self.code is None:
            return f"ended by {self.signal}"
        return f"exit code {self.code}" + (f" ({self.signal})" if self.signal else "")


def exit_of(returncode: int) -> Exit:
    """Return the exit for a return code of `subprocess`, where a signal is a negative number."""
    if returncode < 0:
        return Exit(code=None, signal=_signal_name(-returncode))
    return Exit(code=returncode, signal=_signal_name(returncode - 128) if returncode > 128 else None)


def spawn(command: Command, *, run: str, tree: str) -> subprocess.Popen[bytes]:
    """Start a command in its own session, marked with the run's id; its output goes to the log by descriptor.

    Raises OSError if bash, the folder or the log can't be opened.
    """
    env = {**command.env, MARKER: run, TREE: tree}
    env.setdefault(
        "SPT_NOENV", "1"
    )  # a process title would overwrite the environment, and the marker with it
    command.log.parent.mkdir(parents=True, exist_ok=True)
    log = os.open(command.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    try:
        return subprocess.Popen(
            [BASH, "-o", "pipefail", "-c", command.shell],
            cwd=command.cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    finally:
        os.close(log)


def _signal_name(number: int) -> str | None:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}" if number in signal.valid_signals() else None


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


_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def go_below_supervisor() -> ProcessId:
    """Go on in a child of this process, which becomes the child's supervisor; return the supervisor's identity.

    The child has a session of its own, keeps every descriptor, and gets SIGTERM should the supervisor die.
    The supervisor keeps only the standard ones, ends what the child leaves and exits as it did (see
    `supervisor`). Call it while this process has one thread. Raises OSError where the kernel refuses.
    """
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, supervisor.SIGNALS)
    above = os.getpid()
    child = os.fork()
    if child:
        _become_supervisor(child)
    os.setsid()
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    found = identity(above)
    if found is None or os.getppid() != above:
        raise ChildProcessError(f"the supervisor, pid {above}, has ended")
    return found


def _become_supervisor(child: int) -> None:
    try:
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        os.chdir("/")
        program = [sys.executable, "-I", "-S", supervisor.__file__, str(child)]
        os.execv(sys.executable, program)
    finally:
        os._exit(1)


def become_subreaper() -> None:
    """Let orphaned descendants become children of this process, and survive what they may send to it.

    An orphan that fails may send SIGQUIT to its new parent, and a closed terminal sends SIGHUP. They are
    caught rather than ignored, since what is ignored is ignored in every process started from here; for
    the same reason a SIGINT that was ignored by whoever started this process is set to a handler.
    Call it in the main thread. Raises OSError where the kernel refuses.
    """
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGQUIT, _disregard)
    signal.signal(signal.SIGHUP, _disregard)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, _disregard)


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _disregard(number: int, _frame: FrameType | None) -> None:
    """Do nothing, on purpose."""

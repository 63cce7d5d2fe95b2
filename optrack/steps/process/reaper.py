"""Who inherits orphans (prctl(2), PR_SET_CHILD_SUBREAPER): this process, and a supervisor above it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from types import FrameType

from optrack.core.run import ProcessId
from optrack.steps.process import supervisor
from optrack.steps.process.identity import identity

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


def _disregard(number: int, frame: FrameType | None) -> None:
    """Do nothing, on purpose."""

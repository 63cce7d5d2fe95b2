"""Making this process the one that inherits its orphans (prctl(2), PR_SET_CHILD_SUBREAPER)."""

from __future__ import annotations

import ctypes
import os
import signal
from types import FrameType

from optrack.errors import HostUnfitError

_PR_SET_CHILD_SUBREAPER = 36


def become_subreaper() -> None:
    """Let orphaned descendants become children of this process, and survive what they may send to it.

    An orphan that fails may send SIGQUIT to its new parent, and a closed terminal sends SIGHUP. They are
    caught rather than ignored, since what is ignored is ignored in every process started from here; for
    the same reason a SIGINT that was ignored by whoever started this process is set to a handler.
    Call it in the main thread. Raises HostUnfitError where the kernel refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise HostUnfitError(
            f"this host refuses prctl(PR_SET_CHILD_SUBREAPER): {os.strerror(ctypes.get_errno()).lower()}",
            hint="without it a server's processes can't all be ended; allow it in the container's seccomp profile",
        )
    signal.signal(signal.SIGQUIT, _disregard)
    signal.signal(signal.SIGHUP, _disregard)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, _disregard)


def _disregard(number: int, frame: FrameType | None) -> None:
    """Do nothing, on purpose."""

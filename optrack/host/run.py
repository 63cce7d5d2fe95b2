"""Running a command to its end."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

from optrack.host.command import Command, Exit
from optrack.host.tree import start
from optrack.model.run import ProcessId

POLL_S = 0.05
GRACE_S = 5.0


class CommandTimeoutError(Exception):
    """The command didn't end within its time and was ended; `timeout_s` is that time."""

    def __init__(self, timeout_s: float) -> None:
        super().__init__(f"not done after {timeout_s:g} s")
        self.timeout_s = timeout_s


def run(
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
        while (exit_ := tree.wait(POLL_S)) is None:
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

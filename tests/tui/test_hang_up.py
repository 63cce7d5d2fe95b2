"""A terminal that goes away: what was asked for is still done, and nothing is left running."""

from __future__ import annotations

import os
import pty
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path

CHILD = """
import sys, time
from pathlib import Path
from optrack.tui.app import OptrackApp
from tests.tui.fake_board import FakeBoard

class Slow(FakeBoard):
    def stop(self, run, *, force=False):
        time.sleep(0.5)
        Path(sys.argv[1]).write_text(run)

OptrackApp(Slow()).run()
"""
PATIENCE_S = 20.0


def wait_for(terminal: int | None, condition: Callable[[str], bool]) -> None:
    """Read what the terminal shows until the condition holds of all of it."""
    shown, end = "", time.monotonic() + PATIENCE_S
    while not condition(shown):
        assert time.monotonic() < end, shown[-2000:]
        if terminal is None:
            time.sleep(0.05)
        elif select.select([terminal], [], [], 0.05)[0]:
            shown += os.read(terminal, 65536).decode(errors="replace")


def test_a_stop_that_was_confirmed_is_asked_for_though_the_terminal_is_gone(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execv(sys.executable, [sys.executable, "-c", CHILD, str(asked)])
    wait_for(terminal, lambda shown: "Fewer channels" in shown)
    os.write(terminal, b"3")
    wait_for(terminal, lambda shown: "Pause" in shown)
    os.write(terminal, b"S")
    wait_for(terminal, lambda shown: "Stop" in shown and "es" in shown)
    time.sleep(0.5)
    os.write(terminal, b"y")
    time.sleep(0.1)
    os.close(terminal)
    wait_for(None, lambda _: os.waitpid(child, os.WNOHANG)[0] == child)
    assert asked.read_text()

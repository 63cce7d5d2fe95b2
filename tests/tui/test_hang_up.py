"""A terminal that goes away: what was asked for is still done, and nothing is left running."""

from __future__ import annotations

import signal
import time
from pathlib import Path

from tests.cli.quick import quick
from tests.terminal.shells import Terminal, shell
from tests.terminal.test_endings import SCREENS
from tests.tui.driving import recorded_runs

SLOW = '\n## 3: Slow\n\n```yaml recipe\nbench: "sleep 600"\n```\n'
PATIENCE_S = 60.0


def test_a_stop_that_was_confirmed_is_done_though_the_terminal_is_gone(tmp_path: Path) -> None:
    project = quick(tmp_path / "project")
    plan = project / "plans" / "quick.md"
    plan.write_text(plan.read_text() + SLOW)
    assert shell(project, "optrack run 3 --detach").code == 0
    terminal = Terminal(project, SCREENS)
    try:
        terminal.until(lambda: b"Slow" in terminal.shown)
        terminal.type(b"3")
        terminal.until(lambda: b"Pause" in terminal.shown and b"1 of 3" in terminal.shown)
        terminal.type(b"S")
        terminal.until(lambda: b"at once" in terminal.shown)
        time.sleep(0.5)  # until the question has the focus, which nothing shows
        terminal.type(b"y")
        terminal.kill(signal.SIGHUP)
        assert terminal.end() == 128 + signal.SIGHUP
    finally:
        terminal.close()
    end = time.monotonic() + PATIENCE_S
    while (run := recorded_runs(project, "3")[0]).outcome is None:
        assert time.monotonic() < end
        time.sleep(0.05)
    assert run.outcome == "interrupted"

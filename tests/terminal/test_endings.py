"""The screens end by a signal or a defect: the terminal is as it was before, and one line says why."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.quick import quick
from tests.terminal.shells import Terminal, shell

SCREENS = [sys.executable, "-P", "-m", "optrack", "tui"]
RESTORED = (b"\x1b[?1049l", b"\x1b[?1000l", b"\x1b[?1003l", b"\x1b[?25h", b"\x1b[?2004l")
BROKEN = """
import sys
from optrack.cli import main
from optrack.tui.screens.plan import PlanScreen

def fail(self, *_: object) -> None:
    raise ZeroDivisionError("the \\x1b[31mbroken screen")

PlanScreen.{where} = fail
sys.exit(main(["tui"]))
"""


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    shown = Terminal(quick(tmp_path / "project"), SCREENS)
    yield shown
    shown.close()


def assert_restored(terminal: Terminal) -> None:
    """The last word on each mode of the terminal is that it is off, and typing is as before."""
    for sequence in RESTORED:
        off = terminal.shown.rfind(sequence)
        opposite = sequence[:-1] + (b"l" if sequence.endswith(b"h") else b"h")
        assert off > terminal.shown.rfind(opposite), sequence
    assert terminal.modes == terminal.modes_before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_as_it_was(terminal: Terminal, number: signal.Signals) -> None:
    terminal.until(lambda: b"Twice the speed" in terminal.shown)
    assert terminal.modes != terminal.modes_before
    terminal.kill(number)
    assert terminal.end() == 128 + number
    assert_restored(terminal)


def test_screens_that_were_left_by_a_key_leave_the_terminal_as_it_was(terminal: Terminal) -> None:
    terminal.until(lambda: b"Twice the speed" in terminal.shown)
    terminal.type(b"q")
    assert terminal.end() == 0
    assert_restored(terminal)


@pytest.mark.parametrize("where", ["on_mount", "renew"])
def test_a_screen_that_fails_leaves_the_terminal_as_it_was_and_is_told_in_a_line(
    tmp_path: Path, where: str
) -> None:
    command = [sys.executable, "-c", BROKEN.format(where=where)]
    terminal = Terminal(quick(tmp_path / "project"), command)
    try:
        assert terminal.end() == 2
        assert_restored(terminal)
        last_words = terminal.shown[terminal.shown.rfind(b"\x1b[?1049l") :]
        assert b"broken screen" in last_words
        assert b"\x1b[31m" not in last_words
        assert b"Traceback" not in terminal.shown
    finally:
        terminal.close()


@pytest.mark.parametrize("lacking", ["</dev/null", "| cat", "2>/dev/null", "<&-", "2>&-"])
def test_screens_without_a_terminal_are_refused_at_once(tmp_path: Path, lacking: str) -> None:
    ended = shell(quick(tmp_path / "project"), f"set -o pipefail; optrack tui {lacking}")
    assert ended.code == 2
    assert b"\x1b" not in ended.out + ended.err
    assert "2>" in lacking or b"terminal" in ended.err

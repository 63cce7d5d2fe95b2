"""Every screen looks as it did when somebody last looked at it: at two sizes, dark and light."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from optrack.tui.app import OptrackApp
from tests.tui.driving import begun, quiet, write_logs
from tests.tui.fake_board import FakeBoard

SIZES = ((80, 24), (140, 45))
THEMES = ("dark", "light")
SCREENS: dict[str, tuple[str, ...]] = {
    "plan": ("j", "j", "j", "j", "j"),
    "item": ("j", "j", "enter"),
    "live": ("3",),
    "compare": ("j", "j", "j", "j", "j", "c"),
    "history": ("5",),
    "failures": ("6",),
}
DIALOGS: dict[str, tuple[str, ...]] = {
    "help": ("question_mark",),
    "stop": ("3", "S"),
    "mark": ("j", "j", "m"),
}
Snap = Callable[..., bool]


def looking(keys: tuple[str, ...]) -> Callable[[Pilot[Any]], Any]:
    async def look(pilot: Pilot[Any]) -> None:
        await begun(pilot)
        for key in keys:
            await pilot.press(key)
            await quiet(pilot)

    return look


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("size", SIZES, ids=["80x24", "140x45"])
@pytest.mark.parametrize("screen", SCREENS)
def test_screen_looks_as_before(
    snap_compare: Snap, tmp_path: Path, screen: str, size: tuple[int, int], theme: str
) -> None:
    app = OptrackApp(FakeBoard(write_logs(tmp_path)), theme=theme)
    assert snap_compare(app, terminal_size=size, run_before=looking(SCREENS[screen]))


@pytest.mark.parametrize("dialog", DIALOGS)
def test_question_looks_as_before(snap_compare: Snap, tmp_path: Path, dialog: str) -> None:
    app = OptrackApp(FakeBoard(write_logs(tmp_path)))
    assert snap_compare(app, terminal_size=(80, 24), run_before=looking(DIALOGS[dialog]))


@pytest.mark.parametrize("screen", ["plan", "item", "live", "compare", "history", "failures"])
def test_empty_screen_says_what_to_do(snap_compare: Snap, screen: str) -> None:
    keys = {
        "plan": (),
        "item": ("2",),
        "live": ("3",),
        "compare": ("4",),
        "history": ("5",),
        "failures": ("6",),
    }
    app = OptrackApp(FakeBoard(empty=True))
    assert snap_compare(app, terminal_size=(80, 24), run_before=looking(keys[screen]))


@pytest.mark.parametrize("screen", ["plan", "live", "history"])
def test_screen_in_ascii_without_colour(
    snap_compare: Snap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, screen: str
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = OptrackApp(FakeBoard(write_logs(tmp_path)), ascii_only=True)
    assert snap_compare(app, terminal_size=(80, 24), run_before=looking(SCREENS[screen]))

"""The screens read as well without colour and in ASCII: every state has its character and its word."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from optrack.cli import setup
from optrack.tui.app import OptrackApp
from optrack.tui.theme import in_ascii
from tests.tui.driving import begun, quiet, screens, text_of
from tests.tui.project import begin_run

SCREENS = [(), ("j", "j", "enter"), ("3",), ("j", "j", "j", "c"), ("5",), ("6",), ("question_mark",)]


@pytest.mark.parametrize("keys", SCREENS)
async def test_ascii_only_draws_nothing_else(project: Path, keys: tuple[str, ...]) -> None:
    begin_run(project, "2", datetime.now(UTC))
    app = screens(project, ascii_only=True)
    async with app.run_test(size=(90, 36)) as pilot:
        await begun(pilot)
        for key in keys:
            await pilot.press(key)
            await quiet(pilot)
        drawn = text_of(app)
        assert drawn.isascii(), sorted({c for c in drawn if not c.isascii()})


async def test_no_color_draws_no_colour_and_reverses_the_cursor(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = screens(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await quiet(pilot)
        segments = [s for strip in app.screen._compositor.render_strips() for s in strip]
        styles = [s.style for s in segments if s.style]
        assert all(s.color is None or s.color.is_default for s in styles)
        assert all(s.bgcolor is None or s.bgcolor.is_default for s in styles)
        assert any(s.style and s.style.reverse and "Baseline" in s.text for s in segments)


@pytest.mark.parametrize("text", ["▁█", "—…", "日本", "é", "a", "🚀", "▲▼✓✗○▶", "│─"])
def test_ascii_keeps_the_width(text: str) -> None:
    assert in_ascii(text).isascii()
    assert cell_len(in_ascii(text)) == cell_len(text)
    assert "?" not in in_ascii("▲▼✓✗○▶│─")


@pytest.mark.parametrize(
    ("charset", "asked", "ascii_only"),
    [("utf-8", (), False), ("utf-8", ("--ascii",), True), ("ascii", (), True), ("latin-1", (), True)],
)
def test_a_terminal_without_utf_8_is_drawn_on_in_ascii(
    project: Path, monkeypatch: pytest.MonkeyPatch, charset: str, asked: tuple[str, ...], ascii_only: bool
) -> None:
    monkeypatch.chdir(project)
    monkeypatch.setenv("TEXTUAL_DRIVER", "textual.drivers.headless_driver:HeadlessDriver")
    drawn: list[bool] = []
    monkeypatch.setattr(OptrackApp, "run", lambda app: drawn.append(app._ascii_only))
    result = CliRunner(charset=charset).invoke(setup.tui, asked)
    assert result.exception is None
    assert drawn == [ascii_only]

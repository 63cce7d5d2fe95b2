"""The screens read as well without colour and in ASCII: every state has its character and its word."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.cells import cell_len

from optrack.cli import setup
from optrack.model.item import ItemState
from optrack.model.judgement import Judgement
from optrack.model.plan import Item
from optrack.model.run import Run
from optrack.tui import marks
from optrack.tui.app import OptrackApp
from optrack.tui.ascii_only import in_ascii
from tests.tui.driving import begun, quiet, text_of, write_logs
from tests.tui.fake_board import FakeBoard
from tests.tui.filled import fill


@pytest.mark.parametrize(
    "keys", [(), ("j", "j", "enter"), ("3",), ("c",), ("5",), ("6",), ("question_mark",)]
)
async def test_ascii_only_draws_nothing_else(tmp_path: Path, keys: tuple[str, ...]) -> None:
    app = OptrackApp(FakeBoard(write_logs(tmp_path)), ascii_only=True)
    async with app.run_test(size=(90, 30)) as pilot:
        await begun(pilot)
        for key in keys:
            await pilot.press(key)
            await quiet(pilot)
        drawn = text_of(app)
        assert drawn.isascii(), sorted({c for c in drawn if not c.isascii()})


async def test_no_color_draws_no_colour_and_reverses_the_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = OptrackApp(FakeBoard())
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await quiet(pilot)
        segments = [s for strip in app.screen._compositor.render_strips() for s in strip]
        styles = [s.style for s in segments if s.style]
        assert all(s.color is None or s.color.is_default for s in styles)
        assert all(s.bgcolor is None or s.bgcolor.is_default for s in styles)
        assert any(s.style and s.style.reverse and "Tuned NCCL" in s.text for s in segments)


def test_every_verdict_has_its_own_character_and_word() -> None:
    shown = [str(mark) for mark in marks.VERDICT.values()]
    assert len({text[0] for text in shown}) == len({text[2:] for text in shown}) == len(marks.VERDICT)
    assert all(text.isascii() for text in shown)


def test_a_judgement_without_a_verdict_is_called_that() -> None:
    judged = Judgement(verdict=None, baseline=None, candidate="r", metric="m", comparison="unfair")
    item = Item(id="1", title="", line=1, rank=0)
    assert str(marks.verdict(ItemState(item=item, status="completed", judgement=judged))) == "! no verdict"
    assert marks.verdict(ItemState(item=item, status="pending")) is None


def test_a_run_without_an_outcome_is_running(board: FakeBoard) -> None:
    run = board.live_runs()[0]
    assert isinstance(run, Run)
    assert str(marks.outcome(run)) == "> running"


@pytest.mark.parametrize("text", ["▁█", "—…", "日本", "é", "a", "🚀"])
def test_ascii_keeps_the_width(text: str) -> None:
    assert in_ascii(text).isascii()
    assert cell_len(in_ascii(text)) == cell_len(text)


@pytest.mark.parametrize(
    ("charset", "asked", "ascii_only"),
    [("utf-8", (), False), ("utf-8", ("--ascii",), True), ("ascii", (), True), ("latin-1", (), True)],
)
def test_a_terminal_without_utf_8_is_drawn_on_in_ascii(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, charset: str, asked: tuple[str, ...], ascii_only: bool
) -> None:
    fill(tmp_path, items=1, runs=1)
    monkeypatch.chdir(tmp_path)
    drawn: list[bool] = []
    monkeypatch.setattr(OptrackApp, "run", lambda app: drawn.append(app._ascii.enabled))
    result = CliRunner(charset=charset).invoke(setup.tui, asked)
    assert result.exception is None
    assert drawn == [ascii_only]

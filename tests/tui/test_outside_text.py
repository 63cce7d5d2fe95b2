"""Text from plans, logs and errors is shown as it is: no markup, no escape reaches the terminal (O18)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optrack.model.item import ItemState
from optrack.model.plan import Item
from optrack.tui.app import OptrackApp
from optrack.tui.outside import ansi_segments, plain
from tests.tui.driving import begun, quiet, text_of, until, write_logs
from tests.tui.fake_board import FakeBoard

NASTY = (
    "Tune [/nestedType] path",
    "[red]not red[/]",
    "[@click=app.quit]x[/]",
    "\x1b[2Jclear \x07bell",
    "[[/",
    "$x [b",
)


@given(st.text())
def test_plain_text_has_no_control_characters_and_is_one_line(text: str) -> None:
    shown = plain(text)
    assert shown.isprintable() or not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in shown)
    assert "\n" not in shown


@given(st.text(alphabet=st.sampled_from("ab[]/\x1b0123;mJ\r\x07\n")))
def test_a_log_line_of_any_escapes_leaves_none(line: str) -> None:
    assert "\x1b" not in "".join(segment.text for segment in ansi_segments(line))


def test_colours_of_a_log_become_styles_and_brackets_stay() -> None:
    segments = ansi_segments("a \x1b[31m[red]\x1b[0m [/b]")
    assert "".join(s.text for s in segments) == "a [red] [/b]"
    assert [s.text for s in segments if s.style and s.style.color] == ["[red]"]


def test_a_rewritten_progress_line_shows_its_last_state() -> None:
    assert "".join(s.text for s in ansi_segments("10%\r50%\r100%")) == "100%"


@pytest.mark.parametrize("title", NASTY)
async def test_a_title_in_brackets_is_shown_in_list_and_item(title: str) -> None:
    board = FakeBoard(live=False)
    item = Item(id="1A", title=title, line=1, rank=2, parent="1", hypothesis=title, risk=title)
    board._states["1A"] = ItemState(item=item, status="pending")
    app = OptrackApp(board)
    async with app.run_test(size=(140, 45), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("j", "j", "enter")
        await quiet(pilot)
        assert text_of(app).count(plain(title)) >= 3


async def test_log_lines_in_brackets_are_shown_and_the_view_goes_on(tmp_path: Path) -> None:
    app = OptrackApp(FakeBoard(write_logs(tmp_path)))
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("3")
        await until(
            pilot, lambda: "[/usr/lib/libnccl.so.2] WARN Decode batch [red] is not red [/]" in text_of(app)
        )
        assert "0;title" not in text_of(app)
        with (tmp_path / "server.log").open("a") as log:
            log.write("[/x] another [bold\n")
        await until(pilot, lambda: "[/x] another [bold" in text_of(app))


async def test_a_failing_note_of_brackets_is_only_shown() -> None:
    app = OptrackApp(FakeBoard(live=False))
    async with app.run_test(size=(120, 30), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("N")
        await pilot.press(*"[/x]", "enter")
        await until(pilot, lambda: "Noted." in text_of(app))
        await pilot.press("2")
        await until(pilot, lambda: "mara: [/x]" in text_of(app))

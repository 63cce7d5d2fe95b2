"""Text from plans, logs and errors is shown as it is: no markup, no escape reaches the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from optrack.tui.text import ansi_segments, plain, shortened
from tests.tui.driving import begun, quiet, screens, shows, text_of
from tests.tui.filled import fill

NASTY = (
    "Tune [/nestedType] path",
    "[red]not red[/]",
    "[@click=app.quit]x[/]",
    "clear \x07bell",
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


@given(text=st.text(), width=st.integers(0, 40))
def test_shortened_text_fits(text: str, width: int) -> None:
    assert cell_len(shortened(text, width)) <= width


@pytest.mark.parametrize("title", NASTY)
async def test_a_title_in_brackets_is_shown_in_list_and_item(tmp_path: Path, title: str) -> None:
    fill(tmp_path / "project", items=1, runs=0)
    plan = tmp_path / "project" / "plans" / "long.md"
    nasty = f"\n## 9: {title}\n\n- **Hypothesis**: {title}\n\n```yaml recipe\nenv: {{A: 1}}\n```\n"
    plan.write_text(plan.read_text() + nasty, encoding="utf-8")
    app = screens(tmp_path / "project")
    async with app.run_test(size=(140, 45), notifications=True) as pilot:
        await begun(pilot)
        assert app.view is not None
        item = app.view.items[-1].item
        shown = plain(item.title)
        await pilot.press("G")
        await quiet(pilot)
        assert text_of(app).count(shown) >= 2
        await pilot.press("enter")
        await shows(pilot, f"{item.id}  {shown}")


async def test_a_note_of_brackets_is_only_shown(project: Path) -> None:
    async with screens(project).run_test(size=(120, 36), notifications=True) as pilot:
        await begun(pilot)
        await pilot.press("j", "j", "N", *"[/x]", "enter")
        await shows(pilot, "Noted.")
        await pilot.press("2")
        await shows(pilot, ": [/x]")

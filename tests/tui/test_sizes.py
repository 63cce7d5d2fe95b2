"""The screens take any size: none crashes, and 80x24 shows what matters."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optrack.tui.widgets.list import Cell, Column, fitted
from optrack.tui.widgets.plan_list import columns
from tests.tui.driving import begun, quiet, screens, text_of
from tests.tui.project import begin_run

SIZES = ((1, 1), (3, 200), (300, 2), (12, 5), (40, 10), (79, 23), (250, 80), (80, 24))


@pytest.mark.parametrize("keys", ["1", "2", "3", "4", "5", "6", "?", "3S", "m"])
async def test_resizing_to_any_size_leaves_the_screen_alive(project: Path, keys: str) -> None:
    begin_run(project, "2", datetime.now(UTC))
    app = screens(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        await pilot.press(*("question_mark" if key == "?" else key for key in keys))
        await quiet(pilot)
        for width, height in SIZES:
            await pilot.resize_terminal(width, height)
            await pilot.pause()
        await quiet(pilot)
        assert len(text_of(app).splitlines()) == 24


async def test_80_columns_show_status_effect_and_the_unfair_mark(project: Path) -> None:
    plan = project / "plans" / "tuning.md"
    plan.write_text(plan.read_text().replace("NCCL_MAX_NCHANNELS: 2}", "NCCL_MAX_NCHANNELS: 3}"))
    app = screens(project)
    async with app.run_test(size=(80, 24)) as pilot:
        await begun(pilot)
        text = text_of(app)
        for words in (
            "failed",
            "improvement",
            "+19.9%",
            "! unfair",
            "~ stale",
            "next",
            "| blocked",
            "q Quit",
        ):
            assert words in text


@given(width=st.integers(0, 300))
def test_columns_that_fit_never_leave_the_list(width: int) -> None:
    some = columns((), width)
    kept = fitted(some, width)
    must = sum(c.width for c in some if c.yields == 0) + 2 * (sum(c.yields == 0 for c in some) - 1)
    assert sum(w for _, w in kept) + 2 * (len(kept) - 1) <= max(width, must)


def test_the_elastic_column_takes_what_is_left() -> None:
    some = (Column("a", 4, Cell), Column("b", 5, Cell, elastic=True), Column("c", 6, Cell, yields=1))
    assert fitted(some, 30) == [(0, 4), (1, 16), (2, 6)]
    assert fitted(some, 12) == [(0, 4), (1, 6)]

"""The screens look as they did when somebody last looked at them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.driving import begun, quiet, screens, shows
from tests.tui.project import fill

SMALL, LARGE = (80, 24), (120, 36)
PICTURES: dict[str, tuple[tuple[int, int], str, tuple[str, ...]]] = {
    "plan_small": (SMALL, "dark", ("j", "j", "j")),
    "plan_large_light": (LARGE, "light", ("j", "j", "j", "j")),
    "item_large": (LARGE, "dark", ("j", "j", "j", "enter")),
    "run_large_light": (LARGE, "light", ("j", "j", "j", "enter", "enter")),
    "compare_small": (SMALL, "dark", ("j", "j", "j", "c")),
    "compare_large_light": (LARGE, "light", ("j", "j", "j", "j", "c")),
    "history_large": (LARGE, "dark", ("5",)),
    "failures_small_light": (SMALL, "light", ("6",)),
    "help_small": (SMALL, "dark", ("question_mark",)),
    "mark_small": (SMALL, "dark", ("j", "j", "m")),
}


@pytest.fixture(scope="module")
def pictured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which nothing is of today."""
    return fill(tmp_path_factory.mktemp("pictured") / "project")


def looking(keys: tuple[str, ...]) -> Callable[[Pilot[Any]], Any]:
    async def look(pilot: Pilot[Any]) -> None:
        await begun(pilot)
        for key in keys:
            await pilot.press(key)
            await quiet(pilot)

    return look


@pytest.mark.parametrize("name", PICTURES)
def test_screen_looks_as_before(
    snap_compare: Callable[..., bool], pictured: Path, tmp_path: Path, name: str
) -> None:
    size, theme, keys = PICTURES[name]
    project = shutil.copytree(pictured, tmp_path / "project")
    assert snap_compare(screens(project, theme=theme), terminal_size=size, run_before=looking(keys))


async def test_an_empty_campaign_says_on_every_screen_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "new.md").write_text("# A new plan\n", encoding="utf-8")
    (tmp_path / "optrack.toml").write_text("", encoding="utf-8")
    async with screens(tmp_path).run_test(size=SMALL) as pilot:
        await begun(pilot)
        for key, words in (
            ("1", "The plan has no items yet."),
            ("3", "No run is in progress"),
            ("4", "Nothing is compared yet."),
            ("5", "No run has ended yet."),
            ("6", "No run has failed so far."),
        ):
            await pilot.press(key)
            await shows(pilot, words)

"""Pictures of the screens as SVG, made without a terminal: for the README and for reports."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from textual.pilot import Pilot

from optrack.app.watching import Watcher
from optrack.tui.app import OptrackApp

PATIENCE_S = 30.0


def picture_of(
    watcher: Watcher, keys: Sequence[str] = (), *, size: tuple[int, int] = (120, 34), theme: str = "dark"
) -> str:
    """Return the SVG of the screen that these keys lead to, on a terminal of `size` columns and lines.

    Raises `TimeoutError` if the campaign can't be read in half a minute.
    """
    return asyncio.run(asyncio.wait_for(_taken(watcher, keys, size, theme), PATIENCE_S))


async def _taken(watcher: Watcher, keys: Sequence[str], size: tuple[int, int], theme: str) -> str:
    app = OptrackApp(watcher, theme=theme, read_only=True)
    async with app.run_test(size=size) as pilot:
        await _until(pilot, lambda: app.view is not None and not app.view.is_behind)
        await _settled(pilot)
        for key in keys:
            await pilot.press(key)
            await _settled(pilot)
        return app.export_screenshot(title="optrack")


async def _settled(pilot: Pilot[None]) -> None:
    for _ in range(2):
        await pilot.pause(0.05)
        await _until(pilot, lambda: all(w.group == "watch" or w.is_finished for w in pilot.app.workers))


async def _until(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    while not condition():
        await pilot.pause(0.02)

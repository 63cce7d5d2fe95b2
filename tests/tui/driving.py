"""Driving the screens in tests: waiting for conditions, and what can be read on the screen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from optrack.app.watching import Watcher
from optrack.model.item import ItemState
from optrack.model.run import Run
from optrack.settings import load_settings
from optrack.store.read import Reader
from optrack.tui.app import OptrackApp

PATIENCE_S = 30.0


def screens(folder: Path, **options: Any) -> OptrackApp:
    """Return the screens of the project in this folder."""
    return OptrackApp(Watcher(load_settings(folder)), **options)


async def until(pilot: Pilot[Any], condition: Callable[[], object]) -> None:
    """Wait until the condition holds; fail when patience ends."""
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE_S
    while not condition():
        assert loop.time() < end, f"the condition never held:\n{text_of(pilot.app)}"
        await pilot.pause(0.02)
    await pilot.pause()


async def shows(pilot: Pilot[Any], *texts: str) -> None:
    """Wait until the screen shows all of these."""
    await until(pilot, lambda: all(text in text_of(pilot.app) for text in texts))


async def begun(pilot: Pilot[Any]) -> OptrackApp:
    """Wait until the plan has been read and the record is up to date, and return the application."""
    app = pilot.app
    assert isinstance(app, OptrackApp)
    await until(pilot, lambda: app.view is not None and not app.view.is_behind)
    await until(pilot, lambda: "Reading" not in text_of(app))
    return app


async def quiet(pilot: Pilot[Any]) -> None:
    """Wait until nothing is read in the background but the watch (a question may wait) and the screen has settled."""

    def idle() -> bool:
        return not any(w.is_running for w in pilot.app.workers if w.group not in ("watch", "ask"))

    for _ in range(2):
        await until(pilot, idle)
        await pilot.pause(0.05)


def text_of(app: Any) -> str:
    """Return what the terminal shows, line by line."""
    width, height = app.size
    lines = app.screen._compositor.render_strips(app.size) if width and height else []
    return "\n".join(strip.text for strip in lines)


def recorded(folder: Path, item: str) -> ItemState:
    """Return where an item stands in the record."""
    with Reader.open(load_settings(folder).database) as reader:
        return next(state for state in reader.items(_plan(folder)) if state.item.id == item)


def recorded_runs(folder: Path, item: str) -> tuple[Run, ...]:
    """Return the recorded runs of an item, the latest first."""
    with Reader.open(load_settings(folder).database) as reader:
        return reader.runs(_plan(folder), item)


def _plan(folder: Path) -> str:
    return next((folder / "plans").glob("*.md")).stem

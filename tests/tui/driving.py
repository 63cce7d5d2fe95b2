"""Driving the screens in tests: waiting for conditions, sample logs, and what can be read on the screen."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from optrack.tui.app import OptrackApp

PATIENCE_S = 10.0


async def until(pilot: Pilot[Any], condition: Callable[[], object]) -> None:
    """Wait until the condition holds; fail when patience ends."""
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE_S
    while not condition():
        assert loop.time() < end, "the condition never held"
        await pilot.pause(0.02)
    await pilot.pause()


async def begun(pilot: Pilot[Any]) -> OptrackApp:
    """Wait until the plan has been read, and return the application."""
    app = pilot.app
    assert isinstance(app, OptrackApp)
    await until(pilot, lambda: app.picture is not None and "Reading" not in text_of(app))
    return app


async def quiet(pilot: Pilot[Any]) -> None:
    """Wait until nothing is read in the background but the watch and the screen has settled."""

    def idle() -> bool:
        return not any(w.is_running for w in pilot.app.workers if w.group != "watch")

    for _ in range(2):
        await until(pilot, idle)
        await pilot.pause(0.05)


def text_of(app: OptrackApp) -> str:
    """Return what the terminal shows, line by line."""
    width, height = app.size
    lines = app.screen._compositor.render_strips(app.size) if width and height else []
    return "\n".join(strip.text for strip in lines)


def write_logs(folder: Path) -> Path:
    """Write a server's log and a benchmark's output, with colours, brackets and odd bytes."""
    lines = [
        f"[2026-03-02 15:{i // 60 + 5:02}:{i % 60:02} TP0] \x1b[32mINFO\x1b[0m Decode batch. "
        f"#token: {200 + i * 33}, accept len: 2.05, gen throughput (token/s): {98 + i % 3}.21\n"
        for i in range(400)
    ]
    lines.append("[/usr/lib/libnccl.so.2] \x1b[31mWARN\x1b[0m Decode batch [red] is not red [/]\n")
    odd = b"a progress bar\r50%\rdone \xff\x96 \x1b]0;title\x07\x1b[2Jend\n"
    (folder / "server.log").write_bytes("".join(lines).encode() + odd)
    (folder / "bench.log").write_text("Output token throughput (tok/s):  98.95\nMean ITL (ms):  10.1\n")
    return folder

"""Ends of the screens that nobody chose, a signal or a defect: the terminal becomes what it was before."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from threading import Thread, Timer
from types import FrameType

from textual.driver import Driver

_PATIENCE_S = 10.0
"""How long the screens may take to do what was asked for before a signal came."""
_RESTORING_S = 2.0
"""How long a terminal may take to be restored; one that is gone takes for ever."""
_MOUSE_OFF = "".join(f"\x1b[?{mode}l" for mode in (1000, 1003, 1006, 1015))


def end_on_signals(driver: Callable[[], Driver | None], last_words: Callable[[], Awaitable[object]]) -> None:
    """End this process at SIGTERM and SIGHUP with 128 + the signal's number, its terminal restored.

    `last_words` is awaited first, but not for ever. Call it in the event loop, in the main thread.
    """
    loop = asyncio.get_running_loop()
    ending: list[asyncio.Task[None]] = []

    async def end(number: int) -> None:
        await last_words()
        _end_now(driver(), number)

    def end_anyway(number: int) -> None:
        time.sleep(_PATIENCE_S)
        _end_now(driver(), number)

    def hear(number: int, frame: FrameType | None) -> None:
        if not ending:
            Thread(target=end_anyway, args=(number,), daemon=True).start()
            loop.call_soon_threadsafe(lambda: ending.append(loop.create_task(end(number))))

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, hear)


def _end_now(driver: Driver | None, number: int) -> None:
    in_any_case = Timer(_RESTORING_S, os._exit, (128 + number,))
    in_any_case.daemon = True
    in_any_case.start()
    if driver is not None:
        with suppress(Exception):
            driver.write(_MOUSE_OFF)  # the driver itself forgets it outside the main thread
            driver.stop_application_mode()
            driver.close()
    os._exit(128 + number)


def named(error: BaseException | None) -> str:
    """Return what a defect is and where in the code it came up, in one line."""
    if error is None:
        return "the terminal can't be read"
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f" ({os.path.basename(frame.tb_frame.f_code.co_filename)}:{frame.tb_lineno})" if frame else ""  # noqa: PTH119
    return f"{type(error).__name__}: {error}{where}"

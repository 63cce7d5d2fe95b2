"""Reading the board outside the UI's thread: one loop that sees changes, and single reads on request."""

from __future__ import annotations

import threading
from collections.abc import Callable

from textual.message import Message
from textual.worker import get_current_worker

from optrack.errors import OptrackError
from optrack.tui.board import Board
from optrack.tui.messages import BoardChanged, BoardFailed, Picture

EVERY_S = 0.25
"""How often the board's version is asked for, in seconds."""


def picture(board: Board) -> Picture:
    """Read what every screen needs."""
    return Picture(
        plan=board.plan(),
        items=tuple(board.items()),
        choice=board.choice(),
        live=tuple(board.live_runs()),
        launches=dict(board.launches()),
    )


def watch(board: Board, tell: Callable[[Message], object], closing: threading.Event) -> None:
    """Tell a picture whenever the board's version changes, until `closing` is set or the worker cancelled."""
    worker = get_current_worker()
    seen: int | None = None
    said: str | None = None
    while not (closing.is_set() or worker.is_cancelled):
        try:
            version = board.version()
            if version != seen:
                tell(BoardChanged(picture(board)))
                seen, said = version, None
        except OptrackError as error:
            if str(error) != said:
                tell(BoardFailed(error.message, error.hint))
                said = str(error)
        closing.wait(EVERY_S)


def reading(work: Callable[[], Message], tell: Callable[[Message], object]) -> None:
    """Do `work` and tell its message, or the error that it met."""
    try:
        tell(work())
    except OptrackError as error:
        tell(BoardFailed(error.message, error.hint))

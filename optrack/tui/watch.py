"""Reading and acting outside the UI's thread: what workers do, and the messages that they send."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from textual.message import Message
from textual.worker import get_current_worker

from optrack.app.watching import View, Watcher
from optrack.errors import OptrackError

EVERY_S = 0.25
"""How often one looks whether the campaign has changed, in seconds."""


class ViewChanged(Message):
    """The campaign has changed; this is how it looks now."""

    def __init__(self, view: View) -> None:
        super().__init__()
        self.view = view


class Failed(Message):
    """Something could not be read or done; `text` says what, `hint` what to do about it."""

    def __init__(self, text: str, hint: str | None = None) -> None:
        super().__init__()
        self.text, self.hint = text, hint


class Done(Message):
    """Something that was asked for has been done."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Read(Message):
    """Something was read; `show` takes it in the UI's thread."""

    def __init__(self, show: Callable[[Any], object], value: Any) -> None:
        super().__init__()
        self.show, self.value = show, value


def watch(watcher: Watcher, send: Callable[[Message], object], closing: threading.Event) -> None:
    """Send a view whenever the campaign has changed, until `closing` is set or the worker cancelled.

    An error is sent once, until reading succeeds again.
    """
    worker = get_current_worker()
    last_error: str | None = None
    while not (closing.is_set() or worker.is_cancelled):
        try:
            view = watcher.look()
            last_error = None
            if view is not None:
                send(ViewChanged(view))
        except OptrackError as error:
            if str(error) != last_error:
                send(Failed(error.message, error.hint))
                last_error = str(error)
        closing.wait(EVERY_S)


def answering(work: Callable[[], Message | None], send: Callable[[Message], object]) -> None:
    """Do `work` and send its message, or the error that it met."""
    try:
        message = work()
    except OptrackError as error:
        message = Failed(error.message, error.hint)
    if message is not None:
        send(message)

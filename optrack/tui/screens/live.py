"""The run in progress: where it is, what it has measured, and its logs."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from optrack.core.events import Entry
from optrack.core.run import Run
from optrack.tui import commands
from optrack.tui.messages import Picture
from optrack.tui.outside import plain
from optrack.tui.screens.base import BoardScreen
from optrack.tui.widgets.log_view import LogView


class LiveRead(Message):
    """The journal of the run was read."""

    def __init__(self, run: Run | None, entries: tuple[Entry, ...], log: Path | None) -> None:
        super().__init__()
        self.run, self.entries, self.log = run, entries, log


class LiveScreen(BoardScreen):
    """The screen of the run in progress."""

    TAB = "Live"
    OFFERS = (commands.Back,)
    BINDINGS: ClassVar[list[BindingType]] = [*commands.bindings(OFFERS)]
    AUTO_FOCUS = "#log"

    def body(self) -> ComposeResult:
        yield Static(Content(""), id="stage")
        yield LogView(id="log")

    def look(self, picture: Picture) -> None:
        if not picture.live:
            self.query_one("#stage", Static).update(Content("Nothing is running. Press n to run the next item."))
            return
        run = picture.live[-1]

        def work() -> Message:
            return LiveRead(run, tuple(self.board.entries(run.id, 0)), self.board.log_path(run.id, "server"))

        self.fetch("live", work)

    def on_live_read(self, message: LiveRead) -> None:
        if message.run is not None and message.entries:
            last = message.entries[-1].event.kind
            self.query_one("#stage", Static).update(Content(f"{plain(message.run.item)}  {last}"))
        self.query_one("#log", LogView).open(message.log)

"""The application: it watches the board, owns the picture of it, and moves between the screens."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import App
from textual.binding import BindingType
from textual.message import Message

from optrack.tui import commands, themes, watch
from optrack.tui.board import Board
from optrack.tui.messages import Acted, BoardChanged, BoardFailed, Picture
from optrack.tui.screens.base import BoardScreen
from optrack.tui.screens.item import ItemScreenPage
from optrack.tui.screens.live import LiveScreen
from optrack.tui.screens.plan import PlanScreen


class OptrackApp(App[None]):
    """The terminal interface of one campaign."""

    TITLE = "optrack"
    CSS_PATH = "optrack.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*commands.bindings(commands.EVERYWHERE)]
    COMMANDS = {commands.Palette}  # noqa: RUF012
    ENABLE_COMMAND_PALETTE = True

    def __init__(self, board: Board, *, theme: str = "dark", read_only: bool = False) -> None:
        super().__init__()
        self.board = board
        self.read_only = read_only
        self.picture: Picture | None = None
        self._leaving = threading.Event()
        self.register_theme(themes.DARK)
        self.register_theme(themes.LIGHT)
        self.theme = "optrack-light" if theme == "light" else "optrack-dark"

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(themes.TONES_BY_DEFAULT)

    def on_mount(self) -> None:
        self.push_screen(PlanScreen())
        self.run_worker(self._watch, group="watch", thread=True, exclusive=True, exit_on_error=False)

    def _watch(self) -> None:
        watch.watch(self.board, self.post_message, self._leaving)

    async def on_unmount(self) -> None:
        self._leaving.set()

    def action_issue(self, name: str) -> None:
        """Send the command with this name from the screen in front."""
        self.screen.post_message(commands.COMMANDS[name]())

    def on_board_changed(self, message: BoardChanged) -> None:
        self.picture = message.picture
        for screen in self.screen_stack:
            if isinstance(screen, BoardScreen) and screen.is_current:
                screen.renew()

    def on_board_failed(self, message: BoardFailed) -> None:
        hint = f" ({message.hint})" if message.hint else ""
        self.notify(f"{message.text}{hint}", severity="error", markup=False)

    def on_acted(self, message: Acted) -> None:
        self.notify(message.text, markup=False)

    def act(self, work: Callable[[], Message]) -> None:
        """Ask for something in a thread; its message or its error comes back here."""
        self.run_worker(
            lambda: watch.reading(work, self.post_message), group="act", thread=True, exit_on_error=False
        )

    @on(commands.Quit)
    def leave(self) -> None:
        self._leaving.set()
        self.exit()

    @on(commands.RunNext)
    def run_next(self) -> None:
        def work() -> Message:
            run = self.board.start_next()
            return Acted(f"Run {run} has been started.", run)

        self.act(work)

    def show_item(self, item: str) -> None:
        """Show this item."""
        self.push_screen(ItemScreenPage(item))

    @on(commands.ToLive)
    def to_live(self) -> None:
        self.push_screen(LiveScreen())

    @on(commands.Back)
    def back(self) -> None:
        if len(self.screen_stack) > 2:
            self.pop_screen()

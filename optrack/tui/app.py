"""The application: it watches the board, owns the picture of it, and moves between the screens."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, TypeVar, cast

from rich.console import RenderableType
from textual import on
from textual.app import App
from textual.binding import BindingType
from textual.filter import LineFilter, Monochrome, NoColor
from textual.message import Message
from textual.screen import Screen
from textual.scrollbar import ScrollBar
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from optrack.tui import commands, look, themes, watch
from optrack.tui.ascii_only import AsciiOnly
from optrack.tui.board import Board
from optrack.tui.ending import end_on_signals, named
from optrack.tui.messages import Acted, BoardChanged, BoardFailed, Picture
from optrack.tui.outside import plain
from optrack.tui.screens.base import BoardScreen
from optrack.tui.screens.compare import CompareScreen
from optrack.tui.screens.failures import FailuresScreen
from optrack.tui.screens.help import HelpScreen, parts_of
from optrack.tui.screens.history import HistoryScreen
from optrack.tui.screens.item import OneItemScreen
from optrack.tui.screens.live import LiveScreen
from optrack.tui.screens.plan import PlanScreen

S = TypeVar("S", bound=BoardScreen)
_LAST_WORDS_S = 0.2
"""How long the last keys may take to be understood after a signal that ends the screens."""


class OptrackApp(App[None]):
    """The terminal interface of one campaign.

    `theme` is `dark` or `light`; `read_only` leaves out every command that changes something; `ascii_only`
    draws with ASCII characters alone.
    """

    TITLE = "optrack"
    CSS_PATH = "optrack.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*commands.bindings(commands.EVERYWHERE)]
    COMMANDS = {commands.Palette}  # noqa: RUF012

    def __init__(
        self, board: Board, *, theme: str = "dark", read_only: bool = False, ascii_only: bool = False
    ) -> None:
        self._ascii = AsciiOnly(enabled=ascii_only)
        super().__init__()
        ScrollBar.renderer = look.WholeCells
        self.ansi_theme_dark, self.ansi_theme_light = look.LOG_DARK, look.LOG_LIGHT
        self.board = board
        self.read_only = read_only
        self.defect: str | None = None
        self.picture: Picture | None = None
        self.selected: str | None = None
        self._leaving = threading.Event()
        self.register_theme(themes.DARK)
        self.register_theme(themes.LIGHT)
        self.theme = "optrack-light" if theme == "light" else "optrack-dark"
        self.animation_level = "none"

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(themes.TONES_BY_DEFAULT)

    def get_line_filters(self) -> Sequence[LineFilter]:
        filters = [NoColor() if isinstance(f, Monochrome) else f for f in super().get_line_filters()]
        return [*filters, self._ascii] if self._ascii.enabled else filters

    def on_mount(self) -> None:
        self.push_screen(PlanScreen())
        self._watch_board()

    def on_load(self) -> None:
        if not self.is_headless:
            end_on_signals(lambda: self._driver, self._last_words)

    async def _last_words(self) -> None:
        """Do what was asked for until now."""
        await asyncio.sleep(_LAST_WORDS_S)
        asked = [worker.wait() for worker in self.workers if worker.group == "act"]
        await asyncio.gather(*asked, return_exceptions=True)

    def panic(self, *renderables: RenderableType) -> None:
        """End because of a defect, which the caller tells once the terminal is restored; no traceback."""
        self.defect = named(self._exception)
        self._close_messages_no_wait()

    def _fatal_error(self) -> None:
        self.panic()

    def _watch_board(self) -> None:
        work = partial(watch.watch, self.board, self.post_message, self._leaving)
        self.run_worker(work, group="watch", thread=True, exclusive=True, exit_on_error=False)

    def on_worker_state_changed(self, message: Worker.StateChanged) -> None:
        self.tell_defect(message)
        if message.state is WorkerState.ERROR and message.worker.group == "watch":
            self.set_timer(watch.EVERY_S, self._watch_board)

    def tell_defect(self, message: Worker.StateChanged) -> None:
        """Tell the error of a worker that failed in a way that nobody expects."""
        error = message.worker.error
        if message.state is WorkerState.ERROR and error is not None:
            self.post_message(BoardFailed(f"{type(error).__name__} in {message.worker.group}: {error}"))

    async def on_unmount(self) -> None:
        self._leaving.set()
        self.workers.cancel_all()

    def action_issue(self, name: str) -> None:
        """Send the command with this name from the screen in front."""
        self.screen.post_message(commands.COMMANDS[name]())

    def on_board_changed(self, message: BoardChanged) -> None:
        self.picture = message.picture
        front = next((s for s in reversed(self.screen_stack) if isinstance(s, BoardScreen)), None)
        if front is not None and front.is_mounted:
            front.renew()

    def on_board_failed(self, message: BoardFailed) -> None:
        hint = f" ({message.hint})" if message.hint else ""
        self.notify(plain(f"{message.text}{hint}"), severity="error", timeout=8, markup=False)

    def on_acted(self, message: Acted) -> None:
        self.notify(plain(message.text), markup=False)

    def act(self, work: Callable[[], Message]) -> None:
        """Ask for something in a thread; its message or its error comes back here."""
        asking = partial(watch.reading, work, self.post_message)
        self.run_worker(asking, group="act", thread=True, exit_on_error=False)

    # moving between screens
    def _show(self, kind: type[S], make: Callable[[], S], open_: Callable[[S], None] | None = None) -> None:
        """Bring the screen of this kind to the front, going back to it if it is already there."""
        found = next((one for one in self.screen_stack if isinstance(one, kind)), None)
        if found is None:
            self.push_screen(make())
            return
        while self.screen is not found:
            self.pop_screen()
        if open_ is not None:
            open_(cast("S", found))

    def show_item(self, item: str) -> None:
        """Show this item."""
        self.selected = item
        self._show(OneItemScreen, lambda: OneItemScreen(item), lambda screen: screen.open(item))

    def show_run(self, run: str | None) -> None:
        """Follow this run; None for the one in progress."""
        self._show(LiveScreen, lambda: LiveScreen(run), lambda screen: screen.open(run))

    def show_comparison(self, candidate: str, baseline: str | None = None) -> None:
        """Compare two runs or items."""
        self._show(
            CompareScreen, lambda: CompareScreen(candidate, baseline), lambda s: s.open(candidate, baseline)
        )

    @on(commands.ToPlan)
    def to_plan(self) -> None:
        """Show the plan."""
        self._show(PlanScreen, PlanScreen)

    @on(commands.ToItem)
    def to_item(self) -> None:
        """Show the selected item."""
        if self.selected:
            self.show_item(self.selected)

    @on(commands.ToLive)
    def to_live(self) -> None:
        """Show the run in progress."""
        self.show_run(None)

    @on(commands.ToCompare)
    def to_compare(self) -> None:
        """Show the comparison of the selected item, or the last one."""
        if any(isinstance(screen, CompareScreen) for screen in self.screen_stack) or not self.selected:
            self._show(CompareScreen, CompareScreen)
        else:
            self.show_comparison(self.selected)

    @on(commands.ToHistory)
    def to_history(self) -> None:
        """Show the campaign's history."""
        self._show(HistoryScreen, HistoryScreen)

    @on(commands.ToFailures)
    def to_failures(self) -> None:
        """Show the failures."""
        self._show(FailuresScreen, FailuresScreen)

    @on(commands.Back)
    def back(self) -> None:
        """Leave the screen in front; the plan stays."""
        if isinstance(self.screen, BoardScreen) and not isinstance(self.screen, PlanScreen):
            self.pop_screen()

    # what holds everywhere
    @on(commands.Quit)
    def leave(self) -> None:
        """Leave; runs go on."""
        self._leaving.set()
        self.exit()

    @on(commands.RunNext)
    def run_next(self) -> None:
        """Start the next item's run."""

        def work() -> Message:
            run = self.board.start_next()
            return Acted(f"Run {run} has been started. Press 3 to follow it.", run)

        self.act(work)

    @on(commands.SwitchTheme)
    def switch_theme(self) -> None:
        """Change between dark and light."""
        self.theme = "optrack-dark" if self.theme == "optrack-light" else "optrack-light"

    @on(commands.Help)
    def help(self) -> None:
        """Show the keys that work now."""
        here = self.screen
        focused = here.focused
        names: dict[type[object], str] = {App: "Everywhere", Screen: "On this screen", Widget: "In this part"}
        title = here.TAB if isinstance(here, BoardScreen) else "here"
        if focused is not None and focused.id:
            title = f"{title}, {focused.id}"
        parts = parts_of(list(here.active_bindings.values()), names)
        order = ["In this part", "On this screen", "Everywhere", "Here"]
        self.push_screen(HelpScreen(title, sorted(parts, key=lambda part: order.index(part[0]))))

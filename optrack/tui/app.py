"""The application: it watches the campaign, owns the view of it, and moves between the screens."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar, cast

from rich.console import RenderableType
from textual.app import App
from textual.binding import BindingType
from textual.filter import LineFilter, Monochrome, NoColor
from textual.message import Message
from textual.worker import Worker, WorkerState

from optrack.app.project import Project
from optrack.app.running import start_next
from optrack.app.watching import View, Watcher
from optrack.tui import commands, watch
from optrack.tui.ending import end_on_signals, named
from optrack.tui.screens.base import CampaignScreen
from optrack.tui.screens.compare import CompareScreen
from optrack.tui.screens.dialogs import HelpScreen, key_groups
from optrack.tui.screens.failures import FailuresScreen
from optrack.tui.screens.history import HistoryScreen
from optrack.tui.screens.item import ItemScreen
from optrack.tui.screens.live import LiveScreen
from optrack.tui.screens.plan import PlanScreen
from optrack.tui.text import plain
from optrack.tui.theme import DARK, LIGHT, LOG_DARK, LOG_LIGHT, AsciiOnly
from optrack.tui.watch import Done, Failed, ViewChanged

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
    MODES = {  # noqa: RUF012
        "plan": PlanScreen,
        "item": ItemScreen,
        "live": LiveScreen,
        "compare": CompareScreen,
        "history": HistoryScreen,
        "failures": FailuresScreen,
    }
    DEFAULT_MODE = "plan"

    def __init__(
        self, watcher: Watcher, *, theme: str = "dark", read_only: bool = False, ascii_only: bool = False
    ) -> None:
        self._ascii_only = ascii_only
        super().__init__()
        self.ansi_theme_dark, self.ansi_theme_light = LOG_DARK, LOG_LIGHT
        self.watcher = watcher
        self.read_only = read_only
        self.defect: str | None = None
        self.view: View | None = None
        self.selected: str | None = None
        self._trail = ["plan"]
        self._leaving = threading.Event()
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = "optrack-light" if theme == "light" else "optrack-dark"
        self.animation_level = "none"

    def get_line_filters(self) -> Sequence[LineFilter]:
        filters = [NoColor() if isinstance(f, Monochrome) else f for f in super().get_line_filters()]
        return [*filters, AsciiOnly()] if self._ascii_only else filters

    def on_mount(self) -> None:
        self._watch()

    # how it ends
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

    async def on_unmount(self) -> None:
        self._leaving.set()
        self.workers.cancel_all()

    # watching and acting, in threads
    def _watch(self) -> None:
        work = partial(watch.watch, self.watcher, self.post_message, self._leaving)
        self.run_worker(work, group="watch", thread=True, exclusive=True, exit_on_error=False)

    def on_worker_state_changed(self, message: Worker.StateChanged) -> None:
        self.report_defect(message)
        if message.state is WorkerState.ERROR and message.worker.group == "watch":
            self.set_timer(watch.EVERY_S, self._watch)

    def report_defect(self, message: Worker.StateChanged) -> None:
        """Tell the error of a worker that failed in a way that nobody expects."""
        error = message.worker.error
        if message.state is WorkerState.ERROR and error is not None:
            self.post_message(Failed(f"{type(error).__name__} in {message.worker.group}: {error}"))

    def on_view_changed(self, message: ViewChanged) -> None:
        self.view = message.view
        updating = any(worker.group == "update" and worker.is_running for worker in self.workers)
        if message.view.is_behind and not updating:
            self._answer("update", self.watcher.update)
        front = next((s for s in reversed(self.screen_stack) if isinstance(s, CampaignScreen)), None)
        if front is not None and front.is_mounted:
            front.renew()

    def on_failed(self, message: Failed) -> None:
        hint = f" ({message.hint})" if message.hint else ""
        self.notify(plain(f"{message.text}{hint}"), severity="error", timeout=8, markup=False)

    def on_done(self, message: Done) -> None:
        self.notify(plain(message.text), markup=False)

    def act(self, work: Callable[[Project], str]) -> None:
        """Do `work` in a thread on a project of its own; what it returns, or its error, is told here."""

        def acting() -> Message:
            with self.watcher.acting() as project:
                return Done(work(project))

        self._answer("act", acting)

    def _answer(self, group: str, work: Callable[[], Message | None]) -> None:
        answering = partial(watch.answering, work, self.post_message)
        self.run_worker(answering, group=group, thread=True, exit_on_error=False)

    # moving between screens
    def _show(self, mode: str) -> None:
        """Bring a screen to the front; `back` leads to where one came from, once to each screen."""
        if mode in self._trail:
            del self._trail[self._trail.index(mode) + 1 :]
        else:
            self._trail.append(mode)
        self.switch_mode(mode)

    def show_item(self, item: str) -> None:
        self.selected = item
        self._show("item")
        cast("ItemScreen", self.screen).open(item)

    def show_run(self, run: str | None) -> None:
        """Follow this run; None for the one in progress."""
        self._show("live")
        cast("LiveScreen", self.screen).open(run)

    def show_comparison(self, candidate: str, baseline: str | None = None) -> None:
        self._show("compare")
        cast("CompareScreen", self.screen).open(candidate, baseline)

    # what holds everywhere
    def action_issue(self, name: str) -> None:
        """Do the command with this name, where no screen does it: its method, or to show the screen called so."""
        do: Callable[[], object] | None = getattr(self, f"do_{name}", None)
        if do is not None:
            do()
        elif name in self.MODES:
            self._show(name)

    def do_item(self) -> None:
        if self.selected:
            self.show_item(self.selected)

    def do_live(self) -> None:
        self.show_run(None)

    def do_compare(self) -> None:
        """Show the last comparison, or else the one of the selected item."""
        if "compare" in self._trail or not self.selected:
            self._show("compare")
        else:
            self.show_comparison(self.selected)

    def do_back(self) -> None:
        """Leave the screen in front; the plan stays."""
        if len(self._trail) > 1:
            self._show(self._trail[-2])

    def do_quit(self) -> None:
        """Leave; runs go on."""
        self._leaving.set()
        self.exit()

    def do_next(self) -> None:
        self.act(lambda project: f"Run {start_next(project)} has been started. Press 3 to follow it.")

    def do_theme(self) -> None:
        self.theme = "optrack-dark" if self.theme == "optrack-light" else "optrack-light"

    def do_help(self) -> None:
        here = self.screen
        focused = here.focused
        title = here.TAB if isinstance(here, CampaignScreen) else "here"
        if focused is not None and focused.id:
            title = f"{title}, {focused.id}"
        self.push_screen(HelpScreen(title, key_groups(list(here.active_bindings.values()))))

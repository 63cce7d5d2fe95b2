"""What all screens share: header, footer, the view of the campaign, reading in a thread, and issuing commands."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import iscoroutinefunction
from typing import ClassVar, Protocol, TypeVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import Worker, get_current_worker

from optrack.app.project import Project
from optrack.app.watching import View
from optrack.tui import watch
from optrack.tui.commands import COMMANDS
from optrack.tui.screens.dialogs import Dialog
from optrack.tui.watch import Read
from optrack.tui.widgets.header import Header, KeyBar

T = TypeVar("T")


class Navigator(Protocol):
    """What the screens need of the application."""

    view: View | None
    selected: str | None
    read_only: bool

    def act(self, work: Callable[[Project], str]) -> None: ...
    def show_item(self, item: str) -> None: ...
    def show_run(self, run: str | None) -> None: ...
    def show_comparison(self, candidate: str, baseline: str | None = None) -> None: ...
    def report_defect(self, message: Worker.StateChanged) -> None: ...
    def action_issue(self, name: str) -> None: ...


class CampaignScreen(Screen[None]):
    """A screen of the campaign; `look` is called with each new view, and when the screen comes to the front."""

    TAB: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = []
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-low"), (16, "-medium"), (30, "-high")]  # noqa: RUF012

    _asking = False

    @property
    def navigator(self) -> Navigator:
        return cast("Navigator", self.app)

    @property
    def view(self) -> View | None:
        """How the campaign stood last, None before it was read."""
        return self.navigator.view

    def compose(self) -> ComposeResult:
        yield Header(self.TAB)
        yield from self.body()
        yield KeyBar(show_command_palette=False, compact=True)

    def body(self) -> ComposeResult:
        """Return what stands between the header and the footer."""
        yield Widget()

    def on_mount(self) -> None:
        self.renew()

    def on_screen_resume(self) -> None:
        if self.is_mounted:
            self.renew()

    def renew(self) -> None:
        """Show the campaign as it stands now, unless this screen isn't put together yet or is taken down."""
        if self.view is not None and (headers := self.query(Header)):
            headers.first().show(self.view)
            self.look(self.view)

    def look(self, view: View) -> None:
        """Show this view."""

    def fetch(self, group: str, work: Callable[[], T], show: Callable[[T], object]) -> None:
        """Do `work` in a thread and `show` here what it returns; a later call of the group replaces it."""
        reading = partial(self._reading, lambda: Read(show, work()))
        self.run_worker(reading, group=group, thread=True, exclusive=True, exit_on_error=False)

    def _reading(self, work: Callable[[], Message]) -> None:
        worker = get_current_worker()

        def send(message: Message) -> None:
            if not worker.is_cancelled and self.is_attached:
                self.post_message(message)

        watch.answering(work, send)

    def on_read(self, message: Read) -> None:
        message.show(message.value)

    def on_worker_state_changed(self, message: Worker.StateChanged) -> None:
        if message.worker.group == "ask" and message.worker.is_finished:
            self._asked()
        self.navigator.report_defect(message)

    def action_issue(self, name: str) -> None:
        """Do the command with this name here, or else in the application.

        What is typed ahead into a question that is about to open, or into a search, is no command.
        """
        typing = isinstance(self.focused, Input) and name != "back"
        if self._asking or typing or not self.is_current:
            return
        self._asking = COMMANDS[name].asks
        do: Callable[[], object] | None = getattr(self, f"do_{name}", None)
        if iscoroutinefunction(do):
            self.run_worker(do(), group="ask", exit_on_error=False)
            return
        if do is not None:
            do()
        else:
            self.navigator.action_issue(name)
        self.call_later(self._asked)

    def _asked(self) -> None:
        self._asking = False

    async def ask(self, dialog: Dialog[T]) -> T | None:
        """Ask over this screen; None where nothing was answered. It waits, so it needs a worker."""
        answer = self.app.push_screen(dialog, wait_for_dismiss=True)
        self._asked()
        return await answer

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        acts = action == "issue" and COMMANDS[str(parameters[0])].acts
        return not (acts and self.navigator.read_only)

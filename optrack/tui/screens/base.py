"""What all screens share: head line, footer, the picture of the campaign, and reading in a thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import Worker, get_current_worker

from optrack.tui import watch
from optrack.tui.board import Board
from optrack.tui.commands import COMMANDS, Back, Command
from optrack.tui.messages import Picture
from optrack.tui.widgets.head import Head
from optrack.tui.widgets.keys import Keys

if TYPE_CHECKING:
    from optrack.tui.app import OptrackApp


class BoardScreen(Screen[None]):
    """A screen of the campaign; `look` is called with each new picture, and when it comes to the front."""

    TAB: ClassVar[str] = ""
    OFFERS: ClassVar[tuple[type[Command], ...]] = ()
    BINDINGS: ClassVar[list[BindingType]] = []
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-low"),
        (16, "-medium"),
        (30, "-high"),
    ]

    _asking = False

    @property
    def optrack(self) -> OptrackApp:
        """The application."""
        return cast("OptrackApp", self.app)

    @property
    def board(self) -> Board:
        """The campaign."""
        return self.optrack.board

    @property
    def picture(self) -> Picture | None:
        """How the campaign looked last, None before it was read."""
        return self.optrack.picture

    def compose(self) -> ComposeResult:
        yield Head(self.TAB)
        yield from self.body()
        yield Keys(show_command_palette=False, compact=True)

    def body(self) -> ComposeResult:
        """Return what stands between the head line and the footer."""
        yield Widget()

    def on_mount(self) -> None:
        self.renew()

    def on_screen_resume(self) -> None:
        if self.is_mounted:
            self.renew()

    def renew(self) -> None:
        """Show the campaign as it looks now, unless this screen isn't put together yet or is taken down."""
        if self.picture is not None and (heads := self.query(Head)):
            heads.first().show(self.picture)
            self.look(self.picture)

    def look(self, picture: Picture) -> None:
        """Show this picture."""

    def fetch(self, group: str, work: Callable[[], Message]) -> None:
        """Do `work` in a thread and send this screen its message; a later call of the group replaces it."""
        self.run_worker(
            partial(self._reading, work), group=group, thread=True, exclusive=True, exit_on_error=False
        )

    def _reading(self, work: Callable[[], Message]) -> None:
        worker = get_current_worker()

        def tell(message: Message) -> None:
            if not worker.is_cancelled and self.is_attached:
                self.post_message(message)

        watch.reading(work, tell)

    def on_worker_state_changed(self, message: Worker.StateChanged) -> None:
        self.optrack.tell_defect(message)

    def action_issue(self, name: str) -> None:
        """Send the command with this name from here upwards.

        What is typed ahead into a question that is about to open, or into a search, is no command.
        """
        command = COMMANDS[name]
        typing = isinstance(self.focused, Input) and command is not Back
        if self._asking or typing or not self.is_current:
            return
        self.post_message(command())
        if command.ASKS:
            self._asking = True
            self.call_later(self._asked)

    def _asked(self) -> None:
        self._asking = False

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        acts = action == "issue" and COMMANDS[str(parameters[0])].ACTS
        return not (acts and self.optrack.read_only)

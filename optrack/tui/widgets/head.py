"""The line on top of every screen: the screens with their keys, and whether a run is in progress."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from optrack.tui.commands import COMMANDS
from optrack.tui.messages import Picture
from optrack.tui.outside import plain

TABS: tuple[tuple[str, str], ...] = (
    ("ToPlan", "Plan"),
    ("ToItem", "Item"),
    ("ToLive", "Live"),
    ("ToCompare", "Compare"),
    ("ToHistory", "History"),
    ("ToFailures", "Failures"),
)


class Tab(Static):
    """One screen's name; a click goes there."""

    def __init__(self, command: str, name: str, *, here: bool) -> None:
        key = COMMANDS[command].KEY
        text = Content.assemble((key, "$quiet" if not here else ""), " ", name)
        super().__init__(text, classes="-here" if here else "", markup=False)
        self._command = command
        self.tooltip = COMMANDS[command].tooltip()

    def on_click(self) -> None:
        self.post_message(COMMANDS[self._command]())


class Head(Widget):
    """The head line of a screen."""

    def __init__(self, here: str) -> None:
        super().__init__()
        self._here = here

    @property
    def _now(self) -> Static:
        return self.query_one("#now", Static)

    def compose(self) -> ComposeResult:
        yield Static(Content("optrack"), id="brand")
        for command, name in TABS:
            yield Tab(command, name, here=name == self._here)
        yield Static(Content(""), id="now")

    def show(self, picture: Picture) -> None:
        """Show which items are running."""
        running = ", ".join(plain(run.item) for run in picture.live)
        self._now.update(
            Content.styled(f"> {running} running", "$live") if running else Content.styled("idle", "$quiet")
        )

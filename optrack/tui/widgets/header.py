"""The lines on top and at the bottom of every screen: the screens with their keys, the keys, a search's words."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Footer, Input, Static

from optrack.app.watching import View
from optrack.render.format import RUNNING
from optrack.tui.commands import COMMANDS
from optrack.tui.text import plain

TABS = ("plan", "item", "live", "compare", "history", "failures")


class Tab(Static):
    """One screen's name; a click goes there."""

    def __init__(self, name: str, *, here: bool) -> None:
        command = COMMANDS[name]
        text = Content.assemble((command.key, "$quiet" if not here else ""), " ", command.footer)
        super().__init__(text, classes="-here" if here else "", markup=False)
        self._command = name
        self.tooltip = command.text

    async def on_click(self) -> None:
        await self.run_action(f"screen.issue('{self._command}')")


class Header(Widget):
    """The head line of a screen."""

    def __init__(self, here: str) -> None:
        super().__init__()
        self._here = here

    def compose(self) -> ComposeResult:
        yield Static(Content("optrack"), id="brand")
        for name in TABS:
            yield Tab(name, here=COMMANDS[name].footer == self._here)
        yield Static(Content(""), id="now")

    def show(self, view: View) -> None:
        """Show which items are running."""
        running = ", ".join(plain(run.item) for run in view.live)
        self.query_one("#now", Static).update(
            Content.styled(f"{RUNNING.sign} {running} {RUNNING.word}", "$live")
            if running
            else Content.styled("idle", "$quiet")
        )


class KeyBar(Footer):
    """A footer that lets go of the keys that it no longer shows.

    Every key is bound to the footer's `compact`, and a footer that never changes it would keep those of each
    change of focus for as long as the screens are open.
    """

    async def recompose(self) -> None:
        await super().recompose()
        self.mutate_reactive(Footer.compact)


class SearchInput(Input):
    """An input whose footer shows how to leave it, and none of the keys that are typed into it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "screen.issue('back')", COMMANDS["back"].footer, tooltip=COMMANDS["back"].text)
    ]

    def check_consume_key(self, key: str, character: str | None) -> bool:
        return key == "slash" or super().check_consume_key(key, character)

"""One item: what it supposes, its recipe against the baseline's, its runs and its notes."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from optrack.core.run import Run
from optrack.tui import commands
from optrack.tui.board import ResolvedItem
from optrack.tui.messages import Picture
from optrack.tui.screens.acting import ItemScreen
from optrack.tui.widgets import item_text
from optrack.tui.widgets.rows import RowList
from optrack.tui.widgets.run_list import run_list


class ItemRead(Message):
    """An item's recipe and runs were read."""

    def __init__(self, resolved: ResolvedItem, runs: tuple[Run, ...]) -> None:
        super().__init__()
        self.resolved, self.runs = resolved, runs


class ItemScreenPage(ItemScreen):
    """The screen of one item."""

    TAB = "Item"
    OFFERS = (commands.RunNext, *commands.ON_ITEM, commands.Back)
    BINDINGS: ClassVar[list[BindingType]] = [*commands.bindings(OFFERS)]
    AUTO_FOCUS = "#runs"

    def __init__(self, item: str) -> None:
        super().__init__()
        self._item = item

    @property
    def current(self) -> str | None:
        return self._item

    def body(self) -> ComposeResult:
        with Container(id="halves"):
            with VerticalScroll(id="about"):
                yield Static(Content(""), id="facts")
                yield Static(Content(""), id="recipe")
            yield run_list("output_throughput", "runs")

    def look(self, picture: Picture) -> None:
        state = picture.state(self._item)
        if state is None:
            return
        lines = item_text.facts(state, picture.choice.blocked.get(self._item, ()))
        self.query_one("#facts", Static).update(Content("\n").join([item_text.headline(state), *lines]))
        item = self._item
        self.fetch("item", lambda: ItemRead(self.board.resolved(item), tuple(self.board.runs(item))))

    def on_item_read(self, message: ItemRead) -> None:
        self.query_one("#recipe", Static).update(Content("\n").join(item_text.recipe(message.resolved)))
        self.query_one("#runs", RowList).show(message.runs)

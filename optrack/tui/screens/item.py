"""One item: what it supposes, its recipe against the baseline's, its runs and its notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message

from optrack.model.item import Transition
from optrack.model.run import Run
from optrack.tui import commands
from optrack.tui.board import ResolvedItem
from optrack.tui.messages import Picture
from optrack.tui.screens.acting import ItemScreen
from optrack.tui.widgets import item_text
from optrack.tui.widgets.rows import RowList
from optrack.tui.widgets.run_list import run_list
from optrack.tui.widgets.sheet import Sheet, heading, paragraph


class ItemRead(Message):
    """An item's recipe, runs and history were read."""

    def __init__(
        self, item: str, resolved: ResolvedItem, runs: Sequence[Run], transitions: Sequence[Transition]
    ) -> None:
        super().__init__()
        self.item, self.resolved, self.runs, self.transitions = item, resolved, runs, transitions


class OneItemScreen(ItemScreen):
    """The screen of one item."""

    TAB = "Item"
    OFFERS = (commands.RunNext, *commands.ON_ITEM, commands.Back)
    BINDINGS: ClassVar[list[BindingType]] = [*commands.bindings(OFFERS)]
    AUTO_FOCUS = "#runs"

    def __init__(self, item: str) -> None:
        super().__init__()
        self._item = item
        self._read: ItemRead | None = None

    @property
    def current(self) -> str | None:
        return self._item

    @property
    def runs(self) -> RowList[Run]:
        """The list of runs."""
        return self.query_one("#runs", RowList)

    @property
    def sheet(self) -> Sheet:
        """The item in words."""
        return self.query_one("#about", Sheet)

    def body(self) -> ComposeResult:
        metric = self.picture.plan.metric.name if self.picture else "output_throughput"
        with Container(id="halves"):
            yield Sheet(id="about")
            yield run_list(metric, "runs")

    def open(self, item: str) -> None:
        """Show this item instead."""
        self._item, self._read = item, None
        self.renew()

    def look(self, picture: Picture) -> None:
        item = self._item
        if picture.state(item) is None:
            self.sheet.show(lambda width: paragraph(f"There is no item {item} any more.", width))
            return
        self._tell()

        def work() -> Message:
            board = self.board
            return ItemRead(item, board.resolved(item), board.runs(item), board.transitions(item))

        self.fetch("item", work)

    def on_item_read(self, message: ItemRead) -> None:
        if message.item == self._item:
            self._read = message
            self._tell()
            self.runs.show(message.runs)

    def _tell(self) -> None:
        self.sheet.show(self._words)

    def _words(self, width: int) -> list[Content]:
        state = self.state
        if state is None or self.picture is None:
            return []
        choice = self.picture.choice
        name = state.item.id
        lines = item_text.facts(state, width, choice.blocked.get(name, ()), choice.reasons.get(name, ""))
        if self._read is not None:
            lines += [*heading("Recipe"), *item_text.recipe(self._read.resolved, width)]
            lines += item_text.notes(state, self._read.transitions, width)
        return lines

    def on_row_list_chosen(self, message: RowList.Chosen[Run]) -> None:
        self.optrack.show_run(message.row.id)

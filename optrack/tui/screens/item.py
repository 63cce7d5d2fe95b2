"""One item: what it supposes, its recipe against the baseline's, its runs and its notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content

from optrack.app.viewing import ItemRecipe, recipe_of, runs_of, transitions_of
from optrack.app.watching import View
from optrack.model.item import Transition
from optrack.model.metrics import Series, series_of
from optrack.model.run import Run
from optrack.render import format as fmt
from optrack.tui import commands
from optrack.tui.screens.item_actions import SelectionScreen
from optrack.tui.text import heading, paragraph
from optrack.tui.widgets import detail
from optrack.tui.widgets.list import Cell, Column, RowList

EMPTY = "No run yet. Press r to run this item."
ItemRead = tuple[str, ItemRecipe, Sequence[Run], Sequence[Transition]]


class ItemScreen(SelectionScreen):
    """The screen of one item."""

    TAB = "Item"
    BINDINGS: ClassVar[list[BindingType]] = [*commands.bindings(("next", *commands.ON_ITEM, "back"))]
    AUTO_FOCUS = "#runs"

    def __init__(self) -> None:
        super().__init__()
        self._item: str | None = None
        self._read: ItemRead | None = None

    @property
    def current(self) -> str | None:
        return self._item

    @property
    def runs(self) -> RowList[Run]:
        return self.query_one("#runs", RowList)

    @property
    def detail(self) -> detail.DetailPane:
        return self.query_one("#about", detail.DetailPane)

    def body(self) -> ComposeResult:
        columns: tuple[Column[Run], ...] = (
            Column("Run", 24, lambda run: Cell(run.id)),
            Column("Started", 12, lambda run: Cell(fmt.clock(run.started_at), "quiet"), yields=4),
            Column("Outcome", 13, _outcome),
            Column("Stage", 9, lambda run: Cell(run.stage, "quiet"), yields=3),
            Column("Took", 7, lambda run: Cell(fmt.duration(run.seconds), "quiet"), yields=5, right=True),
            Column("Level", 12, self._level, yields=1, right=True),
            Column("Passes", 6, self._passes, yields=6, right=True),
            Column("What happened", 14, _remark, yields=2, elastic=True),
        )
        with Container(id="halves"):
            yield detail.DetailPane(id="about")
            yield RowList(columns, lambda run: run.id, empty=EMPTY, id="runs")

    def open(self, item: str) -> None:
        if item != self._item:
            self._item, self._read = item, None
        self.renew()

    def look(self, view: View) -> None:
        item = self._item
        if item is None:
            return
        if view.state(item) is None:
            self.detail.show(lambda width: paragraph(f"There is no item {item} any more.", width))
            return
        self.detail.show(self._lines)

        def read() -> ItemRead:
            return item, recipe_of(view, item), runs_of(view, item), transitions_of(view, item)

        self.fetch("item", read, self._show)

    def _show(self, read: ItemRead) -> None:
        if read[0] == self._item:
            self._read = read
            self.detail.show(self._lines)
            self.runs.show(read[2])

    def _lines(self, width: int) -> list[Content]:
        state, view = self.state, self.view
        if state is None or view is None:
            return []
        name = state.item.id
        lines = detail.facts(state, width, view.blocked.get(name, ()), view.reason(name))
        if self._read is not None:
            _, recipe, _, transitions = self._read
            lines += [*heading("Recipe"), *detail.recipe_lines(recipe, width)]
            lines += detail.notes(state, transitions, width)
        return lines

    def _series(self, run: Run) -> Series | None:
        return series_of(run.samples, self.view.plan.metric.name) if self.view else None

    def _level(self, run: Run) -> Cell:
        series = self._series(run)
        return Cell(fmt.compact(series.level, series.metric.unit) if series else "-")

    def _passes(self, run: Run) -> Cell:
        series = self._series(run)
        return Cell(str(len(series.values)) if series else "-", "quiet")

    def on_row_list_chosen(self, message: RowList.Chosen[Run]) -> None:
        self.navigator.show_run(message.row.id)


def _outcome(run: Run) -> Cell:
    mark = fmt.outcome_mark(run)
    return Cell(str(mark), mark.tone)


def _remark(run: Run) -> Cell:
    if run.failure:
        return Cell(run.failure.message, "bad")
    return Cell(f"beside {run.beside}" if run.beside else "", "quiet")

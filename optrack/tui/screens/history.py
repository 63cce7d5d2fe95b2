"""The campaign so far: the course of the metric, the runs, and expected against measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from optrack.model.plan import Quantity
from optrack.tui import commands, figures, marks
from optrack.tui.board import Calibration, Step
from optrack.tui.messages import Picture
from optrack.tui.screens.base import BoardScreen
from optrack.tui.widgets.metric_plot import MetricPlot
from optrack.tui.widgets.rows import Cell, Column, RowList

EMPTY = "No run has ended yet. Press 1, then n, to run the plan's next item."
STEPS = (
    Column("When", 12, yields=2),
    Column("Item", 10, elastic=True),
    Column("Outcome", 13, yields=1),
    Column("Median", 9, right=True),
    Column("Range", 16, yields=3),
    Column("", 9, yields=4),
)
CALIBRATION = (
    Column("Item", 8),
    Column("Title", 14, yields=3, elastic=True),
    Column("Expected gain", 17),
    Column("Measured", 9, right=True),
    Column("95% interval", 14, yields=2),
    Column("", 10, yields=1),
)


class HistoryRead(Message):
    """The campaign's runs and its calibration were read."""

    def __init__(self, steps: Sequence[Step], calibration: Sequence[Calibration]) -> None:
        super().__init__()
        self.steps, self.calibration = steps, calibration


def against(expected: Quantity, measured: Quantity | None) -> Cell:
    """Return in a word how the measured gain lies to the expected one."""
    if measured is None or measured.low is None or expected.low is None or measured.unit != expected.unit:
        return Cell("")
    mine = (measured.low, measured.high if measured.high is not None else measured.low)
    plan = (expected.low, expected.high if expected.high is not None else expected.low)
    if mine[1] < plan[0]:
        return Cell("- less", "warn")
    if mine[0] > plan[1]:
        return Cell("+ more", "good")
    return Cell("= as told", "plain")


def step_cells(step: Step) -> Sequence[Cell]:
    """Return the cells of a run."""
    mark = marks.OUTCOME[step.outcome]
    spread = "" if step.low is None else f"{figures.number(step.low)} - {figures.number(step.high)}"
    role = (
        Cell("@ adopted", "good")
        if step.adopted
        else Cell("baseline" if step.role == "baseline" else "", "quiet")
    )
    return (
        Cell(figures.clock(step.at), "quiet"),
        Cell(step.item, "strong"),
        Cell(str(mark), mark.tone),
        Cell(figures.number(step.value)),
        Cell(spread, "quiet"),
        role,
    )


def calibration_cells(one: Calibration) -> Sequence[Cell]:
    """Return the cells of an item's expectation."""
    return (
        Cell(one.item, "strong"),
        Cell(one.title),
        Cell(figures.quantity(one.expected)),
        Cell(figures.quantity(one.measured)),
        Cell(figures.interval(one.effect), "quiet"),
        against(one.expected, one.measured),
    )


class HistoryScreen(BoardScreen):
    """The screen of the whole campaign."""

    TAB = "History"
    OFFERS = (commands.Back,)
    BINDINGS: ClassVar[list[BindingType]] = [*commands.bindings(OFFERS)]
    AUTO_FOCUS = "#steps"

    @property
    def steps(self) -> RowList[Step]:
        """The list of runs."""
        return self.query_one("#steps", RowList)

    @property
    def calibration(self) -> RowList[Calibration]:
        """Expected against measured."""
        return self.query_one("#calibration", RowList)

    def body(self) -> ComposeResult:
        yield MetricPlot(id="plot")
        with Container(id="halves"):
            yield RowList(STEPS, step_cells, lambda step: step.run, empty=EMPTY, id="steps")
            with Container(id="calibrated"):
                yield Static(Content("Expected against measured"), classes="caption")
                nothing = "No item with an expectation has been measured."
                yield RowList(
                    CALIBRATION, calibration_cells, lambda one: one.item, empty=nothing, id="calibration"
                )

    def look(self, picture: Picture) -> None:
        board = self.board
        self.fetch("history", lambda: HistoryRead(board.history(), board.calibration()))

    def on_history_read(self, message: HistoryRead) -> None:
        metric = self.picture.plan.metric if self.picture else None
        label = f"{metric.name}, median of each run" if metric else ""
        plot = self.query_one("#plot", MetricPlot)
        plot.show(message.steps, label)
        plot.set_class(not any(step.value is not None for step in message.steps), "-hidden")
        self.steps.show(list(reversed(message.steps)))
        self.calibration.show(message.calibration)

    def on_row_list_chosen(self, message: RowList.Chosen[Step | Calibration]) -> None:
        if isinstance(message.row, Step):
            self.optrack.show_run(message.row.run)
        else:
            self.optrack.show_item(message.row.item)

"""The campaign so far: the metric of each run, the runs, and expected beside measured gain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from optrack.app.viewing import Expectation, Step, calibration, history
from optrack.app.watching import View
from optrack.render import format as fmt
from optrack.render.phrases import expected_range
from optrack.tui import commands
from optrack.tui.screens.base import CampaignScreen
from optrack.tui.widgets.charts import MetricHistory
from optrack.tui.widgets.list import Cell, Column, RowList

EMPTY = "No run has ended yet. Press 1, then n, to run the plan's next item."
NOTHING = "No item with an expectation has been measured."
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
    Column("Measured lies", 13, yields=1),
)
LIES = {"below": Cell("- below", "warn"), "within": Cell("= within"), "above": Cell("+ above", "good")}
History = tuple[Sequence[Step], Sequence[Expectation]]


def step_cells(step: Step) -> Sequence[Cell]:
    """Return the cells of a run."""
    mark = fmt.OUTCOME[step.outcome]
    spread = "" if step.low is None else f"{fmt.compact(step.low)} - {fmt.compact(step.high)}"
    role = Cell("@ adopted", "good") if step.adopted else Cell("baseline" * step.is_baseline, "quiet")
    return (
        Cell(fmt.clock(step.run.ended_at or step.run.started_at), "quiet"),
        Cell(step.run.item, "strong"),
        Cell(str(mark), mark.tone),
        Cell(fmt.compact(step.value)),
        Cell(spread, "quiet"),
        role,
    )


class HistoryScreen(CampaignScreen):
    """The screen of the whole campaign."""

    TAB = "History"
    BINDINGS: ClassVar[list[BindingType]] = [*commands.bindings(("back",))]
    AUTO_FOCUS = "#steps"

    @property
    def steps(self) -> RowList[Step]:
        """The list of runs."""
        return self.query_one("#steps", RowList)

    @property
    def calibration(self) -> RowList[Expectation]:
        """Expected beside measured."""
        return self.query_one("#calibration", RowList)

    def body(self) -> ComposeResult:
        yield MetricHistory(id="plot")
        with Container(id="halves"):
            yield RowList(STEPS, step_cells, lambda step: step.run.id, empty=EMPTY, id="steps")
            with Container(id="calibrated"):
                yield Static(Content("Expected against measured"), classes="caption")
                yield RowList(CALIBRATION, self._cells, lambda one: one.item, empty=NOTHING, id="calibration")

    def _cells(self, one: Expectation) -> Sequence[Cell]:
        state = self.view.state(one.item) if self.view else None
        return (
            Cell(one.item, "strong"),
            Cell(state.item.title if state else ""),
            Cell(expected_range(one)),
            Cell(fmt.percent(one.measured)),
            LIES[one.standing],
        )

    def look(self, view: View) -> None:
        metric = view.plan.metric.name

        def show(read: History) -> None:
            steps, expectations = read
            plot = self.query_one("#plot", MetricHistory)
            plot.show(steps, f"{metric}, median of each run")
            plot.set_class(not any(step.value is not None for step in steps), "-hidden")
            self.steps.show(list(reversed(steps)))
            self.calibration.show(expectations)

        self.fetch("history", lambda: (history(view), calibration(view)), show)

    def on_row_list_chosen(self, message: RowList.Chosen[Step | Expectation]) -> None:
        if isinstance(message.row, Step):
            self.navigator.show_run(message.row.run.id)
        else:
            self.navigator.show_item(message.row.item)

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
LIES = {"below": Cell("- below", "warn"), "within": Cell("= within"), "above": Cell("+ above", "good")}
History = tuple[Sequence[Step], Sequence[Expectation]]


def _outcome(step: Step) -> Cell:
    mark = fmt.OUTCOME[step.outcome]
    return Cell(str(mark), mark.tone)


def _range(step: Step) -> Cell:
    return Cell("" if step.low is None else f"{fmt.compact(step.low)} - {fmt.compact(step.high)}", "quiet")


def _role(step: Step) -> Cell:
    return Cell("@ adopted", "good") if step.adopted else Cell("baseline" * step.is_baseline, "quiet")


STEPS: tuple[Column[Step], ...] = (
    Column(
        "When", 12, lambda step: Cell(fmt.clock(step.run.ended_at or step.run.started_at), "quiet"), yields=2
    ),
    Column("Item", 10, lambda step: Cell(step.run.item, "strong"), elastic=True),
    Column("Outcome", 13, _outcome, yields=1),
    Column("Level", 9, lambda step: Cell(fmt.compact(step.value)), right=True),
    Column("Range", 16, _range, yields=3),
    Column("", 9, _role, yields=4),
)


class HistoryScreen(CampaignScreen):
    """The screen of the whole campaign."""

    TAB = "History"
    BINDINGS: ClassVar[list[BindingType]] = [*commands.bindings(("back",))]
    AUTO_FOCUS = "#steps"

    @property
    def steps(self) -> RowList[Step]:
        return self.query_one("#steps", RowList)

    @property
    def calibration(self) -> RowList[Expectation]:
        return self.query_one("#calibration", RowList)

    def body(self) -> ComposeResult:
        calibration: tuple[Column[Expectation], ...] = (
            Column("Item", 8, lambda one: Cell(one.item, "strong")),
            Column("Title", 14, self._title, yields=3, elastic=True),
            Column("Expected gain", 17, lambda one: Cell(expected_range(one))),
            Column("Measured", 9, lambda one: Cell(fmt.percent(one.measured)), right=True),
            Column("Measured lies", 13, lambda one: LIES[one.standing], yields=1),
        )
        yield MetricHistory(id="plot")
        with Container(id="halves"):
            yield RowList(STEPS, lambda step: step.run.id, empty=EMPTY, id="steps")
            with Container(id="calibrated"):
                yield Static(Content("Expected against measured"), classes="caption")
                yield RowList(calibration, lambda one: one.item, id="calibration")

    def _title(self, one: Expectation) -> Cell:
        state = self.view.state(one.item) if self.view else None
        return Cell(state.item.title if state else "")

    def look(self, view: View) -> None:
        metric = view.plan.metric.name

        def show(read: History) -> None:
            steps, expectations = read
            plot = self.query_one("#plot", MetricHistory)
            plot.show(steps, f"{metric}, level of each run")
            plot.set_class(not any(step.value is not None for step in steps), "-hidden")
            self.steps.show(list(reversed(steps)))
            self.calibration.show(expectations)
            self.query_one("#calibrated").set_class(not expectations, "-hidden")

        self.fetch("history", lambda: (history(view), calibration(view)), show)

    def on_row_list_chosen(self, message: RowList.Chosen[Step | Expectation]) -> None:
        if isinstance(message.row, Step):
            self.navigator.show_run(message.row.run.id)
        else:
            self.navigator.show_item(message.row.item)

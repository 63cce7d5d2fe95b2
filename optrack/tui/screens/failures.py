"""What went wrong, grouped by what the failures have in common."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content

from optrack.app.viewing import failures
from optrack.app.watching import View
from optrack.model.item import KnownFailure
from optrack.model.run import Run
from optrack.render import format as fmt
from optrack.tui import commands
from optrack.tui.screens.base import CampaignScreen
from optrack.tui.text import content, field, heading, paragraph
from optrack.tui.widgets.detail import DetailPane
from optrack.tui.widgets.list import Cell, Column, RowList

Group = tuple[KnownFailure, Run]
COLUMNS: tuple[Column[Group], ...] = (
    Column("Runs", 4, lambda group: Cell(str(len(group[0].runs)), "strong"), right=True),
    Column("Kind", 20, lambda group: Cell(f"{fmt.OUTCOME['failed'].sign} {fmt.words(group[0].kind)}", "bad")),
    Column("Stage", 9, lambda group: Cell(group[1].stage), yields=3),
    Column("Items", 8, lambda group: Cell(", ".join(group[0].items)), yields=2),
    Column("Last", 12, lambda group: Cell(fmt.clock(group[0].last_at), "quiet"), yields=4),
    Column("Message", 20, lambda group: Cell(group[0].message), elastic=True),
)
EMPTY = "No run has failed so far."


def lines(group: Group, width: int) -> list[Content]:
    """Return a failure in words, with the end of its latest log."""
    failure, run = group
    tail = run.failure.log_tail if run.failure else ""
    return [
        *paragraph(failure.message, width, "bold $strong"),
        *field("Kind", f"{fmt.words(failure.kind)}, in stage {run.stage}", width),
        *field("Fingerprint", failure.fingerprint, width),
        *field("Items", ", ".join(failure.items), width),
        *field("Runs", ", ".join(failure.runs), width),
        *heading("End of the log"),
        *content(tail or "Nothing was kept of the log.", "$quiet").wrap(width),
    ]


class FailuresScreen(CampaignScreen):
    """The screen of failures."""

    TAB = "Failures"
    BINDINGS: ClassVar[list[BindingType]] = [*commands.bindings(("back",))]
    AUTO_FOCUS = "#groups"

    @property
    def groups(self) -> RowList[Group]:
        return self.query_one("#groups", RowList)

    @property
    def detail(self) -> DetailPane:
        return self.query_one("#failure", DetailPane)

    def body(self) -> ComposeResult:
        with Container(id="halves"):
            yield RowList(COLUMNS, lambda group: group[0].fingerprint, empty=EMPTY, id="groups")
            yield DetailPane(id="failure")

    def look(self, view: View) -> None:
        self.fetch("failures", lambda: failures(view), lambda groups: self.groups.show(groups))

    def on_row_list_highlighted(self, message: RowList.Highlighted[Group]) -> None:
        row = message.row
        self.detail.show(partial(lines, row) if row else lambda width: (), from_top=True)

    def on_row_list_chosen(self, message: RowList.Chosen[Group]) -> None:
        self.navigator.show_run(message.row[0].runs[-1])

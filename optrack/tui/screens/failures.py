"""What went wrong, grouped by what the failures have in common."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message

from optrack.tui import commands, figures
from optrack.tui.board import FailureGroup
from optrack.tui.messages import Picture
from optrack.tui.outside import content
from optrack.tui.screens.base import BoardScreen
from optrack.tui.widgets.rows import Cell, Column, RowList
from optrack.tui.widgets.sheet import Sheet, field, heading, paragraph

COLUMNS = (
    Column("Runs", 4, right=True),
    Column("Kind", 20),
    Column("Stage", 9, yields=3),
    Column("Items", 8, yields=2),
    Column("Last", 12, yields=4),
    Column("Message", 20, elastic=True),
)
EMPTY = "No run has failed so far."


class FailuresRead(Message):
    """The failures were read."""

    def __init__(self, groups: Sequence[FailureGroup]) -> None:
        super().__init__()
        self.groups = groups


def cells(group: FailureGroup) -> Sequence[Cell]:
    """Return the cells of a group."""
    return (
        Cell(str(len(group.runs)), "strong"),
        Cell(f"x {group.kind.replace('_', ' ')}", "bad"),
        Cell(group.stage),
        Cell(", ".join(group.items)),
        Cell(figures.clock(group.last_at), "quiet"),
        Cell(group.message),
    )


def told(group: FailureGroup, width: int) -> list[Content]:
    """Return a group in words, with the end of its latest log."""
    return [
        *paragraph(group.message, width, "bold $strong"),
        *field("Kind", f"{group.kind.replace('_', ' ')}, in stage {group.stage}", width),
        *field("Fingerprint", group.fingerprint, width),
        *field("Items", ", ".join(group.items), width),
        *field("Runs", ", ".join(group.runs), width),
        *heading("End of the log"),
        *content(group.log_tail or "Nothing was kept of the log.", "$quiet").wrap(width),
    ]


class FailuresScreen(BoardScreen):
    """The screen of failures."""

    TAB = "Failures"
    OFFERS = (commands.Back,)
    BINDINGS: ClassVar[list[BindingType]] = [*commands.bindings(OFFERS)]
    AUTO_FOCUS = "#groups"

    @property
    def groups(self) -> RowList[FailureGroup]:
        """The list of groups."""
        return self.query_one("#groups", RowList)

    @property
    def sheet(self) -> Sheet:
        """The selected group in words."""
        return self.query_one("#failure", Sheet)

    def body(self) -> ComposeResult:
        with Container(id="halves"):
            yield RowList(COLUMNS, cells, lambda group: group.fingerprint, empty=EMPTY, id="groups")
            yield Sheet(id="failure")

    def look(self, picture: Picture) -> None:
        board = self.board
        self.fetch("failures", lambda: FailuresRead(board.failures()))

    def on_failures_read(self, message: FailuresRead) -> None:
        self.groups.show(message.groups)

    def on_row_list_highlighted(self, message: RowList.Highlighted[FailureGroup]) -> None:
        row = message.row
        self.sheet.show(partial(told, row) if row else lambda width: (), from_top=True)

    def on_row_list_chosen(self, message: RowList.Chosen[FailureGroup]) -> None:
        self.optrack.show_run(message.row.runs[-1])

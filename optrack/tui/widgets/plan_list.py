"""The ranked plan as a tree in aligned columns."""

from __future__ import annotations

from collections.abc import Sequence

from optrack.tui import figures, marks
from optrack.tui.plan_rows import PlanRow
from optrack.tui.widgets.rows import Cell, Column, RowList

NARROW = 120
"""Below this width, in cells, status and verdict share a column, and so do all remarks."""


def columns(rows: Sequence[PlanRow], width: int) -> tuple[Column, ...]:
    """Return the columns for these rows: the ids have the room that they need, within bounds."""
    wide = max((2 * row.depth + 2 + len(row.state.item.id) for row in rows), default=8)
    first = Column("Item", max(8, min(wide, 26 if width >= NARROW else 14)))
    title = Column("Title", 16, elastic=True, wish=34)
    if width < NARROW:
        return (
            first,
            title,
            Column("Standing", 14),
            Column("Effect", 7, yields=1, right=True),
            Column("Note", 10, yields=2),
        )
    return (
        first,
        title,
        Column("Status", 13),
        Column("Verdict", 14, yields=1),
        Column("Effect", 7, yields=2, right=True),
        Column("Fair", 9, yields=4),
        Column("Note", 10, yields=3),
        Column("Expected", 9, yields=5),
        Column("Launches", 8, yields=6, right=True),
        Column("95% interval", 14, yields=7),
    )


def cells(row: PlanRow, width: int) -> Sequence[Cell]:
    """Return the cells of a row, in the order of the columns for this width."""
    state = row.state
    quiet = row.blocked or state.status == "cancelled"
    tone: marks.Tone = "quiet" if quiet else "plain"
    fold = "  " if row.opened is None else "- " if row.opened else "+ "
    first = Cell("  " * row.depth + fold + state.item.id, "quiet" if quiet else "strong")
    title = Cell(state.item.title, tone)
    status = marks.standing(state, blocked=row.blocked)
    verdict = marks.verdict(state)
    judged = state.judgement
    effect = judged.effect if judged else None
    shown = Cell(figures.effect(effect) if effect else "", verdict.tone if verdict else "plain")
    fair = marks.COMPARISON[judged.comparison] if judged and judged.verdict != "failed" else None
    if width < NARROW:
        standing = verdict if verdict and state.status == "completed" else status
        remarks = [mark for mark in (fair,) if mark and mark.sign] + _remarks(row)
        return (first, title, _cell(standing), shown, _cell(remarks[0] if remarks else None))
    return (
        first,
        title,
        _cell(status),
        _cell(verdict),
        shown,
        _cell(fair),
        _cell(*_remarks(row)),
        Cell(state.item.gain.text if state.item.gain else "", tone),
        Cell(str(row.launches) if row.launches else "", tone),
        Cell(figures.interval(effect), "quiet"),
    )


def _remarks(row: PlanRow) -> list[marks.Mark]:
    return [marks.NEXT] if row.next else list(marks.flags(row.state))


def _cell(*shown: marks.Mark | None) -> Cell:
    found = [mark for mark in shown if mark]
    return Cell(" ".join(str(mark) for mark in found), found[0].tone if found else "quiet")


class PlanList(RowList[PlanRow]):
    """The plan's rows; how many columns there are depends on the width."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(
            columns((), 80),
            self._cells_of,
            lambda row: row.state.item.id,
            empty="Reading the plan ...",
            id=id,
        )

    def _cells_of(self, row: PlanRow) -> Sequence[Cell]:
        return cells(row, self.size.width)

    def show(self, rows: Sequence[PlanRow], *, empty: str | None = None) -> None:
        self.columns = columns(rows, self.size.width)
        super().show(rows, empty=empty)

    def on_resize(self) -> None:
        self.columns = columns(self.rows, self.size.width)

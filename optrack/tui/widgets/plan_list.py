"""The ranked plan as a tree in aligned columns."""

from __future__ import annotations

from collections.abc import Sequence

from optrack.tui import figures, marks
from optrack.tui.plan_rows import PlanRow
from optrack.tui.widgets.rows import Cell, Column, RowList


def columns(rows: Sequence[PlanRow]) -> tuple[Column, ...]:
    """Return the columns for these rows: the ids have the room that they need, within bounds."""
    wide = max((2 * row.depth + 2 + len(row.state.item.id) for row in rows), default=8)
    return (
        Column("Item", max(8, min(wide, 26))),
        Column("Title", 20, elastic=True, wish=34),
        Column("Status", 13),
        Column("Verdict", 14, yields=1),
        Column("Effect", 7, yields=2, right=True),
        Column("Also", 10, yields=3),
        Column("Fair", 9, yields=4),
        Column("Expected", 9, yields=5),
        Column("Launches", 8, yields=6, right=True),
        Column("95% interval", 14, yields=7),
    )


def cells(row: PlanRow) -> Sequence[Cell]:
    """Return the cells of a row."""
    state = row.state
    standing = marks.standing(state, blocked=row.blocked)
    verdict = marks.verdict(state)
    judged = state.judgement
    fold = "  " if row.opened is None else "- " if row.opened else "+ "
    shown = marks.COMPARISON[judged.comparison] if judged and judged.verdict != "failed" else None
    also = Cell("", "quiet")
    if row.next:
        also = Cell("> next", "live")
    elif marks.flags(state):
        flags = marks.flags(state)
        also = Cell(" ".join(str(mark) for mark in flags), flags[0].tone)
    quiet = row.blocked or state.status == "cancelled"
    return (
        Cell("  " * row.depth + fold + state.item.id, "strong" if not quiet else "quiet"),
        Cell(state.item.title, "quiet" if quiet else "plain"),
        Cell(str(standing), standing.tone),
        Cell(str(verdict) if verdict else "", verdict.tone if verdict else "quiet"),
        Cell(figures.effect(judged.effect) if judged else "", verdict.tone if verdict else "plain"),
        also,
        Cell(str(shown) if shown else "", shown.tone if shown else "quiet"),
        Cell(state.item.gain.text if state.item.gain else "", "plain" if not quiet else "quiet"),
        Cell(str(row.launches) if row.launches else "", "plain"),
        Cell(figures.interval(judged.effect) if judged else "", "quiet"),
    )


def plan_list(id: str) -> RowList[PlanRow]:  # noqa: A002
    """Return an empty list for the plan's rows."""
    return RowList(columns(()), cells, lambda row: row.state.item.id, empty="Reading the plan ...", id=id)

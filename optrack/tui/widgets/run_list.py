"""Runs in aligned columns: when, how they ended, what they measured."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from optrack.model.metrics import series_of
from optrack.model.run import Run
from optrack.tui import figures, marks
from optrack.tui.widgets.rows import Cell, Column, RowList

COLUMNS: tuple[Column, ...] = (
    Column("Run", 24),
    Column("Started", 12, yields=4),
    Column("Outcome", 13),
    Column("Stage", 9, yields=3),
    Column("Took", 7, yields=5, right=True),
    Column("Median", 12, yields=1, right=True),
    Column("Passes", 6, yields=6, right=True),
    Column("What happened", 14, yields=2, elastic=True),
)


def run_list(metric: str, id: str) -> RowList[Run]:  # noqa: A002
    """Return an empty list of runs that shows the median of `metric`."""

    def cells(run: Run) -> Sequence[Cell]:
        mark = marks.outcome(run)
        series = series_of(run.samples, metric)
        told = run.failure.message if run.failure else f"beside {run.beside}" if run.beside else ""
        return (
            Cell(run.id),
            Cell(figures.clock(run.started_at), "quiet"),
            Cell(str(mark), mark.tone),
            Cell(run.stage, "quiet"),
            Cell(figures.duration(run.seconds), "quiet"),
            Cell(figures.number(median(series.values), series.metric.unit) if series else "-"),
            Cell(str(len(series.values)) if series else "-", "quiet"),
            Cell(told, "bad" if run.failure else "quiet"),
        )

    return RowList(COLUMNS, cells, lambda run: run.id, empty="No run yet. Press r to run this item.", id=id)

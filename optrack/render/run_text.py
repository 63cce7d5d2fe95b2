"""Aligned tables, and runs with what they measured, as lines of text for a terminal: outside text is never markup."""

from __future__ import annotations

import statistics
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from optrack.model.metrics import Sample, series_of
from optrack.render.format import amount, cut, number, span, timestamp
from optrack.render.phrases import level

if TYPE_CHECKING:
    from optrack.model.run import Run

_SHARED_CHARS = 100
_TAIL_LINES = 12


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> list[str]:
    """Return the lines of a table; columns whose index is in `right` are aligned to the right."""
    cells = [[printable(cell) for cell in row] for row in (heads, *rows)]
    widths = [max(_width(row[column]) for row in cells) for column in range(len(heads))]
    lines = [_line(row, widths, right) for row in cells]
    return [lines[0], _line(["-" * width for width in widths], widths, ()), *lines[1:]]


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    padded = []
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        space = " " * (width - _width(cell))
        padded.append(space + cell if column in right else cell + space)
    return "  ".join(padded).rstrip()


def printable(cell: str) -> str:
    """Return text on one line, its other characters replaced by spaces."""
    return "".join(c if c.isprintable() else " " for c in cell)


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def run_lines(run: Run) -> list[str]:
    """Return a run: how it ended, its times, every metric with every value."""
    facts = {
        "outcome": f"{run.outcome or 'running'} (stage {run.stage})",
        "role": f"baseline beside {run.beside}" if run.beside else run.role,
        "started": timestamp(run.started_at),
        "ended": timestamp(run.ended_at) if run.ended_at else "-",
        "host": run.host,
        "by": run.actor,
        "stages": ", ".join(f"{name} {span(seconds)}" for name, seconds in run.stages.items()) or "-",
    }
    lines = [f"{run.id}  {run.item}", "", *(f"{name + ':':<10} {value}" for name, value in facts.items())]
    lines += [f"note:      {note}" for note in run.notes]
    if run.failure:
        lines += ["", f"failure: {run.failure.kind} [{run.failure.fingerprint}]", f"  {run.failure.message}"]
        tail = run.failure.log_tail.splitlines()[-_TAIL_LINES:]
        lines += ["", "log tail:", *(f"  | {line}" for line in tail)]
    return [*lines, "", *metrics_table(run.samples)] if run.samples else lines


def metrics_table(samples: Sequence[Sample]) -> list[str]:
    """Return the table of a run's metrics: level, median, and every value launch by launch."""
    rows = []
    for name in dict.fromkeys(sample.metric.name for sample in samples):
        series = series_of(tuple(samples), name)
        unit = next(s.metric.unit for s in samples if s.metric.name == name)
        invalid = [s.invalid for s in samples if s.metric.name == name and s.invalid]
        launches = series.launches if series else ()
        values = " | ".join(" ".join(number(value) for value in launch) for launch in launches)
        rows.append(
            (
                name,
                amount(series.level, unit) if series else "-",
                amount(statistics.median(series.values), unit) if series else "-",
                f"{values}  ({len(invalid)} invalid: {invalid[0]})".strip() if invalid else values,
            )
        )
    return table(("METRIC", "GEOMEAN", "MEDIAN", "VALUES (launches are separated by |)"), rows)


def runs_table(runs: Sequence[Run], metric: str, baselines: Mapping[str, Run] | None = None) -> list[str]:
    """Return a table of runs with their outcome, what they measured, and the baseline measured beside each."""
    beside = {run.beside: run for run in runs if run.beside} | dict(baselines or {})
    rows = [
        (
            run.id,
            run.item,
            run.outcome or "running",
            run.stage if run.outcome != "succeeded" else "",
            "baseline beside" if run.beside else "",
            level(run, metric, beside.get(run.id)),
            level(beside[run.id], metric, run) if run.id in beside else "",
            cut(run.failure.message, _SHARED_CHARS) if run.failure else "",
        )
        for run in runs
    ]
    measured = f"{metric.upper()} (GEOMEAN)"
    return table(("RUN", "ITEM", "OUTCOME", "STAGE", "ROLE", measured, "BASELINE BESIDE IT", "FAILURE"), rows)

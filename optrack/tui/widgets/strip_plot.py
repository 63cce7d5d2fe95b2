"""A strip plot of samples, a line for each launch, in characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from textual.content import Content

from optrack.model.metrics import Sample, series_of
from optrack.tui import figures


@dataclass(frozen=True, slots=True)
class Strip:
    """The samples of one launch under a name."""

    name: str
    values: tuple[float, ...]
    tone: str = ""


def strips(metric: str, candidate: Sequence[Sample], baseline: Sequence[Sample]) -> tuple[list[Strip], str]:
    """Return the strips of both sides' launches and the metric's unit."""
    found: list[Strip] = []
    unit = ""
    for side, samples, tone in (("baseline", baseline, ""), ("candidate", candidate, "$live")):
        series = series_of(tuple(samples), metric)
        if series is None:
            continue
        unit = series.metric.unit
        for index, values in enumerate(series.launches):
            found.append(Strip(f"{side if index == 0 else ''} {index + 1}", values, tone))
    return found, unit


def strip_plot(rows: Sequence[Strip], unit: str, width: int) -> list[Content]:
    """Return the plot in lines of at most `width` cells: `o` is a sample, `8` several, `|` the median."""
    values = [value for row in rows for value in row.values]
    label, tail = 12, 12
    room = width - label - tail - 2
    if not values or room < 10:
        return []
    low, high = min(values), max(values)
    span = high - low or max(abs(high), 1.0) * 0.01
    lines = []
    for row in rows:
        cells = ["."] * room
        for value in row.values:
            at = round((value - low) / span * (room - 1))
            cells[at] = "8" if cells[at] in "o8" else "o"
        middle = median(row.values)
        at = round((middle - low) / span * (room - 1))
        cells[at] = "|"
        told = figures.number(middle, unit).rjust(tail)
        drawn = [("." if c == "." else c, "$line" if c == "." else row.tone or "") for c in cells]
        lines.append(Content.assemble((row.name.rjust(label - 1) + " ", "$quiet"), *drawn, f" {told}"))
    left, right = figures.number(low), figures.number(high)
    axis = f"{left}{right.rjust(max(1, room - len(left)))}"
    lines.append(Content.assemble(" " * label, (axis, "$quiet"), ("median".rjust(tail + 1), "$quiet")))
    return lines

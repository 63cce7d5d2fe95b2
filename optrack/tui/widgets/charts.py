"""Charts in characters: the host's load over time, the samples of each launch, the metric of each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from textual.app import RenderResult
from textual.content import Content
from textual.widget import Widget

from optrack.app.host_load import Gauge
from optrack.app.viewing import Step
from optrack.model.metrics import Sample, series_of
from optrack.render import format as fmt
from optrack.tui.text import plain

BARS = "▁▂▃▄▅▆▇█"


def spark(values: Sequence[float], full: float | None, width: int) -> str:
    """Return the latest values as bars, one cell each, the highest at `full` or at the greatest value."""
    shown = list(values)[-width:]
    top = full or max(shown, default=0) or 1
    steps = len(BARS) - 1
    return "".join(BARS[max(0, min(steps, round(value / top * steps)))] for value in shown).rjust(width)


class Gauges(Widget):
    """Gauges side by side, as many as fit."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._gauges: Sequence[Gauge] = ()

    def show(self, gauges: Sequence[Gauge]) -> None:
        self._gauges = gauges
        self.set_class(not gauges, "-hidden")
        self.refresh()

    def render(self) -> RenderResult:
        width = self.size.width
        count = min(len(self._gauges), max(1, width // 18))
        if not count or width < 18:
            return Content("")
        each = (width - 2 * (count - 1)) // count
        top: list[Content | tuple[str, str]] = []
        below: list[Content | tuple[str, str]] = []
        for index, gauge in enumerate(self._gauges[:count]):
            gap = "  " if index else ""
            value = f"{fmt.fixed(gauge.values[-1], 0)} {gauge.unit}" if gauge.values else "-"
            name = plain(gauge.name)[: each - len(value) - 1]
            top += [(f"{gap}{name}", "$quiet"), (value.rjust(each - len(name)), "")]
            below += [gap, (spark(gauge.values, gauge.full, each), "$live")]  # type: ignore[list-item]
        return Content.assemble(*top, "\n", *below)


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
        told = fmt.compact(middle, unit).rjust(tail)
        drawn = [
            ("".join(run), "$line" if is_line else row.tone)
            for is_line, run in groupby(cells, lambda cell: cell == ".")
        ]
        lines.append(Content.assemble((row.name.rjust(label - 1) + " ", "$quiet"), *drawn, f" {told}"))
    left, right = fmt.compact(low), fmt.compact(high)
    axis = f"{left}{right.rjust(max(1, room - len(left)))}"
    lines.append(Content.assemble(" " * label, (axis, "$quiet"), ("median".rjust(tail + 1), "$quiet")))
    return lines


SIGNS: Mapping[str, tuple[str, str]] = {
    "baseline": ("b", "$quiet"),
    "candidate": ("o", "$live"),
    "adopted": ("A", "$good"),
}
"""How each kind of run is drawn."""


def kind_of(step: Step) -> str:
    """Return how a run is drawn: what it was, or that it was adopted."""
    return "adopted" if step.adopted else "baseline" if step.is_baseline else "candidate"


class MetricHistory(Widget):
    """A sign for each run that measured, in the order of time, under a line of its kinds."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._steps: Sequence[Step] = ()
        self._label = ""

    def show(self, steps: Sequence[Step], label: str) -> None:
        """Show these runs, in the order of time, under this label."""
        self._steps, self._label = [step for step in steps if step.value is not None], label
        self.refresh()

    def render(self) -> RenderResult:
        width, height = self.size.width, self.size.height
        if not self._steps or width < 24 or height < 6:
            return Content("")
        return Content("\n").join(metric_history(self._steps, self._label, width, height))


def metric_history(steps: Sequence[Step], label: str, width: int, height: int) -> list[Content]:
    """Return the chart in `height` lines: a title, the values with an axis on the left, the items below."""
    values = [step.value or 0.0 for step in steps]
    low, high = min(values), max(values)
    middle = (low + high) / 2
    axis = {0: fmt.compact(high), (height - 3) // 2: fmt.compact(middle), height - 3: fmt.compact(low)}
    left = max(map(len, axis.values())) + 1
    room = width - left - 2
    columns = [round((i + 0.5) * room / len(steps)) for i in range(len(steps))]
    grid: list[list[tuple[str, str]]] = [[(" ", "")] * (room + 1) for _ in range(height - 2)]
    adopted = [value for step, value in zip(steps, values, strict=True) if step.adopted]

    def line_of(value: float) -> int:
        return round((high - value) / (high - low) * (height - 3)) if high > low else (height - 3) // 2

    if adopted:
        grid[line_of(adopted[-1])] = [("─", "$line")] * (room + 1)
    for step, value, column in zip(steps, values, columns, strict=True):
        grid[line_of(value)][column] = SIGNS[kind_of(step)]
    legend = [(f"   {SIGNS[kind][0]} {kind}", SIGNS[kind][1]) for kind in dict.fromkeys(map(kind_of, steps))]
    title = Content.assemble((f"{' ' * left} {plain(label)}", "$quiet"), *legend)
    rows = [
        Content.assemble((f"{axis.get(at, '').rjust(left)}│", "$quiet"), *row) for at, row in enumerate(grid)
    ]
    return [title, *rows, Content.styled(" " * (left + 1) + _names(steps, columns, room), "$quiet")]


def _names(steps: Sequence[Step], columns: Sequence[int], width: int) -> str:
    """Return a line with the candidates' items, each centred under its run; those without room are left out."""
    line = ""
    counts: dict[str, int] = {}
    for step, column in zip(steps, columns, strict=True):
        if step.is_baseline:
            continue
        item = plain(step.run.item)
        counts[item] = counts.get(item, 0) + 1
        name = item[:10] if counts[item] == 1 else f"{item[:10]} #{counts[item]}"
        start = max(0, min(column - len(name) // 2, width - len(name)))
        if not line or start > len(line):
            line = line.ljust(start) + name
    return line

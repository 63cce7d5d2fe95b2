"""The chart of effects: as data, as SVG and as text."""

from __future__ import annotations

from collections.abc import Iterable
from math import log as ln

from optrack.model.judgement import Effect
from optrack.model.markdown import plain
from optrack.model.value import Frozen
from optrack.render.format import NO_VERDICT, VERDICT, cut, percent, ratio
from optrack.render.format import effect as effect_text
from optrack.render.log import Log
from optrack.render.phrases import item_verdict, level
from optrack.render.template import html_document

_TICKS = tuple(
    map(float, "-0.9 -0.75 -0.5 -0.33 -0.2 -0.1 -0.05 -0.02 0 0.02 0.05 0.1 0.2 0.5 1 2 4 9 19 49".split())
)
_LOWEST_RATIO = 0.02


class Bar(Frozen):
    """One item's row: its effect, if any, and in words what to read where there is none."""

    item: str
    title: str
    verdict: str
    sign: str
    effect: Effect | None
    text: str
    measured: str


class Axis(Frozen):
    """An axis of effects from `low` to `high` in natural logarithms of the ratio; `min_effect` is a fraction."""

    low: float
    high: float
    min_effect: float

    def place(self, fraction: float) -> float:
        """Return where an effect lies on the axis, from 0 to 1; what is beyond it stays at its end."""
        at = ln(max(1 + fraction, _LOWEST_RATIO))
        return min(max((at - self.low) / (self.high - self.low), 0.0), 1.0)

    def ticks(self, most: int) -> tuple[float, ...]:
        """Return round effects within the axis, with no change among them, `most` at most."""
        within = [tick for tick in _TICKS if self.low <= ln(1 + tick) <= self.high]
        gap = (self.high - self.low) / most
        chosen = [0.0]
        for tick in sorted(within, key=lambda t: abs(ln(1 + t))):
            if all(abs(ln(1 + tick) - ln(1 + other)) >= gap for other in chosen):
                chosen.append(tick)
        return tuple(sorted(chosen))

    @property
    def band(self) -> tuple[float, float]:
        """The bounds of no change on the axis, from 0 to 1."""
        return self.place(-self.min_effect), self.place(self.min_effect)


def axis_of(effects: Iterable[Effect | None], min_effect: float) -> Axis:
    """Return an axis on which these effects fit with their intervals, and the band of no change."""
    given = [effect for effect in effects if effect is not None]
    lows = [ln(max(1 + effect.low, _LOWEST_RATIO)) for effect in given]
    highs = [ln(1 + effect.high) for effect in given if effect.high > -1]
    least = ln(1 + max(min_effect, 0.001)) * 2
    return Axis(low=min([-least, *lows]) * 1.05, high=max([least, *highs]) * 1.05, min_effect=min_effect)


class Chart(Frozen):
    """All rows on their axis."""

    title: str
    metric: str
    better: str
    bars: tuple[Bar, ...]
    axis: Axis


def chart_of(log: Log) -> Chart:
    """Return the chart of a log: the items that have a judgement, in plan order."""
    bars = tuple(
        Bar(
            item=plain(state.item.id),
            title=plain(state.item.title),
            verdict=state.judgement.verdict or "none",
            sign=(VERDICT[state.judgement.verdict] if state.judgement.verdict else NO_VERDICT).sign,
            effect=state.judgement.effect,
            text=plain(f"{item_verdict(state)} {effect_text(state.judgement.effect, none='')}"),
            measured=level(
                log.run(state.judgement.candidate), log.metric.name, log.run(state.judgement.baseline)
            ),
        )
        for state in log.states
        if state.judgement is not None
    )
    return Chart(
        title=plain(log.plan.title),
        metric=plain(log.metric.name),
        better=log.metric.better or "",
        bars=bars,
        axis=axis_of((bar.effect for bar in bars), log.plan.min_effect),
    )


def tick_label(fraction: float) -> str:
    """Return an axis label, `+50%`, or the factor where percentages get long, `×5`."""
    if fraction >= 4:
        return ratio(1 + fraction)
    return percent(fraction).replace(".0%", "%") if fraction else "0"


_LEFT, _RIGHT, _ROW, _TOP = 280, 690, 26, 64
_INK, _QUIET = "#1f2328", "#59636e"
_COLOURS = {
    "improvement": "#1a7f37",
    "regression": "#cf222e",
    "failed": "#cf222e",
    "inconclusive": "#9a6700",
}


def chart_svg(chart: Chart) -> str:
    """Return the chart as an SVG document; every text is escaped."""
    height = _TOP + _ROW * max(len(chart.bars), 1) + 34
    bars = [
        {
            "y": _TOP + number * _ROW + _ROW // 2,
            "colour": _COLOURS.get(bar.verdict, _QUIET),
            "name": bar.item if bar.title.startswith(bar.item) else f"{bar.item}  {bar.title}",
            "x": [_x(chart.axis.place(at)) for at in (bar.effect.low, bar.effect.relative, bar.effect.high)]
            if bar.effect
            else None,
            "sign": bar.sign,
            "text": bar.text,
        }
        for number, bar in enumerate(chart.bars)
    ]
    return html_document(
        "chart.svg.j2",
        chart=chart,
        bars=bars,
        band=[_x(end) for end in chart.axis.band],
        ticks=[(_x(chart.axis.place(tick)), tick_label(tick)) for tick in chart.axis.ticks(9)],
        zero=_x(chart.axis.place(0)),
        top=_TOP,
        bottom=height - 30,
        height=height,
        ink=_INK,
        quiet=_QUIET,
    )


def _x(place: float) -> float:
    return round(_LEFT + place * (_RIGHT - _LEFT), 1)


_NAME, _AXIS = 30, 49


def chart_text(chart: Chart) -> list[str]:
    """Return the chart as lines: a row for each item, `●` its effect, `├──┤` the interval, `│` no change."""
    if not chart.bars:
        return ["nothing was judged yet"]
    rows = [_row(chart.axis, bar) for bar in chart.bars]
    return [*rows, f"{'':{_NAME}} {tick_line(chart.axis, _AXIS, 5)}".rstrip()]


def _row(axis: Axis, bar: Bar) -> str:
    name = bar.item if bar.title.startswith(bar.item) else f"{bar.item} {bar.title}"
    return f"{cut(name, _NAME):<{_NAME}} {strip(axis, bar.effect, _AXIS, bar.sign)}  {bar.sign} {bar.text}".rstrip()


def strip(axis: Axis, effect: Effect | None, width: int, sign: str = "│") -> str:
    """Return an effect with its interval in so many cells of the axis; `sign` stands at zero where there is none."""

    def column(fraction: float) -> int:
        return round(axis.place(fraction) * (width - 1))

    cells = [" "] * width
    low, high = column(-axis.min_effect), column(axis.min_effect)
    cells[low : high + 1] = "·" * (high - low + 1)
    cells[column(0)] = "│" if effect is not None else sign
    if effect is not None:
        begin, end = column(effect.low), column(effect.high)
        for at in range(begin, end + 1):
            cells[at] = "┼" if cells[at] == "│" else "─"
        cells[begin], cells[end] = "├", "┤"
        cells[column(effect.relative)] = "●"
    return "".join(cells)


def tick_line(axis: Axis, width: int, most: int) -> str:
    """Return the labels of an axis of so many cells, `most` at most, each centred below its place."""
    cells = [" "] * (width + 8)
    for tick in sorted(axis.ticks(most), key=abs):
        label = tick_label(tick)
        start = max(0, round(axis.place(tick) * (width - 1)) - len(label) // 2)
        if all(cell == " " for cell in cells[max(0, start - 1) : start + len(label) + 1]):
            cells[start : start + len(label)] = label
    return "".join(cells).rstrip()

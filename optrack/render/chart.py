"""The chart of effects: as data, as SVG and as text."""

from __future__ import annotations

from math import log
from xml.sax.saxutils import escape

from optrack.model.judgement import Effect
from optrack.model.markdown import plain
from optrack.model.value import Frozen
from optrack.model.wording import percent
from optrack.render.log import Log
from optrack.render.summary import SIGNS, measured_text, short_effect, verdict

_TICKS = (
    -0.9,
    -0.75,
    -0.5,
    -0.33,
    -0.2,
    -0.1,
    -0.05,
    -0.02,
    0,
    0.02,
    0.05,
    0.1,
    0.2,
    0.5,
    1,
    2,
    4,
    9,
    19,
    49,
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


class Chart(Frozen):
    """All rows, and the axis from `low` to `high` in natural logarithms of the ratio; `min_effect` is a fraction."""

    title: str
    metric: str
    better: str
    bars: tuple[Bar, ...]
    low: float
    high: float
    min_effect: float

    def place(self, fraction: float) -> float:
        """Return where an effect lies on the axis, from 0 to 1; what is beyond it stays at its end."""
        at = log(max(1 + fraction, _LOWEST_RATIO))
        return min(max((at - self.low) / (self.high - self.low), 0.0), 1.0)

    def ticks(self, most: int) -> tuple[float, ...]:
        """Return round effects within the axis, with no change among them, `most` at most."""
        within = [tick for tick in _TICKS if self.low <= log(1 + tick) <= self.high]
        gap = (self.high - self.low) / most
        kept = [0.0]
        for tick in sorted(within, key=lambda t: abs(log(1 + t))):
            if all(abs(log(1 + tick) - log(1 + other)) >= gap for other in kept):
                kept.append(tick)
        return tuple(sorted(kept))


def chart_of(found: Log) -> Chart:
    """Return the chart of a log: the items that have a judgement, in plan order."""
    bars = tuple(
        Bar(
            item=plain(state.item.id),
            title=plain(state.item.title),
            verdict=state.judgement.verdict or "none",
            sign=SIGNS.get(state.judgement.verdict or "", "⚠"),
            effect=state.judgement.effect,
            text=plain(_text(found, state.judgement.effect, verdict(found, state))),
            measured=_measured(found, state.judgement.candidate),
        )
        for state in found.states
        if state.judgement is not None
    )
    lows = [log(max(1 + b.effect.low, _LOWEST_RATIO)) for b in bars if b.effect is not None]
    highs = [log(1 + b.effect.high) for b in bars if b.effect is not None and b.effect.high > -1]
    least = log(1 + max(found.plan.min_effect, 0.001)) * 2
    return Chart(
        title=plain(found.plan.title),
        metric=plain(found.metric.name),
        better=found.metric.better or "",
        bars=bars,
        low=min([-least, *lows]) * 1.05,
        high=max([least, *highs]) * 1.05,
        min_effect=found.plan.min_effect,
    )


def tick_label(fraction: float) -> str:
    """Return an axis label, `+50%`, or the factor where percentages get long, `×5`."""
    return (
        f"×{1 + fraction:g}"
        if fraction >= 4
        else "0"
        if fraction == 0
        else percent(fraction).replace(".0%", "%")
    )


def _text(found: Log, effect: Effect | None, words: str) -> str:
    return f"{words.split(' ', 1)[-1]} {short_effect(effect)}".rstrip()


def _measured(found: Log, run_id: str) -> str:
    run = found.run(run_id)
    return measured_text(run, found.metric.name) if run else "-"


def band(chart: Chart) -> tuple[float, float]:
    """Return the bounds of no change on the axis, from 0 to 1."""
    return chart.place(-chart.min_effect), chart.place(chart.min_effect)


_WIDTH, _LEFT, _RIGHT, _ROW, _TOP = 1000, 280, 310, 26, 64
_INK, _QUIET, _GRID, _PAPER = "#1f2328", "#59636e", "#d1d9e0", "#ffffff"
_COLOURS = {
    "improvement": "#1a7f37",
    "regression": "#cf222e",
    "failed": "#cf222e",
    "no_change": "#59636e",
    "inconclusive": "#9a6700",
}
_FONT = "font-family='-apple-system,Segoe UI,Helvetica,Arial,sans-serif' font-size='12'"


def chart_svg(chart: Chart) -> str:
    """Return the chart as an SVG document; every text is escaped."""
    height = _TOP + _ROW * max(len(chart.bars), 1) + 34
    body = [
        *_frame(chart, height),
        *(line for n, bar in enumerate(chart.bars) for line in _bar(chart, bar, n)),
    ]
    if not chart.bars:
        body.append(_label(_LEFT, _TOP + 18, "Nothing was judged yet", _QUIET))
    label = escape(f"Effect of each item on {chart.metric}", {"'": "&#39;"})
    return "\n".join(
        [
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {height}' width='{_WIDTH}' "
            f"height='{height}' role='img' aria-label='{label}' {_FONT}>",
            f"<title>{escape(chart.title)}</title>",
            f"<rect width='{_WIDTH}' height='{height}' fill='{_PAPER}'/>",
            *body,
            "</svg>\n",
        ]
    )


def _x(place: float) -> float:
    return round(_LEFT + place * (_WIDTH - _LEFT - _RIGHT), 1)


def _frame(chart: Chart, height: int) -> list[str]:
    bottom = height - 30
    better = f", {chart.better} is better" if chart.better else ""
    lines = [
        _label(16, 24, _cut(chart.title, 90), _INK, weight="600"),
        _label(
            16, 44, f"Effect on {_cut(chart.metric, 60)} against the baseline, with interval{better}", _QUIET
        ),
    ]
    low, high = band(chart)
    width = round(_x(high) - _x(low), 1)
    lines.append(f"<rect x='{_x(low)}' y='{_TOP}' width='{width}' height='{bottom - _TOP}' fill='#eff2f5'/>")
    for tick in chart.ticks(9):
        x = _x(chart.place(tick))
        colour = _QUIET if tick == 0 else _GRID
        lines.append(f"<line x1='{x}' y1='{_TOP}' x2='{x}' y2='{bottom}' stroke='{colour}'/>")
        lines.append(_label(x, bottom + 16, tick_label(tick), _QUIET, anchor="middle"))
    return lines


def _bar(chart: Chart, bar: Bar, number: int) -> list[str]:
    y = _TOP + number * _ROW + _ROW // 2
    colour = _COLOURS.get(bar.verdict, _QUIET)
    name = bar.item if bar.title.startswith(bar.item) else f"{bar.item}  {bar.title}"
    lines = [_label(16, y + 4, _cut(name, 42), _INK)]
    if bar.effect is not None:
        low, high = _x(chart.place(bar.effect.low)), _x(chart.place(bar.effect.high))
        middle = _x(chart.place(bar.effect.relative))
        lines.append(f"<line x1='{low}' y1='{y}' x2='{high}' y2='{y}' stroke='{colour}' stroke-width='2'/>")
        lines += [
            f"<line x1='{end}' y1='{y - 4}' x2='{end}' y2='{y + 4}' stroke='{colour}' stroke-width='2'/>"
            for end in (low, high)
        ]
        lines.append(f"<circle cx='{middle}' cy='{y}' r='4.5' fill='{colour}'/>")
    else:
        lines.append(_label(_x(chart.place(0)), y + 4, bar.sign, colour, anchor="middle", weight="600"))
    lines.append(_label(_WIDTH - _RIGHT + 12, y + 4, _cut(f"{bar.sign} {bar.text}", 50), colour))
    return lines


def _label(x: float, y: float, text: str, colour: str, *, anchor: str = "start", weight: str = "400") -> str:
    place = f"x='{x}' y='{y}' text-anchor='{anchor}' font-weight='{weight}' fill='{colour}'"
    return f"<text {place}>{escape(text)}</text>"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


_NAME, _AXIS = 30, 49


def chart_text(chart: Chart) -> list[str]:
    """Return the chart as lines: a row for each item, `●` its effect, `├──┤` the interval, `│` no change."""
    if not chart.bars:
        return ["nothing was judged yet"]
    return [*(_row(chart, bar) for bar in chart.bars), _axis(chart)]


def _column(place: float) -> int:
    return round(place * (_AXIS - 1))


def _row(chart: Chart, bar: Bar) -> str:
    cells = [" "] * _AXIS
    low, high = (_column(place) for place in band(chart))
    cells[low : high + 1] = "·" * (high - low + 1)
    cells[_column(chart.place(0))] = "│"
    if bar.effect is not None:
        begin, end = _column(chart.place(bar.effect.low)), _column(chart.place(bar.effect.high))
        for column in range(begin, end + 1):
            cells[column] = "┼" if cells[column] == "│" else "─"
        cells[begin], cells[end] = "├", "┤"
        cells[_column(chart.place(bar.effect.relative))] = "●"
    else:
        cells[_column(chart.place(0))] = bar.sign
    name = bar.item if bar.title.startswith(bar.item) else f"{bar.item} {bar.title}"
    return f"{_fitted(name, _NAME)} {''.join(cells)}  {bar.sign} {bar.text}".rstrip()


def _axis(chart: Chart) -> str:
    cells = [" "] * (_AXIS + 8)
    for tick in sorted(chart.ticks(5), key=abs):
        label = tick_label(tick)
        start = max(0, _column(chart.place(tick)) - len(label) // 2)
        if all(cell == " " for cell in cells[max(0, start - 1) : start + len(label) + 1]):
            cells[start : start + len(label)] = label
    return f"{'':{_NAME}} {''.join(cells)}".rstrip()


def _fitted(text: str, width: int) -> str:
    cut = text if len(text) <= width else f"{text[: width - 1]}…"
    return f"{cut:<{width}}"

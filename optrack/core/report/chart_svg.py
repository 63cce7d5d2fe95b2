"""The chart of a campaign as SVG: readable on white and on dark pages, without scripts or outside fonts."""

from __future__ import annotations

from xml.sax.saxutils import escape

from optrack.core.report.chart import Bar, Chart, band, tick_label

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

"""The chart of a campaign as lines of text, for places that show no pictures."""

from __future__ import annotations

from optrack.core.report.chart import Bar, Chart, band, tick_label

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

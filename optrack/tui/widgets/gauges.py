"""The host's load as small courses over time, next to their latest values."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import RenderResult
from textual.content import Content
from textual.widget import Widget

from optrack.tui.board import Gauge
from optrack.tui.outside import plain

BARS = "▁▂▃▄▅▆▇█"


def course(values: Sequence[float], full: float | None, width: int) -> str:
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
        """Show these gauges."""
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
            value = f"{gauge.values[-1]:.0f} {gauge.unit}" if gauge.values else "-"
            name = plain(gauge.name)[: each - len(value) - 1]
            top += [(f"{gap}{name}", "$quiet"), (value.rjust(each - len(name)), "")]
            below += [gap, (course(gauge.values, gauge.full, each), "$live")]  # type: ignore[list-item]
        return Content.assemble(*top, "\n", *below)

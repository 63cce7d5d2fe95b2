"""The course of the primary metric over the campaign, drawn with plotext."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rich.text import Text
from textual.app import RenderResult
from textual.color import Color
from textual_plotext import PlotextPlot

from optrack.tui import figures
from optrack.tui.board import Step
from optrack.tui.outside import plain


class MetricPlot(PlotextPlot):
    """A mark for each run that measured: `o` a candidate, `b` a baseline, `A` an adopted one."""

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
            return Text("")
        self._draw(width)
        plot = super().render()
        if isinstance(plot, Text):
            plot.no_wrap = True
        return plot

    def _tone(self, name: str) -> tuple[int, int, int]:
        return Color.parse(self.app.theme_variables.get(name, "#888888")).rgb

    def _draw(self, width: int) -> None:
        plt: Any = self.plt
        plt.clear_figure()
        values = [step.value or 0.0 for step in self._steps]
        kinds: tuple[tuple[str, str, str, Callable[[Step], bool]], ...] = (
            ("baseline", "b", "quiet", lambda s: s.role == "baseline" and not s.adopted),
            ("candidate", "o", "live", lambda s: s.role == "candidate" and not s.adopted),
            ("adopted", "A", "good", lambda s: s.adopted),
        )
        for name, marker, tone, fits in kinds:
            at = [i + 1 for i, step in enumerate(self._steps) if fits(step)]
            if at:
                plt.scatter(
                    at, [values[i - 1] for i in at], marker=marker, color=self._tone(tone), label=name
                )
        adopted = [i + 1 for i, step in enumerate(self._steps) if step.adopted]
        if adopted:
            plt.hline(values[adopted[-1] - 1], color=self._tone("line"))
        room = max(1, len(self._steps) * 7 // max(1, width - 12) + 1)
        shown = list(range(0, len(self._steps), room))
        plt.xticks([i + 1 for i in shown], [plain(self._steps[i].item)[:8] for i in shown])
        low, high = min(values), max(values)
        pad = (high - low) * 0.08 or 1
        plt.ylim(low - pad, high + pad)
        plt.xlim(0.5, len(self._steps) + 0.5)
        plt.yticks([low, (low + high) / 2, high], [figures.number(v) for v in (low, (low + high) / 2, high)])
        plt.title(self._label)

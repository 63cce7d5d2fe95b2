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
        self._names: list[str] = []

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
        if not isinstance(plot, Text):
            return plot
        lines = plot.split("\n")
        if lines:
            lines[-1] = Text(under(lines[-1].plain, self._names))
        shown = Text("\n").join(lines)
        shown.no_wrap = True
        return shown

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
                    at, [values[i - 1] for i in at], marker=marker, color=self._tone(tone), label=f" {name}"
                )
        adopted = [i + 1 for i, step in enumerate(self._steps) if step.adopted]
        if adopted:
            plt.hline(values[adopted[-1] - 1], color=self._tone("line"))
        labels = _labels(self._steps)
        room = max(1, len(labels) * 10 // max(1, width - 12) + 1)
        self._names = [text for _, text in labels[::room]]
        plt.xticks([at for at, _ in labels[::room]], ["."] * len(self._names))
        low, high = min(values), max(values)
        pad = (high - low) * 0.08 or 1
        plt.ylim(low - pad, high + pad)
        plt.xlim(0.5, len(self._steps) + 0.5)
        plt.yticks([low, (low + high) / 2, high], [figures.number(v) for v in (low, (low + high) / 2, high)])
        plt.title(self._label)


def under(ticks: str, names: Sequence[str]) -> str:
    """Return a line with each name centred under its tick, a dot in `ticks`; one without room is left out.

    Plotext places labels in the order of a set, which differs from process to process.
    """
    line = ""
    for at, name in zip((i for i, char in enumerate(ticks) if char == "."), names, strict=False):
        start = max(0, min(at - len(name) // 2, len(ticks) - len(name)))
        if not line or start > len(line):
            line = line.ljust(start) + name
    return line


def _labels(steps: Sequence[Step]) -> list[tuple[int, str]]:
    """Return (place, label) of the candidates' runs, those of one item numbered."""
    seen: dict[str, int] = {}
    found = []
    for place, step in enumerate(steps, 1):
        if step.role == "candidate":
            seen[step.item] = seen.get(step.item, 0) + 1
            name = plain(step.item)[:10]
            found.append((place, name if seen[step.item] == 1 else f"{name} #{seen[step.item]}"))
    return found

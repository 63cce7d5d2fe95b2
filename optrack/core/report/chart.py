"""The chart of a campaign as data: a row for each item with its effect, interval and bounds of the axis.

The axis is the ratio candidate / baseline on a logarithmic scale, so that a doubling and a halving are as far
from no change.
"""

from __future__ import annotations

from math import log

from optrack.core.frozen import Frozen
from optrack.core.judge.wording import percent
from optrack.core.judgement import Effect
from optrack.core.markdown import plain
from optrack.core.report.log import Log
from optrack.core.report.summary import measured_text
from optrack.core.report.words import SIGNS, short_effect, verdict

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

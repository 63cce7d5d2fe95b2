"""Verdicts, effects and measurements in a few words: what tables, screens and logs show in one cell."""

from __future__ import annotations

import statistics

from optrack.core.judge.wording import amount, percent
from optrack.core.judgement import Effect, Judgement
from optrack.core.metrics import series_of
from optrack.core.plan import Quantity
from optrack.core.run import Run
from optrack.core.state import ItemState


def effect_text(effect: Effect | None) -> str:
    """Return a relative difference with its interval, `+12.0% [+8.1, +16%]`; a dash where there is none."""
    if effect is None:
        return "-"
    return f"{percent(effect.relative)} [{percent(effect.low)}, {percent(effect.high)}]"


def verdict_text(judgement: Judgement | None) -> str:
    """Return the verdict in words: why there is none, or what qualifies it, included."""
    if judgement is None:
        return "-"
    if judgement.verdict is None:
        return "no verdict: unfair" if judgement.comparison == "unfair" else "no verdict"
    words = judgement.verdict.replace("_", " ")
    if judgement.comparison == "unknown" and judgement.verdict not in ("failed", "inconclusive"):
        words += " (fairness unknown)"
    if judgement.attribution.status == "confounded":
        words += " (confounded)"
    return words


def state_verdict(state: ItemState) -> str:
    """Return an item's verdict in force, marked where its recipe was edited since."""
    words = verdict_text(state.judgement)
    return f"{words} (stale)" if state.stale and words != "-" else words


def quantity_text(quantity: Quantity | None) -> str:
    """Return a quantity as it was written; a dash where there is none."""
    return quantity.text if quantity else "-"


def measured_text(run: Run, metric: str) -> str:
    """Return the median of a run's metric over all valid repetitions, with unit and number of launches."""
    series = series_of(run.samples, metric)
    if series is None:
        return "-"
    count = len(series.launches)
    launches = "1 launch" if count == 1 else f"{count} launches"
    return f"{amount(statistics.median(series.values), series.metric.unit)} ({launches})"

"""Expected beside measured: how far the plan's estimates were from what came out."""

from __future__ import annotations

from statistics import fmean

from optrack.core.judge.calibration import Calibration, Expectation, calibrate, expected_gain
from optrack.core.judge.wording import percent
from optrack.core.markdown import cell, table
from optrack.core.metrics import series_of
from optrack.core.report.log import Log
from optrack.core.run import Run
from optrack.core.state import ItemState


def calibration_of(log: Log) -> Calibration:
    """Return the calibration over all items whose expected gain can be related to the metric and whose effect was
    decided in a fair comparison: what is undecided says nothing of the estimate."""
    return calibrate([found for state in log.states if (found := _expectation(log, state)) is not None])


def calibration(log: Log) -> str:
    """Return the calibration as a sentence and a table; nothing where no expectation was measured."""
    found = calibration_of(log)
    if not found.items:
        return ""
    rows = [
        (
            cell(one.item),
            f"{percent(one.low)} to {percent(one.high)}" if one.low != one.high else percent(one.low),
            percent(one.measured),
            one.standing,
        )
        for one in found.items
    ]
    heads = ("Item", "Expected gain", "Measured gain", "Measured lies")
    return f"{cell(found.text)}\n\n{table(heads, rows)}"


def _expectation(log: Log, state: ItemState) -> Expectation | None:
    judgement, better = state.judgement, log.metric.better
    gain = state.item.gain
    if judgement is None or judgement.effect is None or judgement.comparison != "fair":
        return None
    if judgement.verdict not in ("improvement", "regression", "no_change"):
        return None
    if gain is None or better is None:
        return None
    bounds = expected_gain(gain, _means(log.run(judgement.baseline)), better)
    if bounds is None:
        return None
    relative = judgement.effect.relative
    measured = relative if better == "higher" else -relative
    return Expectation(item=state.item.id, low=min(bounds), high=max(bounds), measured=measured)


def _means(run: Run | None) -> dict[str, float]:
    means: dict[str, float] = {}
    for name in dict.fromkeys(s.metric.name for s in run.samples) if run else ():
        series = series_of(run.samples, name) if run else None
        if series is not None:
            means[name] = fmean(series.values)
    return means

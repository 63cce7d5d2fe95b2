"""Expected beside measured: how far the plan's estimates were from what came out."""

from __future__ import annotations

from optrack.judge.calibration import Calibration, Expectation, calibrate, expected_gain
from optrack.model.item import ItemState
from optrack.model.markdown import cell, table
from optrack.model.metrics import Metric, means_of
from optrack.model.run import Run
from optrack.model.wording import percent
from optrack.render.log import Log


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
            expected_range(one),
            percent(one.measured),
            one.standing,
        )
        for one in found.items
    ]
    heads = ("Item", "Expected gain", "Measured gain", "Measured lies")
    return f"{cell(found.text)}\n\n{table(heads, rows)}"


def _expectation(log: Log, state: ItemState) -> Expectation | None:
    baseline = log.run(state.judgement.baseline) if state.judgement else None
    return expectation_of(state, baseline, log.metric)


def expectation_of(state: ItemState, baseline: Run | None, metric: Metric) -> Expectation | None:
    """Return an item's expected gain beside what a fair comparison with `baseline` decided; None without either."""
    judgement, gain = state.judgement, state.item.gain
    if judgement is None or judgement.effect is None or not judgement.is_decided or gain is None:
        return None
    bounds = expected_gain(gain, means_of(baseline.samples) if baseline else {}, metric)
    if bounds is None:
        return None
    relative = judgement.effect.relative
    measured = relative if metric.better == "higher" else -relative
    return Expectation(item=state.item.id, low=min(bounds), high=max(bounds), measured=measured)


def expected_range(found: Expectation) -> str:
    """Return an expected gain as a percentage or a range of them."""
    low, high = percent(found.low), percent(found.high)
    return low if found.low == found.high else f"{low} to {high}"

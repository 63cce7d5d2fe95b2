"""Expected against measured, item by item, as the history shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from optrack.judge.calibration import expected_gain
from optrack.model.item import ItemState
from optrack.model.judgement import Effect
from optrack.model.metrics import means_of
from optrack.model.plan import Plan, Quantity
from optrack.model.run import Run, primary_metric
from optrack.tui.board import Calibration


def calibrated(plan: Plan, states: Sequence[ItemState], run: Callable[[str], Run]) -> tuple[Calibration, ...]:
    """Return what was expected and what was gained of each item that a fair comparison decided.

    `run` reads a run by its id. A gain is positive where the metric got better, whichever its direction; what was
    measured has the bounds of its interval, so that only what is shown to be less or more than expected is
    called so.
    """
    found = []
    for state in states:
        judgement, gain = state.judgement, state.item.gain
        if judgement is None or not judgement.is_decided or gain is None:
            continue
        if judgement.effect is None or judgement.baseline is None:
            continue
        baseline = run(judgement.baseline)
        metric = primary_metric(plan, [baseline])
        bounds = expected_gain(gain, means_of(baseline.samples), metric)
        gain_shown = judgement.effect if metric.better != "lower" else _turned(judgement.effect)
        gained, low, high = (100 * x for x in (gain_shown.relative, gain_shown.low, gain_shown.high))
        found.append(
            Calibration(
                item=state.item.id,
                title=state.item.title,
                expected=_percent(bounds) if bounds else gain,
                measured=Quantity(text=f"{gained:+z.1f}%", low=low, high=high, unit="%"),
                effect=gain_shown,
            )
        )
    return tuple(found)


def _turned(effect: Effect) -> Effect:
    """Return the effect on what should be low as a gain."""
    return effect.model_copy(update={"relative": -effect.relative, "low": -effect.high, "high": -effect.low})


def _percent(bounds: tuple[float, float]) -> Quantity:
    low, high = sorted(100 * bound for bound in bounds)
    text = f"{low:+.3g}%" if f"{low:.3g}" == f"{high:.3g}" else f"{low:+.3g} to {high:+.3g}%"
    return Quantity(text=text, low=low, high=high, unit="%")

"""What the record of a campaign tells of its past: the course of the metric, failures, how estimates did."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping, Sequence

from optrack.core.judge.calibration import expected_gain
from optrack.core.judgement import Effect
from optrack.core.metrics import series_of
from optrack.core.plan import Plan, Quantity
from optrack.core.run import Run, Stage
from optrack.core.state import ItemState
from optrack.court import means_of
from optrack.steps.record.reader import Reader
from optrack.tui.board import Calibration, FailureGroup, Step

LATEST = 500
"""A campaign's course is told of so many runs at most: more than a terminal has columns for."""

_ALIKE = 20
_TELLING = ("improvement", "regression", "no_change")


class Course:
    """The runs that have ended, each read from the record once."""

    def __init__(self) -> None:
        self._steps: dict[tuple[str, str], Step] = {}

    def steps(self, reader: Reader, plan: Plan) -> Sequence[Step]:
        """Return the latest ended runs in the order of time."""
        adopted = {adoption.item for adoption in reader.adoptions(plan.name)}
        ended = [run for run in reversed(reader.runs(plan.name, limit=LATEST)) if run.outcome is not None]
        found = []
        for run in ended:
            key = (run.id, plan.metric.name)
            if key not in self._steps:
                self._steps[key] = _step(reader.run(run.id), plan.metric.name)
            here = run.item in adopted and run.beside is None
            found.append(self._steps[key].model_copy(update={"adopted": here}))
        return found


def _step(run: Run, metric: str) -> Step:
    series = series_of(run.samples, metric) if run.outcome == "succeeded" else None
    values = series.values if series else ()
    return Step(
        run=run.id,
        item=run.item,
        at=run.ended_at or run.started_at,
        outcome=run.outcome or "interrupted",
        value=statistics.median(values) if values else None,
        low=min(values, default=None),
        high=max(values, default=None),
        role="baseline" if run.beside else "candidate",
    )


def failure_groups(reader: Reader, plan: Plan) -> Sequence[FailureGroup]:
    """Return the failures by fingerprint, latest first."""
    found = []
    for failure in reader.failures(plan.name):
        run = reader.run(failure.runs[-1])
        found.append(
            FailureGroup(
                fingerprint=failure.fingerprint,
                kind=failure.kind,
                message=failure.message,
                stage=run.stage,
                runs=failure.runs,
                items=failure.items,
                last_at=failure.last_at,
                log_tail=run.failure.log_tail if run.failure else "",
            )
        )
    return found


def calibrations(reader: Reader, plan: Plan, states: Collection[ItemState]) -> Sequence[Calibration]:
    """Return expected against measured gain, for the items with an expectation and a fair verdict.

    A gain is positive where the metric gets better, be that higher or lower.
    """
    found = []
    means: dict[str, Mapping[str, float]] = {}
    for state in states:
        judgement, gain = state.judgement, state.item.gain
        if judgement is None or judgement.effect is None or judgement.baseline is None or gain is None:
            continue
        if judgement.comparison != "fair" or judgement.verdict not in _TELLING:
            continue
        if judgement.baseline not in means:
            means[judgement.baseline] = means_of(reader.run(judgement.baseline))
        better = plan.metric.better or "higher"
        bounds = expected_gain(gain, means[judgement.baseline], better)
        sign = -1 if better == "lower" else 1
        effect = judgement.effect if sign > 0 else _turned(judgement.effect)
        percent = 100 * effect.relative
        found.append(
            Calibration(
                item=state.item.id,
                title=state.item.title,
                expected=_percent(bounds) if bounds else gain,
                measured=Quantity(text=f"{percent:+.1f}%", low=percent, high=percent, unit="%"),
                effect=effect,
            )
        )
    return found


def _turned(effect: Effect) -> Effect:
    """Return the effect on what should be low as a gain."""
    return effect.model_copy(update={"relative": -effect.relative, "low": -effect.high, "high": -effect.low})


def _percent(bounds: tuple[float, float]) -> Quantity:
    low, high = sorted(100 * bound for bound in bounds)
    text = f"{low:+.3g}%" if f"{low:.3g}" == f"{high:.3g}" else f"{low:+.3g} to {high:+.3g}%"
    return Quantity(text=text, low=low, high=high, unit="%")


def expected_stages(reader: Reader, run: Run) -> Mapping[Stage, float]:
    """Return the mean seconds per launch of each stage in the plan's earlier runs, the item's own if any."""
    alike = [r for r in reader.runs(run.plan, run.item, _ALIKE) if r.outcome == "succeeded"]
    alike = alike or [r for r in reader.runs(run.plan, None, _ALIKE) if r.outcome == "succeeded"]
    per_launch: dict[Stage, list[float]] = {}
    for one in (reader.run(r.id) for r in alike[:3] if r.id != run.id):
        launches = 1 + max((sample.launch for sample in one.samples), default=0)
        for stage, seconds in one.stages.items():
            per_launch.setdefault(stage, []).append(seconds / launches)  # type: ignore[arg-type]
    return {stage: statistics.fmean(values) for stage, values in per_launch.items()}

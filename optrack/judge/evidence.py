"""What a judgement rests on: each side's samples as launches on a log scale, and the rules to judge by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import fmean
from typing import Any

from pydantic import Field

from optrack.model.metrics import Metric, Sample, Series, series_of
from optrack.model.recipe import Recipe
from optrack.model.recipe_parts import Check
from optrack.model.run import Failure, Outcome, Run, Stage
from optrack.model.value import Frozen

MOST_LAUNCHES_A_SIDE = 16
"""How many launches a side a sequential session may use unless its recipe says."""

CONFIDENCE = 0.95
"""The confidence of every interval: what is left over is the chance of a false improvement in a whole plan."""

_LARGEST = 1e300
"""Sums of larger values may leave the range of a float."""


class Side(Frozen):
    """One side's evidence: what its run measured, in which order, and how it ended.

    `order[k]` is the position of launch k in the session's sequence of launches, both sides counted, from 0;
    empty if the launches weren't interleaved with the other side's. `recipe` is the resolved recipe as plain
    data. `checks` has the numbers that guard commands printed, by guard.
    """

    run: str
    item: str
    samples: tuple[Sample, ...] = ()
    outcome: Outcome | None = "succeeded"
    stage: Stage = "teardown"
    failure: Failure | None = None
    recipe: Mapping[str, Any] = Field(default_factory=dict)
    order: tuple[int, ...] = ()
    checks: Mapping[str, tuple[float, ...]] = Field(default_factory=dict)


class History(Frozen):
    """The spread of a metric between launches of one recipe, from a plan's earlier runs.

    `spread` is the standard deviation of the logarithm of a launch's mean; `freedom` its degrees of freedom;
    `between_runs` the same between the means of separate runs of one recipe, None where never seen.
    """

    spread: float
    freedom: int
    runs: int
    between_runs: float | None = None


class Rules(Frozen):
    """What a verdict is judged by.

    `min_effect` and `confidence` are fractions (0.02, 0.95). `family` is the number of comparisons among
    which a false improvement must stay improbable. A session ends with `max_launches` a side; `sequential`
    says that it is looked at pair by pair and ends as soon as the verdict is settled. `guards` are the
    recipe's checks. `history` is the metric's spread between launches, from earlier runs of the plan.
    """

    metric: Metric
    min_effect: float = 0.02
    confidence: float = CONFIDENCE
    interleaved: bool = True
    family: int = Field(default=1, ge=1)
    sequential: bool = False
    max_launches: int = Field(default=MOST_LAUNCHES_A_SIDE, ge=1)
    history: History | None = None
    guards: Mapping[str, Check] = Field(default_factory=dict)


def rules_of(
    recipe: Recipe,
    metric: Metric,
    *,
    min_effect: float,
    interleaved: bool,
    family: int = 1,
    history: History | None = None,
) -> Rules:
    """Return the rules that a recipe asks for: its guards, how many launches, and whether it may stop early.

    Only interleaved launches are looked at pair by pair, so a session in block order never stops early. A
    sequential session that names fewer than three launches may use as many as the rules allow by default.
    """
    sequential = recipe.stop == "sequential" and interleaved
    most = recipe.launches if not sequential or recipe.launches >= 3 else MOST_LAUNCHES_A_SIDE
    return Rules(
        metric=metric,
        min_effect=min_effect,
        interleaved=interleaved,
        family=family,
        sequential=sequential,
        max_launches=most,
        history=history,
        guards=recipe.check,
    )


class Launch(Frozen):
    """The valid repetitions of one launch; `level` is the logarithm of their mean."""

    number: int
    position: int
    values: tuple[float, ...]

    @property
    def level(self) -> float:
        """The logarithm of the mean of the launch's repetitions."""
        return math.log(fmean(self.values))


class Evidence(Frozen):
    """One side's launches of one metric, and how many repetitions were kept out as invalid, by reason."""

    launches: tuple[Launch, ...]
    invalid: Mapping[str, int]
    positive: bool = True

    @property
    def mean(self) -> float:
        """The mean over launches of their means, in the metric's unit; NaN without launches."""
        return fmean(fmean(x.values) for x in self.launches) if self.launches else math.nan


def side_of(
    run: Run, order: tuple[int, ...] = (), checks: Mapping[str, tuple[float, ...]] | None = None
) -> Side:
    """Return a recorded run as one side of a comparison."""
    return Side(
        run=run.id,
        item=run.item,
        samples=run.samples,
        outcome=run.outcome,
        stage=run.stage,
        failure=run.failure,
        recipe=run.recipe,
        order=order,
        checks=checks or {},
    )


def _wrong(value: float) -> str | None:
    if not math.isfinite(value):
        return "not a number"
    return "too large to be a measurement" if abs(value) > _LARGEST else None


def evidence_of(side: Side, metric: str) -> Evidence:
    """Return the launches of `metric`: its valid, finite samples; the others counted by what is wrong.

    A launch all of whose repetitions are invalid is no launch. `positive` is False if a launch's mean isn't
    above zero: no relative difference exists then.
    """
    valid: dict[int, list[tuple[int, float]]] = {}
    invalid: dict[str, int] = {}
    for sample in side.samples:
        if sample.metric.name != metric:
            continue
        wrong = sample.invalid or _wrong(sample.value)
        if wrong:
            invalid[wrong] = invalid.get(wrong, 0) + 1
        else:
            valid.setdefault(sample.launch, []).append((sample.repetition, sample.value))
    launches = tuple(
        Launch(
            number=number,
            position=side.order[number] if number < len(side.order) else number,
            values=tuple(value for _, value in sorted(valid[number])),
        )
        for number in sorted(valid)
    )
    return Evidence(launches=launches, invalid=invalid, positive=all(fmean(x.values) > 0 for x in launches))


def compared(candidate: Run, baseline: Run | None, metric: str) -> tuple[Series | None, Series | None]:
    """Return the series whose levels an effect compares: of interleaved runs, the launches that both sides have."""
    ours = series_of(candidate.samples, metric)
    theirs = series_of(baseline.samples, metric) if baseline else None
    if ours is None or theirs is None or baseline is None or baseline.beside != candidate.id:
        return ours, theirs
    both = {n for n in _launches(candidate, metric) if n in _launches(baseline, metric)}
    samples = (tuple(s for s in run.samples if s.launch in both) for run in (candidate, baseline))
    ours_paired, theirs_paired = (series_of(side, metric) for side in samples)
    return ours_paired or ours, theirs_paired or theirs


def _launches(run: Run, metric: str) -> frozenset[int]:
    named = (s for s in run.samples if s.metric.name == metric)
    return frozenset(s.launch for s in named if s.invalid is None and _wrong(s.value) is None)

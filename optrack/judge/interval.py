"""The relative difference of two sides with its uncertainty: paired launches, blocks, or a known spread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean, variance
from typing import Literal

from optrack.judge.evidence import Evidence, History, Launch
from optrack.model.judgement import Effect
from optrack.model.value import Frozen

Method = Literal["paired", "block", "history"]


class Estimate(Frozen):
    """The difference of the logarithms, candidate minus baseline, with its standard error.

    `freedom` are the degrees of freedom of `error`; `launches` counts those used on the thinner side;
    `widened` is added to both ends of an interval for drift that the order of the launches lets in;
    `pooled` says that the plan's history lent its spread.
    """

    difference: float
    error: float
    freedom: float
    launches: int
    method: Method
    widened: float = 0.0
    pooled: bool = False

    @property
    def relative(self) -> float:
        """The relative difference, candidate / baseline - 1."""
        return _relative(self.difference)

    def reach(self, tail: float) -> float:
        """Return the half-width, on the log scale, of the interval that leaves `tail` outside at each end."""
        return quantile(1 - tail, self.freedom) * self.error + self.widened

    def effect(self, confidence: float, tail: float | None = None) -> Effect:
        """Return the effect with its interval; `tail` replaces (1 - confidence) / 2 after repeated looks."""
        reach = self.reach((1 - confidence) / 2 if tail is None else tail)
        return Effect(
            relative=self.relative,
            low=_relative(self.difference - reach),
            high=_relative(self.difference + reach),
            confidence=confidence,
        )


def _relative(difference: float) -> float:
    """Return a difference of logarithms as a relative difference, capped where a float ends."""
    return math.expm1(min(difference, 700.0))


def quantile(probability: float, freedom: float) -> float:
    """Return the quantile of Student's t at `probability`."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, probability))


def pairs_of(candidate: Evidence, baseline: Evidence) -> tuple[tuple[Launch, Launch], ...]:
    """Return the (candidate, baseline) launches that ran next to each other: positions 2k and 2k + 1."""
    theirs = {launch.position // 2: launch for launch in baseline.launches}
    return tuple(
        (launch, theirs[launch.position // 2])
        for launch in candidate.launches
        if launch.position // 2 in theirs
    )


def estimate(
    candidate: Evidence, baseline: Evidence, *, interleaved: bool, history: History | None = None
) -> Estimate | None:
    """Return the difference of the two sides; None if their launches can't tell how far it may be off.

    Interleaved launches are compared pair by pair, so that drift slower than a pair falls out. In block
    order it is Welch's difference of means, widened by the drift seen within either side. Where the run has
    too few launches to show their spread, the plan's history lends it.
    """
    if not candidate.launches or not baseline.launches or not (candidate.positive and baseline.positive):
        return None
    if interleaved:
        pairs = pairs_of(candidate, baseline)
        if len(pairs) >= 2:
            return _paired(pairs, history)
    elif min(len(candidate.launches), len(baseline.launches)) >= 2:
        return _block(candidate, baseline, history)
    return _by_history(candidate, baseline, interleaved, history)


def _paired(pairs: Sequence[tuple[Launch, Launch]], history: History | None) -> Estimate:
    count = len(pairs)
    spread = max(_neighbour_spread(pairs), _repetition_noise(pairs))
    freedom: float = count - 1
    pooled = history is not None and history.freedom > 0
    if pooled and history is not None:
        known = 2 * history.spread**2
        pooled = spread <= known * _largest_ratio(freedom, history.freedom)
        if pooled:
            spread = (freedom * spread + history.freedom * known) / (freedom + history.freedom)
            freedom += history.freedom
    return Estimate(
        difference=fmean(ours.level - theirs.level for ours, theirs in pairs),
        error=math.sqrt(spread / count),
        freedom=freedom,
        launches=count,
        method="paired",
        pooled=pooled,
    )


def _neighbour_spread(pairs: Sequence[tuple[Launch, Launch]]) -> float:
    """Return the variance of a pair's difference, from how much neighbouring launches differ.

    The mean square of successive differences (von Neumann, Kent, Bellinson and Hart, 1941): within a pair
    around the mean difference, and between the pairs of an A B B A sequence, where the neighbours are of one
    side, around zero. Slow drift hardly touches it. With normal noise it has 4/3 (n - 1) degrees of freedom;
    it is used with n - 1, so that noise with two modes stays within the stated error as well.
    """
    differences = [ours.level - theirs.level for ours, theirs in pairs]
    centre = fmean(differences)
    squares = [(difference - centre) ** 2 for difference in differences]
    ordered = sorted(pairs, key=lambda pair: pair[0].position)
    between = []
    for before, after in pairwise(ordered):
        ours_last = before[0].position > before[1].position
        ours_first = after[0].position < after[1].position
        if ours_last == ours_first:
            side = 0 if ours_last else 1
            between.append((after[side].level - before[side].level) ** 2)
    return (sum(squares) + sum(between)) / (len(squares) - 1 + len(between))


def _largest_ratio(freedom: float, known_freedom: float) -> float:
    """Return the ratio of variances beyond which the history doesn't describe this run (F test, 10%)."""
    from scipy.special import fdtri

    return float(fdtri(freedom, known_freedom, 0.9))


def _repetition_noise(pairs: Sequence[tuple[Launch, Launch]]) -> float:
    """Return the variance of a pair's difference that the repetitions alone account for: a lower bound.

    Repetitions are taken around their launch and around what all launches share at that repetition, so that
    a warm-up common to all isn't noise. 0 where the launches differ in their number of repetitions.
    """
    launches = [launch for pair in pairs for launch in pair]
    count = len(launches[0].values)
    if count < 2 or any(len(launch.values) != count or min(launch.values) <= 0 for launch in launches):
        return 0.0
    logs = [[math.log(value) for value in launch.values] for launch in launches]
    shared = [fmean(row[k] for row in logs) for k in range(count)]
    centre = fmean(shared)
    squares = sum(
        (value - fmean(row) - shared[k] + centre) ** 2 for row in logs for k, value in enumerate(row)
    )
    return 2 * squares / ((len(logs) - 1) * (count - 1)) / count


def _block(candidate: Evidence, baseline: Evidence, history: History | None) -> Estimate:
    ours, theirs = ([launch.level for launch in side.launches] for side in (candidate, baseline))
    parts = [variance(side) / len(side) for side in (ours, theirs)]
    total = sum(parts)
    spread = sum(part**2 / (len(side) - 1) for part, side in zip(parts, (ours, theirs), strict=True))
    between = 2 * history.between_runs**2 if history and history.between_runs else 0.0
    return Estimate(
        difference=fmean(ours) - fmean(theirs),
        error=math.sqrt(total + between),
        freedom=total**2 / spread if spread > 0 else len(ours) + len(theirs) - 2,
        launches=min(len(ours), len(theirs)),
        method="block",
        widened=_drift(ours, theirs),
    )


def _drift(*sides: Sequence[float]) -> float:
    """Return how far the centres of two blocks may lie apart by a drift as fast as that seen within either."""
    return max((max(side) - min(side)) * len(side) / max(1, len(side) - 1) for side in sides)


def _by_history(
    candidate: Evidence, baseline: Evidence, interleaved: bool, history: History | None
) -> Estimate | None:
    if history is None or history.freedom < 1:
        return None
    ours, theirs = ([launch.level for launch in side.launches] for side in (candidate, baseline))
    spread = history.spread**2 * (1 / len(ours) + 1 / len(theirs))
    if not interleaved and history.between_runs is not None:
        spread += 2 * history.between_runs**2
    return Estimate(
        difference=fmean(ours) - fmean(theirs),
        error=math.sqrt(spread),
        freedom=history.freedom,
        launches=min(len(ours), len(theirs)),
        method="history",
        widened=0.0 if interleaved else _drift(ours, theirs),
        pooled=True,
    )

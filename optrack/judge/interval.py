"""The relative difference of two sides with its uncertainty: round by round, or between blocks in time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean
from typing import Literal

from optrack.judge.evidence import Evidence, History, Launch, Rules, Side, evidence_of
from optrack.judge.spread import Spread, resolution, rounds_of, spread_of_rounds, spread_of_side
from optrack.model.judgement import Effect
from optrack.model.value import Frozen

Method = Literal["paired", "rounds", "block", "history"]


class Estimate(Frozen):
    """The difference of the logarithms, candidate minus baseline, with its standard error.

    `freedom` are the degrees of freedom of `error`; `launches` counts those used on the thinner side. `own` is
    the standard deviation between launches that this session shows, with its degrees of freedom; `lent` are those
    that the plan's history added. `is_bracketed` is False where block order has no baseline on both sides in time.
    """

    difference: float
    error: float
    freedom: float
    launches: int
    method: Method
    own: float = 0.0
    own_freedom: float = 0.0
    lent: float = 0.0
    is_bracketed: bool = True

    @property
    def relative(self) -> float:
        """The relative difference, candidate / baseline - 1."""
        return _relative(self.difference)

    def reach(self, tail: float) -> float:
        """Return the half-width, on the log scale, of the interval that leaves `tail` outside at each end."""
        return quantile(1 - tail, self.freedom) * self.error

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


def estimate(
    candidate: Evidence,
    baseline: Evidence,
    *,
    interleaved: bool,
    history: History | None = None,
    after: Evidence | None = None,
    weight: float = 0.5,
) -> Estimate | None:
    """Return the difference of the two sides; None if their launches can't tell how far it may be off.

    Interleaved launches are compared round by round (a pair is a round of one launch each), so that drift slower
    than a round falls out. In block order the baseline's level is interpolated in time between its block before the
    candidate and the one `after` it, `weight` (0 to 1) being the candidate's place between them. The plan's history
    moderates the spread that the session shows, and stands in where it shows none.
    """
    sides = [candidate, baseline, *([after] if after is not None and after.launches else [])]
    if not all(side.launches and side.positive for side in sides):
        return None
    if not interleaved:
        return _between_blocks(candidate, baseline, sides[2] if len(sides) > 2 else None, weight, history)
    rounds = rounds_of(candidate, baseline)
    spread = spread_of_rounds(rounds, history) if rounds else None
    if spread is None:
        return None
    method: Method = "paired" if all(r.is_pair for r in rounds) else "rounds"
    shares = 1 + fmean(1 / len(r.theirs) for r in rounds)
    return Estimate(
        difference=fmean(r.difference for r in rounds),
        error=math.sqrt(spread.variance / len(rounds)),
        freedom=spread.freedom,
        launches=len(rounds),
        method=method if len(rounds) > 1 else "history",
        own=math.sqrt(spread.own / shares),
        own_freedom=spread.own_freedom,
        lent=spread.lent,
    )


def estimate_of(
    candidate: Side,
    baseline: Side,
    metric: str,
    rules: Rules,
    history: History | None,
    after: Side | None = None,
) -> Estimate | None:
    """Return the estimate of a metric's difference between two recorded sides, as `estimate` does."""
    apart = after.at - baseline.at if after is not None else 0.0
    weight = (candidate.at - baseline.at) / apart if apart > 0 else 0.5
    return estimate(
        evidence_of(candidate, metric),
        evidence_of(baseline, metric),
        interleaved=rules.interleaved,
        history=history,
        after=evidence_of(after, metric) if after is not None else None,
        weight=min(1.0, max(0.0, weight)),
    )


def _between_blocks(
    candidate: Evidence, before: Evidence, after: Evidence | None, weight: float, history: History | None
) -> Estimate | None:
    """Return Welch's difference of means, with the baseline's level interpolated in time.

    What separates the levels of whole blocks of one configuration is a part of the error of its own, known from
    how far the baseline's blocks lie apart. The degrees of freedom are Satterthwaite's (1946).
    """
    blocks = [before, *([after] if after is not None else [])]
    theirs = [launch for block in blocks for launch in block.launches]
    step = resolution(candidate.launches, theirs)
    ours = spread_of_side(candidate.launches, step, history)
    known = _spread_of_blocks(blocks, step, history)
    if ours is None or known is None:
        return None
    weights = [1 - weight, weight] if after is not None else [1.0]
    means = [_mean(block.launches) for block in blocks]
    parts = [(ours.variance / len(candidate.launches), ours.freedom)]
    count = sum(w**2 / len(block.launches) for w, block in zip(weights, blocks, strict=True))
    parts.append((known.variance * count, known.freedom))
    parts += _between_runs(means, history, 1 + sum(w**2 for w in weights))
    total = sum(part for part, _ in parts)
    spread = sum(part**2 / freedom for part, freedom in parts)
    level = sum(w * mean for w, mean in zip(weights, means, strict=True))
    return Estimate(
        difference=_mean(candidate.launches) - level,
        error=math.sqrt(total),
        freedom=total**2 / spread if spread > 0 else 1.0,
        launches=min(len(candidate.launches), *(len(block.launches) for block in blocks)),
        method="block" if len(candidate.launches) > 1 else "history",
        own=math.sqrt(ours.own),
        own_freedom=ours.own_freedom,
        lent=ours.lent,
        is_bracketed=after is not None,
    )


def _spread_of_blocks(blocks: Sequence[Evidence], step: float, history: History | None) -> Spread | None:
    """Return the variance of the baseline's launches around their blocks' means; the history knows them, too, so
    its degrees of freedom aren't added to theirs."""
    spreads = [spread_of_side(block.launches, step, None) for block in blocks]
    own = [spread for spread in spreads if spread is not None]
    freedom = sum(spread.own_freedom for spread in own)
    pooled = sum(s.own * s.own_freedom for s in own) / freedom if freedom else 0.0
    if history is None:
        return Spread(variance=pooled, freedom=freedom, own=pooled, own_freedom=freedom) if own else None
    known = max(freedom, float(history.freedom))
    return Spread(variance=max(pooled, history.spread**2), freedom=known, own=pooled, own_freedom=freedom)


def _between_runs(means: Sequence[float], history: History | None, times: float) -> list[tuple[float, float]]:
    """Return the variance between whole runs of one configuration, `times` over, with its degrees of freedom."""
    steps = [(after - before) ** 2 for before, after in pairwise(means)]
    freedom = float(len(steps))
    total = sum(steps) / 2
    if history is not None and history.between_runs is not None:
        freedom += history.between_freedom
        total += history.between_freedom * history.between_runs**2
    return [(times * total / freedom, freedom)] if freedom else []


def _mean(launches: Sequence[Launch]) -> float:
    return fmean(launch.level for launch in launches)

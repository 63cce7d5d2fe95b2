"""The verdict that an interval allows, and how many launches would probably decide where it allows none."""

from __future__ import annotations

import math

from optrack.core.judge.interval import Estimate, quantile
from optrack.core.judgement import Effect, Verdict
from optrack.core.metrics import Better

MOST_LAUNCHES = 100
"""Beyond this many launches a side no number is promised."""

_POWER = 0.84
"""The normal quantile of an 80% chance."""


def good_side(effect: Effect, better: Better) -> Effect:
    """Return the effect with its sign turned so that more is better."""
    if better == "higher":
        return effect
    return Effect(relative=-effect.relative, low=-effect.high, high=-effect.low, confidence=effect.confidence)


def verdict_of(effect: Effect, better: Better, min_effect: float) -> Verdict:
    """Return what the interval shows.

    `improvement` and `regression` need an interval that excludes zero and an estimate of at least the minimum
    effect; `no_change` an interval that lies wholly within the minimum effect, whether or not it excludes
    zero; everything else is `inconclusive`. The three claims exclude one another.
    """
    good = good_side(effect, better)
    if good.low > 0 and good.relative >= min_effect:
        return "improvement"
    if good.high < 0 and good.relative <= -min_effect:
        return "regression"
    if -min_effect < good.low and good.high < min_effect:
        return "no_change"
    return "inconclusive"


def launches_needed(found: Estimate, min_effect: float, tail: float) -> int | None:
    """Return how many launches a side would decide with a chance of 80% if the estimate were the truth.

    None if that is more than `MOST_LAUNCHES`, or if the order of the launches, not their number, is what
    stands in the way.
    """
    if found.widened > 0:
        return None
    distance = abs(found.difference)
    limit = math.log1p(min_effect)
    room = distance if distance >= limit else limit - distance
    single = found.error * math.sqrt(found.launches)
    for count in range(max(found.launches + 1, 3), MOST_LAUNCHES + 1):
        freedom = found.freedom + count - found.launches
        if (quantile(1 - tail, freedom) + _POWER) * single / math.sqrt(count) <= room:
            return count
    return None

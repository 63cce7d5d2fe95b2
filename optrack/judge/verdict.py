"""The verdict that an interval allows, and how many launches would probably decide where it allows none."""

from __future__ import annotations

import math

from optrack.judge.evidence import Rules
from optrack.judge.interval import Estimate, quantile
from optrack.judge.multiplicity import improvement_tail, nominal_tails
from optrack.model.judgement import Effect, Verdict
from optrack.model.metrics import Better
from optrack.model.value import Frozen

MOST_LAUNCHES = 100
"""Beyond this many launches a side no number is promised."""

_POWER = 0.84
"""The normal quantile of an 80% chance."""

_KNOWN_WELL = 8
"""Degrees of freedom of a history that is good enough to look at two pairs."""


class Conclusion(Frozen):
    """A verdict with the effect it rests on; `withheld` if only the size of the campaign forbids a claim."""

    verdict: Verdict
    effect: Effect
    withheld: bool = False


def first_look(rules: Rules) -> int:
    """Return after how many pairs a sequential session may be looked at for the first time."""
    known = rules.history is not None and rules.history.freedom >= _KNOWN_WELL
    return min(2 if known else 3, rules.max_launches)


def tail_at(tail: float, launches: int, rules: Rules) -> float:
    """Return the one-sided error for evidence of `launches` a side: `tail`, shared out if looks are repeated.

    0 before the first look that the rules allow.
    """
    if not rules.sequential:
        return tail
    first = first_look(rules)
    if launches < first:
        return 0.0
    return nominal_tails(tail, first, rules.max_launches)[min(launches, rules.max_launches) - first]


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


def conclude(found: Estimate, rules: Rules, better: Better) -> Conclusion | None:
    """Return the verdict that `found` allows under the rules; None before the first look they allow.

    An improvement must also hold at the stricter error that the number of comparisons leaves to each.
    """
    tail = tail_at((1 - rules.confidence) / 2, found.launches, rules)
    if tail <= 0:
        return None
    effect = found.effect(rules.confidence, tail)
    verdict = verdict_of(effect, better, rules.min_effect)
    if verdict == "improvement" and rules.family > 1:
        strict = tail_at(improvement_tail(rules.confidence, rules.family), found.launches, rules)
        if found.reach(strict) >= abs(found.difference):
            return Conclusion(verdict="inconclusive", effect=effect, withheld=True)
    return Conclusion(verdict=verdict, effect=effect)


def launches_needed(found: Estimate, rules: Rules) -> int | None:
    """Return how many launches a side would decide with a chance of 80% if the estimate were the truth.

    None if that is more than `MOST_LAUNCHES`, or if the order of the launches, not their number, is what
    stands in the way.
    """
    if found.widened > 0:
        return None
    tail = improvement_tail(rules.confidence, rules.family)
    distance = abs(found.difference)
    limit = math.log1p(rules.min_effect)
    claim = distance >= limit
    room = distance if claim else limit - distance
    single = found.error * math.sqrt(found.launches)
    for count in range(max(found.launches + 1, 3), MOST_LAUNCHES + 1):
        freedom = found.freedom + count - found.launches
        end = tail if claim else (1 - rules.confidence) / 2
        if (quantile(1 - end, freedom) + _POWER) * single / math.sqrt(count) <= room:
            return count
    return None

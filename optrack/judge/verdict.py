"""The verdict that an interval allows, and how many launches would probably decide where it allows none."""

from __future__ import annotations

import math
from typing import Literal

from optrack.judge.evidence import Rules
from optrack.judge.interval import Estimate, quantile
from optrack.judge.multiplicity import improvement_tail, nominal_tails
from optrack.model.judgement import Effect, Verdict
from optrack.model.metrics import Better
from optrack.model.value import Frozen

_SPARE = 0.08
"""What is added to that chance where a single degree of freedom shows the spread, which then is mostly too small."""

MOST_LAUNCHES = 100
"""Beyond this many launches a side no number is promised."""

_POWER = 0.8
"""The chance with which a promised number of launches decides."""

Obstacle = Literal["many comparisons", "no baseline after"]


class Conclusion(Frozen):
    """A verdict with the effect it rests on; `obstacle` is what alone forbids a claim that the interval allows."""

    verdict: Verdict
    effect: Effect
    obstacle: Obstacle | None = None


def first_look(rules: Rules) -> int:
    """Return after how many rounds a sequential session may be looked at for the first time."""
    return min(rules.first_look or 3, rules.max_launches)


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


def verdict_of(effect: Effect, better: Better, min_effect: float, within: Effect | None = None) -> Verdict:
    """Return what the interval shows.

    `improvement` and `regression` need an interval that excludes zero and an estimate of at least the minimum
    effect; `no_change` an interval that lies wholly within the minimum effect, whether or not it excludes
    zero; everything else is `inconclusive`. The three claims exclude one another. `within` is the interval of two
    one-sided tests (Schuirmann, 1987), where it is another than the effect's own.
    """
    good, inner = good_side(effect, better), good_side(within or effect, better)
    if good.low > 0 and good.relative >= min_effect:
        return "improvement"
    if good.high < 0 and good.relative <= -min_effect:
        return "regression"
    if -min_effect < inner.low and inner.high < min_effect:
        return "no_change"
    return "inconclusive"


def conclude(found: Estimate, rules: Rules, better: Better) -> Conclusion | None:
    """Return the verdict that `found` allows under the rules; None before the first look they allow.

    An improvement must also hold at the stricter error that the number of comparisons leaves to each. In block
    order nothing is claimed until the baseline was measured on both sides in time.
    """
    tail = tail_at((1 - rules.confidence) / 2, found.launches, rules)
    if tail <= 0:
        return None
    effect = found.effect(rules.confidence, tail)
    if not found.is_bracketed:
        return Conclusion(verdict="inconclusive", effect=effect, obstacle="no baseline after")
    within = found.effect(2 * rules.confidence - 1, tail_at(1 - rules.confidence, found.launches, rules))
    verdict = verdict_of(effect, better, rules.min_effect, within)
    if verdict == "improvement":
        strict = tail_at(_improvement_tail(rules), found.launches, rules)
        if found.reach(strict) >= abs(found.difference):
            return Conclusion(verdict="inconclusive", effect=effect, obstacle="many comparisons")
    return Conclusion(verdict=verdict, effect=effect)


def _improvement_tail(rules: Rules) -> float:
    return improvement_tail(rules.confidence, rules.family, rules.credited)


def launches_needed(found: Estimate, rules: Rules) -> int | None:
    """Return how many launches a side will decide with a chance of 80%; None if that is more than `MOST_LAUNCHES`."""
    least = max(found.launches + 1, first_look(rules))
    wanted = _POWER + _SPARE / found.freedom**2
    chances = ((count, chance_to_decide(found, rules, count)) for count in range(least, MOST_LAUNCHES + 1))
    return next((count for count, chance in chances if chance >= wanted), None)


def chance_to_decide(found: Estimate, rules: Rules, launches: int) -> float:
    """Return the predicted chance, from 0 to 1, that evidence of `launches` a side will give a verdict.

    The estimate to come is predicted around the present one, with the spread seen so far and Student's t for not
    knowing either exactly (predictive power: Spiegelhalter, Freedman and Blackburn, 1986).
    """
    from scipy.special import stdtr

    single = found.error * math.sqrt(found.launches)
    wander = single * math.sqrt(max(0.0, 1 / found.launches - 1 / launches))
    if wander <= 0:
        return 1.0
    freedom = found.freedom + launches - found.launches

    def reach(tail: float) -> float:
        return quantile(1 - tail_at(tail, launches, rules), freedom) * single / math.sqrt(launches)

    def below(difference: float) -> float:
        return float(stdtr(found.freedom, (difference - found.difference) / wander))

    limit = math.log1p(rules.min_effect)
    improved = max(limit, reach(_improvement_tail(rules)))
    worse = max(limit, reach((1 - rules.confidence) / 2))
    if rules.metric.better == "lower":
        improved, worse = worse, improved
    room = limit - reach(1 - rules.confidence)
    unchanged = below(room) - below(-room) if room > 0 else 0.0
    return 1 - below(improved) + below(-worse) + unchanged

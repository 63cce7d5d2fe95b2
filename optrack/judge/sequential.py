"""The order in which the sides' launches alternate, and the decision after each pair of them."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Literal

from optrack.judge.evidence import Rules, Side, evidence_of
from optrack.judge.guards import broken_checks
from optrack.judge.interval import Estimate, estimate, quantile
from optrack.judge.multiplicity import improvement_tail
from optrack.judge.verdict import conclude, tail_at
from optrack.model.metrics import Better

Turn = Literal["baseline", "candidate"]

HOPELESS = 0.1
"""A session ends when the chance that its remaining launches decide anything is below this."""

_EARLIEST_END = 4
"""Pairs before a session may be given up: fewer don't show the spread."""


def launch_order(pairs: int) -> tuple[Turn, ...]:
    """Return whose turn it is, launch by launch: A B B A A B B A …, so that drift cancels.

    The candidate is first: one that can't start costs no launch of the baseline.
    """
    turns: list[Turn] = []
    for pair in range(pairs):
        turns += ["candidate", "baseline"] if pair % 2 == 0 else ["baseline", "candidate"]
    return tuple(turns)


def next_step(candidate: Side, baseline: Side, rules: Rules) -> Literal["more", "settled"]:
    """Return whether another pair of launches is worth making, after each completed pair.

    Settled means: as many launches as the rules allow; a check that is broken whatever the speed; and, in a
    sequential session, a verdict that the evidence so far allows with its share of the error (so the whole
    session errs no more often than one look would), or no reasonable chance of ever reaching one.
    """
    ours, theirs = (evidence_of(side, rules.metric.name) for side in (candidate, baseline))
    made = min(_launches_made(side, rules.metric.name) for side in (candidate, baseline))
    if made >= rules.max_launches or broken_checks(candidate, baseline, rules):
        return "settled"
    if not rules.sequential or rules.metric.better is None:
        return "more"
    found = estimate(ours, theirs, interleaved=rules.interleaved, history=rules.history)
    return "settled" if found is not None and is_settled(found, rules, rules.metric.better) else "more"


def is_settled(found: Estimate, rules: Rules, better: Better) -> bool:
    """Whether a sequential session may end on this estimate: with a verdict, or without hope for one."""
    conclusion = conclude(found, rules, better) if found.method != "history" else None
    if conclusion is None:
        return False
    return conclusion.verdict != "inconclusive" or is_hopeless(found, rules)


def is_hopeless(found: Estimate, rules: Rules) -> bool:
    """Whether a sequential session is better given up than brought to its end."""
    early = found.launches < _EARLIEST_END and not found.pooled
    return not early and found.launches < rules.max_launches and chance_to_settle(found, rules) < HOPELESS


def chance_to_settle(found: Estimate, rules: Rules) -> float:
    """Return the predicted chance that the session's last look would give a verdict, from 0 to 1.

    The final estimate is predicted around the present one with the spread seen so far (a stochastic
    curtailment by predictive power, Spiegelhalter, Freedman and Blackburn, 1986).
    """
    last = rules.max_launches
    single = found.error * math.sqrt(found.launches)
    wander = single * math.sqrt(1 / found.launches - 1 / last)
    if wander <= 0:
        return 1.0

    def reach(tail: float) -> float:
        freedom = found.freedom + last - found.launches
        return quantile(1 - tail_at(tail, last, rules), freedom) * single / math.sqrt(last)

    final = NormalDist(found.difference, wander)
    limit = math.log1p(rules.min_effect)
    claim = max(limit, reach(improvement_tail(rules.confidence, rules.family)))
    room = limit - reach((1 - rules.confidence) / 2)
    chance = 1 - final.cdf(claim) + final.cdf(-claim)
    return chance + (final.cdf(room) - final.cdf(-room) if room > 0 else 0.0)


def _launches_made(side: Side, metric: str) -> int:
    return len({sample.launch for sample in side.samples if sample.metric.name == metric})

"""The random order of a session's launches, and the decision after each round of them."""

from __future__ import annotations

import random
from typing import Literal

from optrack.judge.evidence import Rules, Side, evidence_of, unlike_losses
from optrack.judge.guards import broken_checks
from optrack.judge.interval import Estimate, estimate
from optrack.judge.verdict import chance_to_decide, conclude
from optrack.model.metrics import Better

HOPELESS = 0.2
"""A session ends when the chance that its remaining launches decide anything is below this."""

_EARLIEST_END = 4
"""Pairs before a session may be given up: fewer don't show the spread."""


def round_order(seed: int, number: int, candidates: int) -> tuple[int, ...]:
    """Return the launches of round `number` in the random order that `seed` gives: each candidate once (0, 1, …),
    and the baseline (-1) as often as it serves so many best, about their square root.

    Without a fixed order no disturbance can keep step with it. The first launch of all is a candidate's: one that
    can't start costs no launch of the baseline.
    """
    turns = [*range(candidates), *[-1] * max(1, round(candidates**0.5))]
    shuffled = random.Random(f"{seed}/{number}")
    shuffled.shuffle(turns)
    if number == 0:
        turns.remove(0)
        turns.insert(0, 0)
    return tuple(turns)


def next_step(candidate: Side, baseline: Side, rules: Rules) -> Literal["more", "settled"]:
    """Return whether another round of launches is worth making, after each completed one.

    Settled means: as many launches as the rules allow; a check that is broken whatever the speed; lost launches
    that no further ones make good; and, in a sequential session, a verdict that the evidence so far allows with its
    share of the error (so the whole session errs no more often than one look would), or no reasonable chance of
    ever reaching one.
    """
    ours, theirs = (evidence_of(side, rules.metric.name) for side in (candidate, baseline))
    made = min(_rounds_made(side, rules.metric.name) for side in (candidate, baseline))
    if made >= rules.max_launches or broken_checks(candidate, baseline, rules):
        return "settled"
    if not rules.sequential or rules.metric.better is None:
        return "more"
    losses = unlike_losses(ours, theirs, rules.interleaved)
    if losses is not None:
        return "more" if losses.may_level else "settled"
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
    early = found.launches < _EARLIEST_END and not found.lent
    if early or found.launches >= rules.max_launches:
        return False
    return chance_to_decide(found, rules, rules.max_launches) < HOPELESS


def _rounds_made(side: Side, metric: str) -> int:
    made = evidence_of(side, metric).made
    return len({side.rounds[number] if number < len(side.rounds) else number for number in made})

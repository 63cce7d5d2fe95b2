"""The order in which the sides' launches alternate, and the decision after each pair of them."""

from __future__ import annotations

from typing import Literal

from optrack.core.judge.evidence import Rules, Side, evidence_of
from optrack.core.judge.interval import estimate
from optrack.core.judge.verdict import verdict_of

Turn = Literal["baseline", "candidate"]


def launch_order(pairs: int) -> tuple[Turn, ...]:
    """Return whose turn it is, launch by launch: A B B A A B B A …, baseline first, so that drift cancels."""
    turns: list[Turn] = []
    for pair in range(pairs):
        turns += ["baseline", "candidate"] if pair % 2 == 0 else ["candidate", "baseline"]
    return tuple(turns)


def next_step(candidate: Side, baseline: Side, rules: Rules) -> Literal["more", "settled"]:
    """Return whether another pair of launches is needed."""
    ours, theirs = (evidence_of(side, rules.metric.name) for side in (candidate, baseline))
    if min(len(ours.launches), len(theirs.launches)) >= rules.max_launches:
        return "settled"
    found = estimate(ours, theirs, interleaved=rules.interleaved, history=rules.history)
    if found is None or rules.metric.better is None or not rules.sequential:
        return "more"
    verdict = verdict_of(found.effect(rules.confidence), rules.metric.better, rules.min_effect)
    return "more" if verdict == "inconclusive" else "settled"

"""Judging: what the evidence shows of a candidate against a baseline, and why it can't show more."""

from optrack.core.judge.evidence import History, Rules, Side, evidence_of, rules_of, side_of
from optrack.core.judge.judging import judge
from optrack.core.judge.sequential import launch_order, next_step

__all__ = [
    "History",
    "Rules",
    "Side",
    "evidence_of",
    "judge",
    "launch_order",
    "next_step",
    "rules_of",
    "side_of",
]

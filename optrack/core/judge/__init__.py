"""Judging: what the evidence shows of a candidate against a baseline, and why it can't show more."""

from optrack.core.judge.evidence import History, Rules, Side, side_of
from optrack.core.judge.judging import judge
from optrack.core.judge.sequential import launch_order, next_step

__all__ = ["History", "Rules", "Side", "judge", "launch_order", "next_step", "side_of"]

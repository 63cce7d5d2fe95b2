"""The error allowed to one comparison among many, so that a false improvement stays improbable."""

from __future__ import annotations

from optrack.core.judge.wording import level


def improvement_tail(confidence: float, family: int) -> float:
    """Return the one-sided error at which an `improvement` may be claimed among `family` comparisons.

    Bonferroni: each comparison gets (1 - confidence) / family, so the chance of even one false improvement
    in the campaign is at most 1 - confidence, however the comparisons depend on one another (they share a
    baseline). Never more than an interval at `confidence` leaves at one end.
    """
    return min((1 - confidence) / 2, (1 - confidence) / family)


def family_statement(confidence: float, family: int) -> str:
    """Return the sentence with which a log says how false improvements are bounded."""
    return (
        f"The chance of even one false improvement among {family} comparisons is kept to "
        f"{level(1 - confidence)} (Bonferroni: {level(improvement_tail(confidence, family))} for each)."
    )

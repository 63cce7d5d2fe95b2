"""What the evidence shows of a candidate against a baseline: the values of a judgement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from optrack.model.value import Frozen

Verdict = Literal["improvement", "regression", "no_change", "inconclusive", "failed"]
Comparison = Literal["fair", "unfair", "unknown"]
DifferenceClass = Literal["declared", "unexplained", "volatile", "unknown"]


class Effect(Frozen):
    """The relative difference candidate / baseline - 1 of the primary metric, with its interval."""

    relative: float
    low: float
    high: float
    confidence: float


class Difference(Frozen):
    """One field in which two snapshots or recipes differ; `meaning` says in words what it may mean."""

    field: str
    baseline: Any
    candidate: Any
    cls: DifferenceClass = Field(serialization_alias="class")
    severity: Literal["blocking", "note"]
    meaning: str = ""


class Attribution(Frozen):
    """Whether one factor can be credited, and which factors the treatment has."""

    status: Literal["single", "confounded"]
    factors: tuple[str, ...] = ()


class Guard(Frozen):
    """How a guard stands: kept, broken, unclear (the evidence can't tell) or missing (no number)."""

    name: str
    state: Literal["kept", "broken", "unclear", "missing"]
    text: str


class Judgement(Frozen):
    """The verdict on a candidate and everything it rests on.

    `baseline` and `candidate` are run ids. `verdict` is None where none may be given (an unfair comparison,
    a treatment that wasn't applied); `reasons` then says why, in sentences, as it does for every verdict.
    `method` is how the sides were compared (pair by pair, round by round, in block order, or with a spread known from
    history), `launches` how many a side that used, and `launches_needed` how many would probably decide
    where the verdict is `inconclusive`. `derived` has the recipe's derived metrics, None where one can't be
    computed.
    """

    verdict: Verdict | None
    baseline: str | None
    candidate: str
    metric: str
    effect: Effect | None = None
    comparison: Comparison = "unknown"
    attribution: Attribution = Attribution(status="single")
    reasons: tuple[str, ...] = ()
    launches_needed: int | None = None
    launches: int = 0
    method: Literal["paired", "rounds", "block", "history"] | None = None
    guards: tuple[Guard, ...] = ()
    derived: Mapping[str, float | None] = Field(default_factory=dict)
    differences: tuple[Difference, ...] = ()

    @property
    def is_decided(self) -> bool:
        """Whether a fair comparison showed what the treatment does: better, worse, or nothing that counts."""
        return self.comparison == "fair" and self.verdict in ("improvement", "regression", "no_change")

"""The parts that answers are made of: items, runs, judgements, transitions, each with what its fields mean.

Times are UTC in ISO 8601, ids of runs sort by time. Where a number can't be told it is null.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from optrack.model.judgement import Comparison, DifferenceClass, Verdict
from optrack.model.metrics import Better
from optrack.model.plan import Status
from optrack.model.run import Outcome, Stage

Time = str


class Part(BaseModel):
    """A JSON object whose fields are all named here."""

    model_config = ConfigDict(extra="forbid")


class QuantityPart(Part):
    """An amount as people write it, with its bounds."""

    text: str
    low: float | None
    high: float | None
    unit: str


class MetricPart(Part):
    """The metric that verdicts are about."""

    name: str
    unit: str | None
    better: Better | None


class EffectPart(Part):
    """candidate / baseline - 1 of the primary metric, with its interval."""

    relative: float
    low: float
    high: float
    confidence: float


class DifferencePart(Part):
    """A field in which two snapshots differ."""

    field: str
    baseline: Any
    candidate: Any
    cls: DifferenceClass = Field(alias="class")
    severity: Literal["blocking", "note"]
    meaning: str


class AttributionPart(Part):
    """Whether one factor can be credited."""

    status: Literal["single", "confounded"]
    factors: list[str]


class GuardPart(Part):
    """How a guard stands."""

    name: str
    state: Literal["kept", "broken", "unclear", "missing"]
    text: str


class JudgementPart(Part):
    """The verdict on a candidate and everything it rests on; `verdict` is null where none may be given."""

    verdict: Verdict | None
    baseline: str | None
    candidate: str
    metric: str
    effect: EffectPart | None
    comparison: Comparison
    differences: list[DifferencePart]
    attribution: AttributionPart
    reasons: list[str]
    launches_needed: int | None
    launches: int
    method: Literal["paired", "block", "history"] | None
    guards: list[GuardPart]
    derived: dict[str, float | None]


class FailurePart(Part):
    """Why a run didn't succeed."""

    kind: str
    message: str
    fingerprint: str
    log_tail: str


class InvalidPart(Part):
    """A pass that is no measurement; launch and repetition count from 0."""

    launch: int
    repetition: int
    why: str


class SeriesPart(Part):
    """One metric of a run: values per repetition per launch, and the median of the valid ones."""

    unit: str
    better: Better | None
    values: list[list[float | None]]
    median: float | None
    invalid: list[InvalidPart] = Field(default_factory=list)


class RunPart(Part):
    """One execution of an item's recipe; `outcome` is null while it goes on."""

    id: str
    item: str
    role: Literal["candidate", "baseline"]
    beside: str | None
    outcome: Outcome | None
    stage: Stage
    failure: FailurePart | None
    started_at: Time
    ended_at: Time | None
    host: str
    actor: str
    stages: dict[str, float]
    metrics: dict[str, SeriesPart]
    recipe: dict[str, Any]
    snapshot: dict[str, Any] | None
    artifacts: list[str]
    notes: list[str]


class DetachedPart(Part):
    """A run that was started and isn't followed."""

    id: str
    outcome: None


class NotePart(Part):
    """A remark on an item."""

    at: Time
    who: str
    text: str


class PlannedItemPart(Part):
    """An item as understood from the plan."""

    id: str
    title: str
    parent: str | None
    rank: int
    priority: str | None
    status: Status
    gain: QuantityPart | None
    effort: QuantityPart | None
    risk: str | None
    hypothesis: str | None
    needs: list[str]
    line: int
    recipe: dict[str, Any] | None


class ItemPart(PlannedItemPart):
    """An item with its standing."""

    archived: bool
    stale: bool
    adopted: bool
    notes: list[NotePart]


class LogItemPart(ItemPart):
    """An item in an exported log; `by_hand` tells that somebody set its status."""

    judgement: JudgementPart | None
    by_hand: bool


class StatePart(Part):
    """Where an item stands."""

    id: str
    title: str
    parent: str | None
    rank: int
    status: Status
    blocked_by: list[str]
    verdict: Verdict | None
    comparison: Comparison | None
    runs: int
    effect: EffectPart | None
    stale: bool
    archived: bool
    adopted: bool


class TransitionPart(Part):
    """One change of an item's status; `by_hand` tells one that somebody made from one that a run brought."""

    plan: str
    item: str
    at: Time
    before: Status | None
    after: Status
    who: str
    why: str
    run: str | None
    by_hand: bool


class ReasonPart(Part):
    """Why an item is chosen or isn't."""

    item: str
    kind: str
    text: str
    blocked_by: list[str]


class ProblemPart(Part):
    """Something wrong, or probably not meant, in a plan."""

    severity: Literal["error", "warning"]
    message: str
    line: int
    column: int
    hint: str | None


class TodoPart(Part):
    """An entry of a todo list."""

    content: str
    status: Status
    priority: Literal["high", "medium", "low"]
    id: str

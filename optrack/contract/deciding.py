"""The answers of the commands that decide and plan."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from optrack.contract.answer import Answer
from optrack.contract.parts import (
    ItemPart,
    MetricPart,
    NotePart,
    Part,
    PlannedItemPart,
    ProblemPart,
    QuantityPart,
    Time,
    TodoPart,
    TransitionPart,
)
from optrack.model.judgement import Comparison, Verdict
from optrack.model.plan import Status


class MarkAnswer(Answer):
    """`mark`: the transition made."""

    transition: TransitionPart


class NoteAnswer(Answer):
    """`note`: the remark made."""

    item: str
    note: NotePart


class AddAnswer(Answer):
    """`add`: the item added, and where to."""

    item: ItemPart
    written_to: str


class AuditChangePart(Part):
    """A conclusion that no longer stands."""

    item: str
    run: str
    before: Verdict | None
    after: Verdict | None
    comparison: Comparison
    why: str
    offered_again: bool


class AuditAnswer(Answer):
    """`audit`: the conclusions that changed, the baseline's run that was rejected, and the adopted items whose
    evidence doesn't stand."""

    changed: list[AuditChangePart]
    rejected: str | None = None
    adopted_without_evidence: list[str] = Field(default_factory=list)


class PlanBody(Part):
    """What was understood of a plan."""

    name: str
    path: str
    title: str
    metric: MetricPart
    target: QuantityPart | None
    min_effect: float
    baseline: str
    items: list[PlannedItemPart]


class LeftOutPart(Part):
    """A heading, entry or row that wasn't read as an item, and why; `doubtful` if it may have been meant as one."""

    line: int
    text: str
    kind: Literal["heading", "bold line", "entry", "row"]
    reason: str
    labelled: bool
    doubtful: bool


class PlanShowAnswer(Answer):
    """`plan show`: what was understood of a plan, and what wasn't read as an item."""

    plan: PlanBody
    problems: list[ProblemPart]
    left_out: list[LeftOutPart]


class PlanConvertAnswer(Answer):
    """`plan convert`: the page for an agent that writes a document as a plan."""

    text: str


class PlanCheckAnswer(Answer):
    """`plan check`: what is wrong in a plan."""

    plan: str
    items: int
    errors: int
    warnings: int
    problems: list[ProblemPart]


class OutputAnswer(Answer):
    """`plan new FILE`: the file written."""

    output: str


class UseAnswer(Answer):
    """`use`: the plan chosen."""

    plan: str


class TodoAnswer(Answer):
    """`todo`: the plan as a todo list."""

    todos: list[TodoPart]


class TodoChangePart(Part):
    """A status that a todo list gives an item."""

    item: str
    before: Status
    after: Status
    content: str


class TodoImportAnswer(Answer):
    """`todo import`: what a todo list changed."""

    changes: list[TodoChangePart]
    transitions: list[TransitionPart]
    same: list[str]
    unmatched: list[str]
    refused: list[str]
    problems: list[str]


class AcceptancePart(Part):
    """A difference that somebody accepted."""

    seq: int
    plan: str
    field: str
    item: str | None
    at: Time
    who: str
    why: str


class AcceptAnswer(Answer):
    """`accept`: what was accepted."""

    acceptance: AcceptancePart


class AdoptionPart(Part):
    """An item whose configuration is the new baseline."""

    item: str
    run: str | None
    who: str
    why: str


class AdoptAnswer(Answer):
    """`adopt`: the item adopted, or the one that no longer is."""

    adoption: AdoptionPart | None = None
    undone: str | None = None


class AblationPart(Part):
    """An item that was added to take a treatment apart."""

    id: str
    title: str
    keeps: list[str]


class AblateAnswer(Answer):
    """`ablate`: the items added."""

    items: list[AblationPart]


class CheckPart(Part):
    """What one check found."""

    name: str
    ok: bool
    text: str


class DoctorAnswer(Answer):
    """`doctor`: what was checked."""

    checks: list[CheckPart]

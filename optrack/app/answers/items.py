"""The answers about items: where they stand, what is recorded of one, and which is next."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

from pydantic import Field

from optrack.app.answers import Answer, View
from optrack.app.answers.runs import RunView
from optrack.app.ongoing import CampaignState
from optrack.judge.calibration import Expectation
from optrack.judge.spread import Sensitivity
from optrack.model.item import Adoption, ItemState, Note
from optrack.model.judgement import Comparison, Effect, Judgement, Verdict
from optrack.model.metrics import Metric
from optrack.model.plan import Item, PrimaryMetric, Quantity, Status
from optrack.plan.resolve import Resolved
from optrack.plan.schedule import Choice, Reason


class ItemStanding(View):
    """Where an item stands; `value` is its recorded state."""

    id: str
    title: str
    parent: str | None
    rank: int
    status: Status
    blocked_by: tuple[str, ...]
    verdict: Verdict | None
    comparison: Comparison | None
    runs: int
    effect: Effect | None
    stale: bool
    archived: bool
    adopted: bool
    value: ItemState = Field(exclude=True)

    @classmethod
    def of(cls, value: ItemState, blocked_by: tuple[str, ...] = ()) -> Self:
        """Return the view of a state; `blocked_by` are the needs that are unmet."""
        item, judgement = value.item, value.judgement
        return cls(
            id=item.id,
            title=item.title,
            parent=item.parent,
            rank=item.rank,
            status=value.status,
            blocked_by=blocked_by,
            verdict=judgement.verdict if judgement else None,
            comparison=judgement.comparison if judgement else None,
            runs=value.runs,
            effect=judgement.effect if judgement else None,
            stale=value.stale,
            archived=value.archived,
            adopted=value.adopted,
            value=value,
        )


class StatusAnswer(Answer):
    """`status`: where every item stands, and how far launches differ on this host."""

    plan: str
    title: str
    items: tuple[ItemStanding, ...]
    sensitivity: Sensitivity | None = None
    campaign: CampaignState | None = Field(default=None, exclude_if=lambda campaign: campaign is None)


class CampaignAnswer(Answer):
    """`stop --after-item`, `stop` of a campaign that waits: how far the campaign is."""

    campaign: CampaignState


class PlanHead(View):
    """A plan without its items; `path` is left out where the answer stands for itself."""

    name: str
    path: str | None = Field(default=None, exclude_if=lambda path: path is None)
    title: str
    metric: Metric | PrimaryMetric
    target: Quantity | None
    min_effect: float
    baseline: str


class PlannedItem(View):
    """An item as understood from the plan."""

    id: str
    title: str
    parent: str | None
    rank: int
    priority: str | None
    status: Status
    gain: Quantity | None
    effort: Quantity | None
    risk: str | None
    hypothesis: str | None
    needs: tuple[str, ...]
    line: int


class ItemView(PlannedItem):
    """An item with its standing, its resolved recipe and its notes; `value` is its recorded state."""

    archived: bool
    stale: bool
    adopted: bool
    recipe: Mapping[str, Any] | None
    notes: tuple[Note, ...]
    value: ItemState = Field(exclude=True)
    resolved: Resolved | None = Field(default=None, exclude=True)

    @classmethod
    def of(cls, value: ItemState, recipe: Mapping[str, Any] | None = None, **more: Any) -> Self:
        """Return the view of a state; `recipe` is the item's resolved recipe as plain data."""
        planned = {name: getattr(value.item, name) for name in PlannedItem.model_fields}
        own = {name: getattr(value, name) for name in ("status", "archived", "stale", "adopted", "notes")}
        return cls(**(planned | own), recipe=recipe, value=value, **more)


class Measurement(View):
    """One measurement of a base; `rejected` says why it can't be compared with, null where it can."""

    run: str
    mean: float | None
    beside: str | None
    rejected: str | None
    at: datetime


class BaseView(View):
    """A configuration that items were compared with: what was adopted into it, and how it drifted, in words."""

    adopted: tuple[str, ...]
    drift: str | None
    measurements: tuple[Measurement, ...]


class AdoptionEvidence(Adoption):
    """An adoption; `stands` tells whether the evidence it rests on is still a fair improvement."""

    stands: bool
    verdict: Verdict | None


class RegistryView(View):
    """The bases of a plan, the original first, and every adoption, undone ones too; `value` is the registry."""

    bases: tuple[BaseView, ...]
    adoptions: tuple[AdoptionEvidence, ...]
    value: Any = Field(exclude=True)

    @classmethod
    def of(cls, value: Any) -> Self:
        """Return the view of a `judge.lineage.Registry`."""
        adoptions = (
            AdoptionEvidence(
                **dict(rest.adoption),
                stands=rest.stands,
                verdict=rest.judgement.verdict if rest.judgement else None,
            )
            for rest in value.adoptions
        )
        return cls(bases=tuple(map(BaseView.of, value.bases)), adoptions=tuple(adoptions), value=value)


class ShowItemAnswer(Answer):
    """`show ITEM`: an item, its runs, the judgement in force, what that means against the original where another
    base is adopted, and, of the baseline, its registry. `unit` is that of the primary metric."""

    item: ItemView
    runs: tuple[RunView, ...]
    judgement: Judgement | None
    against_original: Judgement | None
    expected: Expectation | None
    registry: RegistryView | None = Field(default=None, exclude_if=lambda registry: registry is None)
    unit: str = Field(default="", exclude=True)
    formerly: str | None = Field(default=None, exclude=True)


class ChoiceAnswer(Answer):
    """`next --explain`: which item is next, and why no other; what failed before with a recipe like its. `value` is
    the choice itself."""

    next: str | None
    summary: str
    reasons: tuple[Reason, ...]
    warnings: tuple[str, ...] = ()
    value: Choice = Field(exclude=True)


class AddAnswer(Answer):
    """`add`: the item added, and where to."""

    item: ItemView
    written_to: str


class NextItem(View):
    """What is next, or why nothing is."""

    item: str | None
    summary: str
    reasons: tuple[Reason, ...]

    @classmethod
    def of(cls, value: Choice | None) -> Self:
        """Return the view of a choice."""
        if value is None:
            return cls(item=None, summary="", reasons=())
        return cls(
            item=value.item, summary="" if value.item is not None else value.summary, reasons=value.reasons
        )


class PlanItemView(PlannedItem):
    """An item as understood from the plan, with its resolved recipe."""

    recipe: Mapping[str, Any] | None

    @classmethod
    def of(cls, value: Item, recipe: Mapping[str, Any] | None = None) -> Self:
        """Return the view of a plan's item."""
        return cls(**{name: getattr(value, name) for name in PlannedItem.model_fields}, recipe=recipe)

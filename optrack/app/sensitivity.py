"""What a host can show: how far launches of one recipe differ on it, and which effects that lets show."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median_low
from typing import TYPE_CHECKING

from optrack.app.plan_history import PlanHistory
from optrack.judge.evidence import most_launches
from optrack.judge.spread import Sensitivity, sensitivity_of

if TYPE_CHECKING:
    from optrack.app.campaign import Campaign
    from optrack.model.plan import Plan
    from optrack.model.recipe import Recipe
    from optrack.store.read import Reader


def sensitivity(
    reader: Reader, plan: Plan, recipe: Recipe, used: Sequence[int] = (), ending: str | None = None
) -> Sensitivity | None:
    """Return what as many launches a side can show as judgements `used`, or else as `recipe` asks for; None while
    nothing was launched twice. `ending` is a run that counts though its end isn't recorded yet."""
    history = PlanHistory(reader, plan).latest_spread(plan.metric.name, ending)
    if history is None:
        return None
    count = median_low(used) if used else most_launches(recipe, sequential=False)
    return sensitivity_of(history, count, plan.min_effect)


def campaign_sensitivity(campaign: Campaign) -> Sensitivity | None:
    """Return what the plan's host can show with as many launches as its items have, or its baseline's recipe."""
    base = campaign.plan.item(campaign.plan.baseline)
    resolved = campaign.resolved_or_none(base) if base is not None else None
    judged = (state.judgement for state in campaign.states)
    used = [judgement.launches for judgement in judged if judgement is not None and judgement.launches]
    if resolved is None:
        return None
    return sensitivity(campaign.reader, campaign.plan, resolved.recipe, used)

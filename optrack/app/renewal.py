"""Measuring a baseline again that no longer speaks for today, before an item is compared with it."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from optrack.model.plan import Item
from optrack.model.treatment import treatment
from optrack.plan.schedule import Choice

if TYPE_CHECKING:
    from optrack.app.project import Standing


def with_fresh_baseline(campaign: Standing, choice: Choice, without: Collection[str]) -> Choice:
    """Return the choice, or one of the baseline where the chosen item would be compared with a stale run of it.

    Items whose launches alternate with the baseline's bring a fresh measurement with them. `without` holds what
    was tried already.
    """
    plan = campaign.plan
    item, base = plan.item(choice.item or ""), plan.item(plan.baseline)
    if item is None or base is None or item.id == base.id or not _in_block_order(campaign, item):
        return choice
    why = None if base.id in without else _stale(campaign, base)
    if why is None:
        return choice
    told = {
        base.id: {"kind": "chosen", "text": f"is measured again before {item.id}: {why}"},
        item.id: {"kind": "later", "text": f"comes after {base.id}"},
    }
    reasons = tuple(reason.model_copy(update=told.get(reason.item, {})) for reason in choice.reasons)
    return Choice(item=base.id, reasons=reasons)


def _in_block_order(campaign: Standing, item: Item) -> bool:
    resolved = campaign.resolved_or_none(item)
    return resolved is not None and resolved.recipe.order == "block"


def _stale(campaign: Standing, base: Item) -> str | None:
    """Return why the baseline's latest run that succeeded is stale; None while it is fresh or there is none."""
    runs = campaign.reader.runs(campaign.plan.name, base.id)
    latest = next((run for run in runs if run.outcome == "succeeded"), None)
    if latest is None:
        return None
    from optrack.app.evaluator import measurement
    from optrack.host.proc import own_identity
    from optrack.judge.baselines import ageing

    run = campaign.reader.run(latest.id)
    resolved = campaign.resolved_or_none(base)
    rejected = campaign.reader.rejections(campaign.plan.name).get(run.id)
    if rejected is not None:
        return f"its run {run.id} was rejected ({rejected.rstrip('.')})"
    if resolved is not None and treatment(campaign.gate.data(resolved.data), run.recipe):
        return "its recipe is another one now"
    measured = measurement(run, campaign.plan.metric.name)
    aged = ageing(measured, datetime.now(UTC), {"boot": own_identity().boot_id})
    return aged[0].rstrip(".") if aged else None

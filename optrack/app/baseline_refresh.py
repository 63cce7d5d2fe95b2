"""Which item is next: the baseline first where its latest run no longer speaks for today."""

from __future__ import annotations

import os
from collections.abc import Collection
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from optrack.model.metrics import means_of
from optrack.model.plan import Item
from optrack.model.treatment import treatment
from optrack.plan.schedule import Choice, choose

if TYPE_CHECKING:
    from optrack.app.campaign import Campaign
    from optrack.judge.baselines import BaselineMeasurement
    from optrack.model.run import Run


_MOST_BETWEEN = 3
"""Items in block order between two measurements of the baseline: more give a passing disturbance room."""


def next_choice(campaign: Campaign, *, by: str = "rank", without: Collection[str] = ()) -> Choice:
    """Return the item to run next, leaving out those in `without`, and why each earlier one isn't it.

    That is the baseline where the chosen item would be compared with a stale run of it, and once no item in block
    order is left or three wait for it: those need it on both sides, near in time. Items whose launches alternate
    with the baseline's bring a fresh measurement with them.
    """
    order: Literal["rank", "value"] = "value" if by == "value" else "rank"
    choice = choose(campaign.plan, campaign.states, by=order, without=without)
    plan = campaign.plan
    item, base = plan.item(choice.item or ""), plan.item(plan.baseline)
    if base is not None and (item is None or item.id != base.id):
        waiting = _unbracketed(campaign, base)
        is_due = item is None or not _in_block_order(campaign, item) or len(waiting) >= _MOST_BETWEEN
        if waiting and is_due:
            else_ = "what happened to the host since it was measured can't be told from an effect else"
            return _baseline_first(choice, base, f"is measured again after {', '.join(waiting)}: {else_}")
    if item is None or base is None or item.id == base.id or not _in_block_order(campaign, item):
        return choice
    why = None if base.id in without else _stale(campaign, base)
    if why is None:
        return choice
    return _baseline_first(choice, base, f"is measured again before {item.id}: {why}")


def _baseline_first(choice: Choice, base: Item, why: str) -> Choice:
    texts = {base.id: {"kind": "chosen", "text": why}}
    if choice.item is not None:
        texts[choice.item] = {"kind": "later", "text": f"comes after {base.id}"}
    reasons = tuple(reason.model_copy(update=texts.get(reason.item, {})) for reason in choice.reasons)
    return Choice(item=base.id, reasons=reasons)


def _unbracketed(campaign: Campaign, base: Item) -> list[str]:
    """Return the items in block order after whose run the baseline wasn't measured any more, nor tried."""
    judged = {
        state.judgement.candidate: state.item
        for state in campaign.states
        if state.judgement is not None
        and state.judgement.method in ("block", "history")
        and state.judgement.effect is not None
        and state.status == "completed"
        and not state.stale
    }
    if not judged:
        return []
    latest = max((run.id for run in campaign.reader.runs(campaign.plan.name, base.id, 1)), default="")
    return [item.id for run, item in judged.items() if run > latest and _in_block_order(campaign, item)]


def _in_block_order(campaign: Campaign, item: Item) -> bool:
    resolved = campaign.resolved_or_none(item)
    return resolved is not None and resolved.recipe.order == "block"


def _stale(campaign: Campaign, base: Item) -> str | None:
    """Return why the baseline's latest run that succeeded is stale; None while it is fresh or there is none."""
    runs = campaign.reader.runs(campaign.plan.name, base.id)
    latest = next((run for run in runs if run.outcome == "succeeded"), None)
    if latest is None:
        return None
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
    kernel = run.snapshot.hardware.kernel if run.snapshot and run.snapshot.hardware else None
    is_same_system = kernel is not None and kernel.release == os.uname().release
    aged = ageing(measured, datetime.now(UTC), {} if is_same_system else {"boot": own_identity().boot_id})
    return aged[0].rstrip(".") if aged else None


def measurement(run: Run, metric: str) -> BaselineMeasurement:
    """Return a baseline's run as one measurement of it, with what it was measured under."""
    from optrack.judge.baselines import BaselineMeasurement

    mean = means_of(run.samples).get(metric, 0.0)
    return BaselineMeasurement(run=run.id, at=run.started_at, mean=mean, facts=facts_of(run))


def facts_of(run: Run) -> dict[str, str]:
    """Return what makes a baseline age when it changes, as far as it was captured: the boot, the GPU driver."""
    hardware = run.snapshot.hardware if run.snapshot else None
    gpus = hardware.gpus if hardware else None
    boot = run.runner.boot_id if run.runner else None
    facts = {"boot": boot, "driver": gpus.driver if gpus else None}
    return {name: str(value) for name, value in facts.items() if value}

"""Decisions on a campaign that rest on its evidence: accept a difference, adopt a base, audit, take apart."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from optrack.campaign.finding import require_reason
from optrack.core.judge.ablation import Ablation, ablation
from optrack.core.judge.audit import Relabelled, audit
from optrack.core.judgement import Judgement
from optrack.core.plan import Item, RecipeLayer
from optrack.core.state import Acceptance, Adoption
from optrack.court import Court
from optrack.errors import UsageError

if TYPE_CHECKING:
    from optrack.campaign import Campaign


def judge_again(campaign: Campaign, item_id: str) -> Judgement | None:
    """Judge the item's latest run again under the rules and acceptances of now; record and return it."""
    state = campaign.state(item_id)
    if state.judgement is None:
        return None
    run = campaign.reader.run(state.judgement.candidate)
    judgement = Court(campaign.reader, campaign.plan).judge(run)
    if judgement != state.judgement:
        campaign.store.put_judgement(judgement, campaign.plan.name, state.item.id, _now())
    return judgement


def credit_again(campaign: Campaign) -> tuple[str, ...]:
    """Judge again the items whose treatment was confounded and that runs since have taken apart; return them."""
    court = Court(campaign.reader, campaign.plan)
    resolved = []
    for state in campaign.states():
        judgement = state.judgement
        if judgement is None or judgement.attribution.status != "confounded" or state.stale:
            continue
        again = court.judge(campaign.reader.run(judgement.candidate))
        if again.attribution.status == "single":
            campaign.store.put_judgement(again, campaign.plan.name, state.item.id, _now())
            resolved.append(state.item.id)
    return tuple(resolved)


def accept(campaign: Campaign, field: str, *, item: str | None, why: str) -> Acceptance:
    """Record that differences in `field` don't matter, to one item's comparisons or the plan's; judge again."""
    require_reason(why)
    name = campaign.state(item).item.id if item else None
    states = campaign.states()
    found = campaign.store.accept(
        campaign.plan.name, field, who=campaign.settings.actor, why=why, at=_now(), item=name
    )
    for state in states:
        if state.judgement is not None and name in (None, state.item.id):
            judge_again(campaign, state.item.id)
    return found


def adopt(campaign: Campaign, item_id: str, *, why: str, anyway: bool = False) -> Adoption:
    """Make the item's configuration part of the base of what follows.

    Raises UsageError unless its verdict in force is an improvement, or `anyway` is given.
    """
    state = campaign.state(item_id)
    verdict = state.judgement.verdict if state.judgement else None
    fair = state.judgement is not None and state.judgement.comparison == "fair"
    if (verdict != "improvement" or state.stale or not fair) and not anyway:
        unsure = "is of unknown fairness" if verdict == "improvement" else f"is {verdict or 'none'}"
        what = "is stale" if state.stale else unsure
        raise UsageError(
            f"the verdict on {state.item.id} {what}: only a fair improvement is adopted",
            hint="`--anyway` adopts it all the same, which is recorded",
        )
    return campaign.store.adopt(
        campaign.plan.name,
        state.item.id,
        who=campaign.settings.actor,
        why=why,
        at=_now(),
        run=state.judgement.candidate if state.judgement else None,
    )


def audit_plan(campaign: Campaign) -> tuple[Relabelled, ...]:
    """Judge everything again from the stored evidence; record what changed and offer those items again."""
    court = Court(campaign.reader, campaign.plan, hindsight=True)
    cases = [
        court.case(campaign.reader.run(state.judgement.candidate)).model_copy(
            update={"stored": state.judgement}
        )
        for state in campaign.states()
        if state.judgement is not None
    ]
    changed = audit(cases)
    for one in changed:
        campaign.store.put_judgement(one.after, campaign.plan.name, one.item, _now())
        state = campaign.state(one.item)
        if one.offer_again and state.status == "completed":
            campaign.store.transition(
                campaign.plan.name, one.item, "pending", who="optrack audit", why=one.why, at=_now()
            )
    return changed


def ablate(campaign: Campaign, item_id: str) -> tuple[Ablation, ...]:
    """Add the items that resolve which factor of a confounded treatment did what, under the item itself."""
    item = campaign.item(item_id)
    resolved = campaign.resolved(item)
    base = campaign.plan.item(campaign.plan.baseline)
    found = ablation(item.id, resolved.data, campaign.resolved(base).data if base else {})
    if not found:
        raise UsageError(
            f"the treatment of {item.id} has fewer than two factors, so there is nothing to take apart",
            hint=f"`optrack show {item.id}` lists its factors",
        )
    campaign.add(_items(item, found))
    return found


def _items(parent: Item, parts: Sequence[Ablation]) -> list[Item]:
    return [
        Item(
            id=part.id,
            title=part.title,
            line=parent.line,
            rank=parent.rank,
            parent=parent.id,
            recipe=RecipeLayer(data=part.layer, text="", line=parent.line, over="baseline"),
        )
        for part in parts
    ]


def _now() -> datetime:
    return datetime.now(UTC)

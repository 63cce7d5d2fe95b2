"""Decisions on a campaign that rest on its evidence: accept a difference, adopt a base, audit, take apart."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from optrack.app.adding import require_field
from optrack.app.evaluator import Court, keep_against_original, keep_verdict
from optrack.app.finding import require_reason
from optrack.errors import UsageError
from optrack.judge.attribution import Ablation, ablation
from optrack.judge.audit import Relabelled, audit
from optrack.judge.remarks import with_remarks
from optrack.model.events import RunRejected
from optrack.model.item import Acceptance, Adoption
from optrack.model.judgement import Judgement
from optrack.model.plan import Item, RecipeLayer
from optrack.model.run import Run

if TYPE_CHECKING:
    from optrack.app.campaign import Campaign


def judge_again(campaign: Campaign, item_id: str) -> Judgement | None:
    """Judge the item's latest run again under the rules and acceptances of now; record and return it."""
    state = campaign.state(item_id)
    if state.judgement is None:
        return None
    court = Court(campaign.reader, campaign.plan)
    run = court.run(state.judgement.candidate)
    judgement = court.judge(run, _judged_against(court, state.judgement))
    if judgement != state.judgement:
        keep_verdict(campaign.store, court, judgement, run, _now())
    return judgement


def _judged_against(court: Court, judgement: Judgement) -> Run | None:
    """Return the run that a judgement was made against."""
    return court.run(judgement.baseline) if judgement.baseline else None


def credit_again(campaign: Campaign) -> tuple[str, ...]:
    """Judge again the items whose treatment was confounded and that runs since have taken apart; return them."""
    court = Court(campaign.reader, campaign.plan)
    resolved = []
    for state in campaign.states():
        judgement = state.judgement
        if judgement is None or judgement.attribution.status != "confounded" or state.stale:
            continue
        run = court.run(judgement.candidate)
        again = court.judge(run, _judged_against(court, judgement))
        if again.attribution.status == "single":
            keep_verdict(campaign.store, court, again, run, _now())
            resolved.append(state.item.id)
    return tuple(resolved)


def accept(campaign: Campaign, field: str, *, item: str | None, why: str) -> Acceptance:
    """Record that differences in `field` don't matter, to one item's comparisons or the plan's; judge again."""
    require_reason(why)
    require_field(campaign, field)
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
    if state.adopted:
        raise UsageError(f"{state.item.id} is adopted already: nothing changes")
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


def adopt_by_itself(campaign: Campaign, run_id: str) -> Adoption | None:
    """Adopt what a run has just shown to be a fair improvement, where the plan says `adopt: auto`."""
    plan = campaign.plan
    run = campaign.reader.run(run_id)
    state = campaign.state(run.item)
    judgement = state.judgement
    if plan.adopt != "auto" or state.stale or state.adopted or judgement is None:
        return None
    if judgement.candidate != run.id or judgement.verdict != "improvement" or judgement.comparison != "fair":
        return None
    why = "the plan says `adopt: auto`, and it is an improvement"
    return campaign.store.adopt(plan.name, run.item, who="optrack", why=why, at=_now(), run=run.id)


def reject(campaign: Campaign, run_id: str, *, why: str) -> Run:
    """Record that a baseline's run can't be compared with; offer again what it left without a verdict, and the
    baseline itself where no other run of it is left.

    Raises UsageError for a run of another item, for one that goes on, and without a reason.
    """
    states = {state.item.id: state for state in campaign.states()}
    run, plan = campaign.reader.run(run_id), campaign.plan
    if run.plan != plan.name or run.item != plan.baseline:
        raise UsageError(
            f"run {run.id} is of {run.item}, not of the baseline {plan.baseline}",
            hint=f"`optrack show {plan.baseline}` lists the baseline's runs",
        )
    if run.outcome is None:
        raise UsageError(f"run {run.id} hasn't ended", hint="`optrack stop` ends it")
    require_reason(why)
    who = campaign.settings.actor
    campaign.store.append(run.id, RunRejected(who=who, why=why.strip()), _now())
    rejected = campaign.reader.rejections(plan.name)
    alone = [r for r in campaign.reader.runs(plan.name, plan.baseline) if r.beside is None]
    left = [r for r in alone if r.outcome == "succeeded" and r.id not in rejected]
    again = [plan.baseline] if run.beside is None and not left else []
    again += [
        item
        for item, state in states.items()
        if state.judgement is not None
        and state.judgement.baseline == run.id
        and state.judgement.verdict is None
    ]
    for item in again:
        if states[item].status == "completed" and not states[item].archived:
            said = f"run {run.id} of the baseline was rejected by {who}: {why.strip()}"
            campaign.store.transition(plan.name, item, "pending", who="optrack", why=said, at=_now())
    campaign.roll_up()
    return run


def audit_plan(campaign: Campaign) -> tuple[Relabelled, ...]:
    """Judge everything again from the stored evidence; record what changed and offer those items again.

    What stands on an adopted base is put against the original again where anything changed.
    """
    plan = campaign.plan
    court = Court(campaign.reader, plan, hindsight=True)
    judged = {state.item.id: state.judgement for state in campaign.states() if state.judgement is not None}
    court.load(
        run for judgement in judged.values() for run in (judgement.candidate, judgement.baseline) if run
    )
    cases = [
        court.case(court.run(judgement.candidate), _judged_against(court, judgement)).model_copy(
            update={"stored": judgement}
        )
        for judgement in judged.values()
    ]
    changed = tuple(_whole(court, one) for one in audit(cases, campaign.reader.rejections(plan.name)))
    for one in changed:
        keep_verdict(campaign.store, court, one.after, court.run(one.run), _now())
        if one.offer_again and campaign.state(one.item).status == "completed":
            campaign.store.transition(plan.name, one.item, "pending", who="optrack", why=one.why, at=_now())
    same = judged.keys() - {one.item for one in changed}
    for item in sorted(same) if changed else ():
        keep_against_original(campaign.store, court, judged[item], court.run(judged[item].candidate), _now())
    campaign.roll_up()
    return changed


def _whole(court: Court, changed: Relabelled) -> Relabelled:
    """Return a conclusion drawn again with what it tells beside its verdict."""
    baseline = _judged_against(court, changed.after)
    after = with_remarks(changed.after, court.run(changed.run), baseline)
    return changed.model_copy(update={"after": after})


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
    known = {state.item.id for state in campaign.states()}
    new = tuple(part for part in found if part.id not in known)
    if not new:
        raise UsageError(
            f"{item.id} has been taken apart already: {', '.join(part.id for part in found)}",
            hint="`optrack next` runs them",
        )
    campaign.add(_items(item, new))
    return new


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

"""Judging again what is recorded: after a difference was accepted, a baseline rejected, the rules changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optrack.app.actions import require_reason, roll_up
from optrack.app.evaluator import Evaluator
from optrack.app.project import Project, now
from optrack.errors import UsageError
from optrack.judge.audit import VerdictChange
from optrack.judge.audit import audit as changed_verdicts
from optrack.judge.difference import is_accepted
from optrack.judge.field_table import FIELDS
from optrack.judge.fields import dotted, leaves
from optrack.judge.remarks import with_remarks
from optrack.model.events import RunRejected
from optrack.model.item import Acceptance
from optrack.model.judgement import Judgement
from optrack.model.run import Run
from optrack.model.text import all_near

if TYPE_CHECKING:
    from optrack.app.answers.decisions import AuditAnswer
    from optrack.app.campaign import Campaign


def _baseline_of(evaluator: Evaluator, judgement: Judgement) -> Run | None:
    """Return the run that a judgement was made against."""
    return evaluator.run(judgement.baseline) if judgement.baseline else None


def credit_again(project: Project) -> tuple[str, ...]:
    """Judge again the items whose treatment was confounded and that runs since have taken apart; return them."""
    campaign = project.campaign()
    evaluator = Evaluator(campaign.reader, campaign.plan)
    resolved = []
    for state in campaign.states:
        judgement = state.judgement
        if judgement is None or judgement.attribution.status != "confounded" or state.stale:
            continue
        run = evaluator.run(judgement.candidate)
        again = evaluator.judge(run, _baseline_of(evaluator, judgement))
        if again.attribution.status == "single":
            evaluator.record(project.store, again, run, now())
            resolved.append(state.item.id)
    return tuple(resolved)


def bracket_again(project: Project) -> tuple[str, ...]:
    """Judge again the items in block order that waited for the baseline to be measured after them; return them."""
    campaign = project.campaign()
    evaluator = Evaluator(campaign.reader, campaign.plan)
    changed = []
    for state in campaign.states:
        judgement = state.judgement
        if judgement is None or judgement.method not in ("block", "history") or state.stale:
            continue
        run = evaluator.run(judgement.candidate)
        again = evaluator.judge(run, _baseline_of(evaluator, judgement))
        if run.recipe.get("order") == "block" and again != judgement:
            evaluator.record(project.store, again, run, now())
            changed.append(state.item.id)
    return tuple(changed)


def accept(project: Project, field: str, *, item: str | None, why: str) -> Acceptance:
    """Record that differences in `field` don't matter, to one item's comparisons or the plan's; judge again."""
    require_reason(why)
    campaign = project.campaign()
    _require_field(campaign, field)
    name = campaign.state(item).item.id if item else None
    accepted = project.store.accept(
        campaign.plan.name, field, who=project.settings.actor, why=why, at=now(), item=name
    )
    evaluator = Evaluator(campaign.reader, campaign.plan)
    for state in campaign.states:
        if state.judgement is not None and name in (None, state.item.id):
            run = evaluator.run(state.judgement.candidate)
            judgement = evaluator.judge(run, _baseline_of(evaluator, state.judgement))
            if judgement != state.judgement:
                evaluator.record(project.store, judgement, run, now())
    return accepted


def reject(project: Project, run_id: str, *, why: str) -> Run:
    """Record that a baseline's run can't be compared with; offer again what it left without a verdict, and the
    baseline itself where no other run of it is left.

    Raises UsageError for a run of another item, for one that goes on, and without a reason.
    """
    campaign = project.campaign()
    run, plan, reader = campaign.reader.run(run_id), campaign.plan, campaign.reader
    if run.plan != plan.name or run.item != plan.baseline:
        raise UsageError(
            f"run {run.id} is of {run.item}, not of the baseline {plan.baseline}",
            hint=f"`optrack show {plan.baseline}` lists the baseline's runs",
        )
    if run.outcome is None:
        raise UsageError(f"run {run.id} hasn't ended", hint="`optrack stop` ends it")
    require_reason(why)
    who = project.settings.actor
    project.store.record(run.id, RunRejected(who=who, why=why.strip()), now())
    rejected = reader.rejections(plan.name)
    alone = [r for r in reader.runs(plan.name, plan.baseline) if r.beside is None]
    left = [r for r in alone if r.outcome == "succeeded" and r.id not in rejected]
    again = [plan.baseline] if run.beside is None and not left else []
    again += [
        state.item.id
        for state in campaign.states
        if state.judgement is not None
        and state.judgement.baseline == run.id
        and state.judgement.verdict is None
    ]
    for item in again:
        if campaign.by_id[item].status == "completed" and not campaign.by_id[item].archived:
            reason = f"run {run.id} of the baseline was rejected by {who}: {why.strip()}"
            project.store.transition(plan.name, item, "pending", who="optrack", why=reason, at=now())
    roll_up(project)
    return run


def audit(project: Project, rejected: str | None = None, *, why: str = "") -> AuditAnswer:
    """Judge everything again from the stored evidence, after rejecting the baseline's run `rejected`, if given."""
    from optrack.app.answers.decisions import AuditAnswer, VerdictChange
    from optrack.app.report_data import registry

    run = reject(project, rejected, why=why).id if rejected is not None else None
    changed = tuple(
        VerdictChange(
            item=one.item,
            run=one.run,
            before=one.before.verdict,
            after=one.after.verdict,
            comparison=one.after.comparison,
            why=one.why,
            offered_again=one.offer_again,
            earlier=one.before,
            later=one.after,
        )
        for one in _judge_again(project)
    )
    fallen = registry(project.campaign()).fallen
    return AuditAnswer(changed=changed, rejected=run, adopted_without_evidence=fallen)


def _judge_again(project: Project) -> tuple[VerdictChange, ...]:
    """Judge everything again from the stored evidence; record what changed and offer those items again.

    What stands on an adopted base is put against the original again where anything changed.
    """
    campaign = project.campaign()
    plan, reader = campaign.plan, campaign.reader
    evaluator = Evaluator(reader, plan, hindsight=True)
    judged = {state.item.id: state.judgement for state in campaign.states if state.judgement is not None}
    evaluator.load(
        run for judgement in judged.values() for run in (judgement.candidate, judgement.baseline) if run
    )
    inputs = [
        evaluator.comparison_input(
            evaluator.run(judgement.candidate), _baseline_of(evaluator, judgement)
        ).model_copy(update={"stored": judgement})
        for judgement in judged.values()
    ]
    changed = tuple(
        _with_remarks(evaluator, one) for one in changed_verdicts(inputs, reader.rejections(plan.name))
    )
    for one in changed:
        evaluator.record(project.store, one.after, evaluator.run(one.run), now())
        if one.offer_again and campaign.by_id[one.item].status == "completed":
            project.store.transition(plan.name, one.item, "pending", who="optrack", why=one.why, at=now())
    same = judged.keys() - {one.item for one in changed}
    for item in sorted(same) if changed else ():
        run = evaluator.run(judged[item].candidate)
        evaluator.record_against_original(project.store, judged[item], run, now())
    roll_up(project)
    return changed


def _with_remarks(evaluator: Evaluator, changed: VerdictChange) -> VerdictChange:
    """Return a conclusion drawn again with what is remarked beside its verdict."""
    baseline = _baseline_of(evaluator, changed.after)
    after = with_remarks(changed.after, evaluator.run(changed.run), baseline)
    return changed.model_copy(update={"after": after})


_RUNS = 40
_SHOWN = 12


def _require_field(campaign: Campaign, field: str) -> None:
    """Raise UsageError unless a name or pattern fits a field of a recorded comparison or snapshot, or one that
    every snapshot has; names the nearest."""
    differing = _differing(campaign)
    if _fits(field, differing) or _fits(field, _declared()):
        return
    captured = _captured(campaign)
    if _fits(field, captured):
        return
    names = list(dict.fromkeys((*differing, *_declared(), *captured)))
    near = all_near(field, names, cutoff=0.6)
    listed = ", ".join(differing[:_SHOWN]) + (", …" if len(differing) > _SHOWN else "")
    there = (
        f"the comparisons differ in: {listed}"
        if listed
        else "no comparison of this plan has a difference yet"
    )
    raise UsageError(
        f"nothing recorded in this plan has a field {field!r}",
        hint=f"did you mean {' or '.join(near)}? {there}" if near else there,
    )


def _fits(field: str, names: list[str]) -> bool:
    return any(is_accepted(name, [field]) for name in names)


def _differing(campaign: Campaign) -> list[str]:
    """Return the fields in which recorded comparisons differ, those that decide first."""
    found = [
        difference
        for judged in campaign.reader.judgements(campaign.plan.name)
        for difference in judged.judgement.differences
    ]
    found.sort(key=lambda difference: difference.severity != "blocking")
    return list(dict.fromkeys(difference.field for difference in found))


def _declared() -> list[str]:
    """Return the names that any snapshot may have, up to what depends on the machine or the run."""
    names = (field.pattern.partition("*")[0].rstrip(".") for field in FIELDS)
    return [name for name in dict.fromkeys(names) if name]


def _captured(campaign: Campaign) -> list[str]:
    names: dict[str, None] = {}
    for run in campaign.reader.runs(campaign.plan.name, limit=_RUNS, with_=["snapshot"]):
        if run.snapshot is not None:
            names |= dict.fromkeys(dotted(path) for path, _ in leaves(run.snapshot.model_dump()))
    return list(names)

"""What reports are made of: the log of a campaign, narrowed or whole, its registry of bases, the page for agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from optrack.app.baseline_refresh import next_choice
from optrack.app.campaign import Campaign
from optrack.app.project import now
from optrack.app.queries import item_or_run
from optrack.app.sensitivity import campaign_sensitivity
from optrack.errors import UsageError
from optrack.judge.lineage import Registry, registry_of
from optrack.model.run import Run, primary_metric
from optrack.model.treatment import treatment
from optrack.render.log import Log, selected
from optrack.render.section import parse_since

if TYPE_CHECKING:
    from optrack.app.answers.logs import ContextAnswer


def log_data(campaign: Campaign) -> Log:
    """Return all that the progress log is made of, with every secret masked."""
    states, plan, reader = campaign.states, campaign.plan, campaign.reader
    resolved = campaign.resolutions([state.item for state in states])
    every_run = campaign.runs_of()
    ran = {run.id: run for run in every_run}
    factors: dict[str, Mapping[str, tuple[Any, Any]]] = {}
    for state in states:
        judged, own = state.judgement, resolved.get(state.item.id)
        factors[state.item.id] = own.factors if own else {}
        if judged is not None and judged.baseline is not None:
            factors[state.item.id] = treatment(ran[judged.candidate].recipe, ran[judged.baseline].recipe)
    log = Log(
        plan=plan,
        states=states,
        runs=every_run,
        transitions=reader.transitions(plan.name),
        recipes={item: found.data for item, found in resolved.items()},
        factors=factors,
        judgements=reader.judgements(plan.name),
        acceptances=reader.acceptances(plan.name),
        adoptions=reader.adoption_history(plan.name),
        rejections=reader.rejections(plan.name),
        choice=next_choice(campaign),
        sensitivity=campaign_sensitivity(campaign),
    )
    return campaign.gate.value(log)


def selected_log(campaign: Campaign, items: str | None = None, since: str | None = None) -> Log:
    """Return the log of some items (ids, separated by commas), in detail only of what happened since."""
    begin = parse_since(since, now()) if since else None
    ids = [campaign.state(item.strip()).item.id for item in (items or "").split(",") if item.strip()]
    return selected(log_data(campaign), items=ids, since=begin)


class Report(NamedTuple):
    """The report of one item or run as markdown, its title, and the log that it is made of."""

    log: Log
    text: str
    title: str


def report_of(campaign: Campaign, name: str) -> Report:
    """Return the report of one item with all its runs, or of one run; raises UsageError for another plan's run."""
    from optrack.render.document import item_section, run_section

    found = item_or_run(campaign, name)
    if not isinstance(found, Run):
        item = found.item
        log = selected(log_data(campaign), items=[item.id])
        masked = log.state(item.id) or found
        return Report(log, item_section(log, masked, level=1) + "\n", f"{item.id}: {item.title}")
    if found.plan != campaign.plan.name:
        raise UsageError(
            f"run {found.id} belongs to the plan {found.plan}", hint="name its plan with --plan FILE"
        )
    log = selected(log_data(campaign), items=[found.item])
    return Report(log, run_section(log, found.id, level=1) + "\n", found.id)


def registry(campaign: Campaign) -> Registry:
    """Return the registry of the plan's bases, from the baseline's runs and what was adopted."""
    reader, plan = campaign.reader, campaign.plan
    runs = campaign.runs_of(plan.baseline)
    return registry_of(
        runs,
        reader.adoption_history(plan.name),
        reader.judgements(plan.name),
        metric=primary_metric(plan, runs),
        min_effect=plan.min_effect,
        rejections=reader.rejections(plan.name),
    )


def context(campaign: Campaign) -> ContextAnswer:
    """Return the page for agents: plan, items, what is next, what may be done, rules."""
    from optrack.app.answers.logs import context_answer

    going = tuple(run for run in campaign.reader.open_runs() if not run.beside)
    return context_answer(log_data(campaign), going)

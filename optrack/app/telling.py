"""What the record has to tell: everything that a report of a campaign is made of, secrets masked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optrack.app.campaign import Campaign
from optrack.app.evaluator import primary_metric
from optrack.judge.lineage import Registry, registry_of
from optrack.model.item import ItemState
from optrack.model.run import Run
from optrack.model.treatment import treatment
from optrack.plan.resolve import Resolved
from optrack.render.log import Log
from optrack.store.parts import WHOLE


def log_of(campaign: Campaign) -> Log:
    """Return the plan, where its items stand, their whole runs and what was decided, with every secret masked."""
    states, plan, reader = campaign.states(), campaign.plan, campaign.reader
    resolved = campaign.resolutions([state.item for state in states])
    runs = tuple(reversed(reader.runs(plan.name, with_=WHOLE)))
    by_id = {run.id: run for run in runs}
    log = Log(
        plan=plan,
        states=states,
        runs=runs,
        transitions=reader.transitions(plan.name),
        recipes={item: found.data for item, found in resolved.items()},
        factors={state.item.id: _factors(by_id, state, resolved.get(state.item.id)) for state in states},
        judgements=reader.judgements(plan.name),
        acceptances=reader.acceptances(plan.name),
        adoptions=reader.adoption_history(plan.name),
        rejections=reader.rejections(plan.name),
        choice=campaign.choice(),
    )
    return campaign.gate.value(log)


def registry_of_plan(campaign: Campaign) -> Registry:
    """Return the registry of the plan's bases, from the baseline's runs and what was adopted."""
    reader, plan = campaign.reader, campaign.plan
    runs = reader.runs(plan.name, plan.baseline, with_=WHOLE)
    return registry_of(
        runs,
        reader.adoption_history(plan.name),
        reader.judgements(plan.name),
        metric=primary_metric(plan, runs),
        min_effect=plan.min_effect,
        rejections=reader.rejections(plan.name),
    )


def _factors(
    runs: Mapping[str, Run], state: ItemState, now: Resolved | None
) -> Mapping[str, tuple[Any, Any]]:
    """The item's treatment: as it was judged, where that has two runs, else as the plan says now."""
    judged = state.judgement
    if judged is not None and judged.baseline is not None:
        return treatment(runs[judged.candidate].recipe, runs[judged.baseline].recipe)
    return now.factors if now else {}

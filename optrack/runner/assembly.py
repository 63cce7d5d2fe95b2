"""Which session running an item means: its arms, the neighbours that share its rounds, and what it goes on with."""

from __future__ import annotations

import os
import secrets
from dataclasses import replace
from datetime import datetime

from optrack.app.campaign import Campaign
from optrack.app.project import now
from optrack.engines.registry import engine_named
from optrack.host.proc import own_identity
from optrack.model.plan import Item
from optrack.model.recipe_parts import LaunchRange, stop_rule, with_stop_command
from optrack.model.run import Run, new_run_id
from optrack.model.value import digest
from optrack.plan.resolve import Resolved
from optrack.plan.schedule import choose
from optrack.runner.resume import Resuming, Wanted, earlier_of, interrupted_since
from optrack.runner.session import Arm, Session
from optrack.settings import database_salt, salt_file

MOST_TOGETHER = 6
"""Items that share the launches of the baseline: more would be far from them in time."""

_SHARED = ("order", "launches", "repetitions", "stop", "gpus")


def session_of(
    campaign: Campaign, item_id: str, *, sequential: bool = False, resume: bool = False
) -> Session:
    """Return the session that running this item means: beside the baseline, unless it is the baseline.

    `sequential` is what the recipe's silence on `stop` means. With `resume`, an interrupted run of the same
    recipes is gone on with, stopping as it was to stop; `why_not_resumed` of the session says why there is none.
    """
    item = campaign.item(item_id)
    resolved = campaign.resolved(item)
    base = campaign.plan.item(campaign.plan.baseline)
    alone = base is None or base.id == item.id or resolved.recipe.order == "block"
    beside = None if alone or base is None else (base, campaign.resolved(base))
    stop = stop_rule(resolved.data, "sequential" if sequential or _is_range(resolved) else "fixed")
    session = _session(campaign, (item, resolved), beside, stop)
    if not resume:
        return with_neighbours(campaign, session, item) if sequential else session
    wanted = Wanted(
        item=item.id,
        recipe=resolved.digest,
        baseline=beside[1].digest if beside else None,
        host=campaign.settings.host,
        launches={how: replace(session, stop=how).most_launches for how in ("fixed", "sequential")},
        repetitions=resolved.recipe.repetitions,
    )
    earlier = earlier_of(_interrupted(campaign, item), wanted)
    if isinstance(earlier, str):
        return replace(session, why_not_resumed=f"nothing to resume: {earlier}")
    accepted = [a.field for a in campaign.reader.acceptances(campaign.plan.name, item.id)]
    session = _session(campaign, (item, resolved), beside, earlier.candidate.recipe.get("stop", "fixed"))
    return replace(session, resuming=Resuming(earlier, accepted))


def _session(
    campaign: Campaign,
    candidate: tuple[Item, Resolved],
    baseline: tuple[Item, Resolved] | None,
    stop: str,
) -> Session:
    """Return the session that runs an item, beside the baseline where its launches are interleaved.

    A `sequential` one ends as soon as its verdict is settled, within the recipe's number of launches, which
    only interleaved launches allow; the runs keep that with their recipe, since it belongs to the rules that
    they are judged by.
    """
    settings, at = campaign.settings, now()
    stop = stop if baseline is not None else "fixed"
    ours = _arm(campaign, *candidate, at, stop)
    theirs = _arm(campaign, *baseline, at, stop, beside=ours.run.id) if baseline else None
    salt = database_salt(salt_file(settings), settings.state)
    seed = secrets.randbits(31)
    return Session(settings, campaign.plan, ours, theirs, dict(os.environ), salt, stop, seed=seed)


def _is_range(resolved: Resolved) -> bool:
    return isinstance(resolved.recipe.launches, LaunchRange)


def with_neighbours(campaign: Campaign, session: Session, item: Item) -> Session:
    """Return the session with the items that are measured in the same rounds.

    Those are the next pending ones whose recipe asks for rounds as this one's does, with as many launches on the
    same GPUs, and whose turn depends on no result: where the base adopts improvements by itself, none.
    """
    recipe = session.candidate.recipe
    if recipe.order != "rounds" or session.baseline is None or campaign.plan.adopt == "auto":
        return session
    others: list[Arm] = []
    for reason in choose(campaign.plan, campaign.states).reasons:
        other = campaign.plan.item(reason.item)
        if (
            reason.kind not in ("chosen", "later")
            or other is None
            or other.id in (item.id, campaign.plan.baseline)
        ):
            continue
        resolved = campaign.resolved_or_none(other)
        if resolved is None or other.skip_if or resolved.recipe.combine:
            continue
        if any(getattr(resolved.recipe, key) != getattr(recipe, key) for key in _SHARED):
            continue
        others.append(_arm(campaign, other, resolved, now(), session.stop))
        if len(others) == MOST_TOGETHER - 1:
            break
    return replace(session, others=tuple(others))


def _arm(
    campaign: Campaign, item: Item, resolved: Resolved, at: datetime, stop: str, beside: str | None = None
) -> Arm:
    settings, gate = campaign.settings, campaign.gate
    run = Run(
        id=new_run_id(at, item.id),
        plan=campaign.plan.name,
        item=item.id,
        host=settings.host,
        role="candidate" if beside is None else "baseline",
        beside=beside,
        started_at=at,
        actor=settings.actor,
        plan_digest=digest(gate.text(campaign.plan.text)),
        recipe_digest=resolved.digest,
        recipe=gate.data({**with_stop_command(resolved.data), "stop": stop}),
        runner=own_identity(),
    )
    engine = engine_named(resolved.recipe.engine, settings.python)
    return Arm(run, resolved.recipe, engine, settings.runs / run.id)


def _interrupted(campaign: Campaign, item: Item) -> list[tuple[Run, Run | None]]:
    """Return the whole runs of the item that were interrupted lately, each with the baseline's beside it."""
    reader = campaign.reader
    ids = [run.id for run in interrupted_since(reader.runs(campaign.plan.name, item.id))]
    paired = reader.paired(ids)
    runs = reader.runs_by_id([*ids, *paired.values()])
    return [(runs[run], runs[paired[run]] if run in paired else None) for run in ids]

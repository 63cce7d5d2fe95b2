"""What running an item means now: its session, beside the baseline and going on where an earlier run stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optrack.campaign.campaign import Campaign
from optrack.campaign.standing import now
from optrack.core.choosing.resume import Wanted, earlier_of, interrupted_since
from optrack.running.resuming import Resuming
from optrack.running.session import Session, prepare

if TYPE_CHECKING:
    from optrack.core.plan import Item
    from optrack.core.run import Run


def session_of(
    campaign: Campaign, item_id: str, *, sequential: bool = False, resume: bool = False
) -> Session:
    """Return the session that running this item means: beside the baseline, unless it is the baseline.

    `sequential` is what the recipe's silence on `stop` means. With `resume`, an interrupted run of the same
    recipes is gone on with, stopping as it was to stop; `why_anew` of the session says why there is none.
    """
    campaign.sync()
    item = campaign.item(item_id)
    resolved = campaign.resolved(item)
    base = campaign.plan.item(campaign.plan.baseline)
    alone = base is None or base.id == item.id or resolved.recipe.order == "block"
    beside = None if alone or base is None else (base, campaign.resolved(base))
    stop = resolved.data.get("stop", "sequential" if sequential else "fixed")

    def prepared(stop: str) -> Session:
        return prepare(
            campaign.settings,
            campaign.plan,
            (item, resolved),
            beside,
            now(),
            sequential=stop == "sequential",
            gate=campaign.gate,
        )

    if not resume:
        return prepared(stop)
    wanted = Wanted(
        item=item.id,
        recipe=resolved.digest,
        baseline=beside[1].digest if beside else None,
        host=campaign.settings.host,
        launches={how: prepared(how).most_launches for how in ("fixed", "sequential")},
        repetitions=resolved.recipe.repetitions,
    )
    earlier = earlier_of(_interrupted(campaign, item), wanted)
    if isinstance(earlier, str):
        session = prepared(stop)
        session.why_anew = f"nothing to resume: {earlier}"
        return session
    session = prepared(earlier.candidate.recipe.get("stop", "fixed"))
    accepted = [a.field for a in campaign.reader.acceptances(campaign.plan.name, item.id)]
    session.resuming = Resuming(earlier, accepted)
    return session


def _interrupted(campaign: Campaign, item: Item) -> list[tuple[Run, Run | None]]:
    """Return the whole runs of the item that were interrupted lately, each with the baseline's beside it."""
    reader = campaign.reader
    found = []
    for run in interrupted_since(reader.runs(campaign.plan.name, item.id)):
        baseline = reader.beside(run.id)
        found.append((reader.run(run.id), reader.run(baseline) if baseline else None))
    return found

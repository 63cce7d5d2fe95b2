"""The fields that a plan's comparisons may differ in, as far as anything recorded has them."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from optrack.core.fairness.difference import is_accepted
from optrack.core.fairness.field_table import FIELDS
from optrack.core.fairness.fields import dotted, leaves
from optrack.errors import UsageError

if TYPE_CHECKING:
    from optrack.campaign import Campaign

_RUNS = 40
_SHOWN = 12


def require_field(campaign: Campaign, field: str) -> None:
    """Raise UsageError unless a name or pattern fits a field of a recorded comparison or snapshot, or one that
    every snapshot has; names the nearest."""
    differing = _differing(campaign)
    if _fits(field, differing) or _fits(field, _declared()):
        return
    captured = _captured(campaign)
    if _fits(field, captured):
        return
    names = list(dict.fromkeys((*differing, *_declared(), *captured)))
    near = difflib.get_close_matches(field, names, n=3, cutoff=0.6)
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
    for run in campaign.reader.runs(campaign.plan.name, limit=_RUNS):
        snapshot = campaign.reader.run(run.id).snapshot
        if snapshot is not None:
            names |= dict.fromkeys(dotted(path) for path, _ in leaves(snapshot.model_dump()))
    return list(names)

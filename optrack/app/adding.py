"""An item added to a campaign; and the fields that its comparisons may differ in."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from optrack.app.campaign import Campaign
from optrack.errors import UsageError
from optrack.judge.difference import is_accepted
from optrack.judge.field_table import FIELDS
from optrack.judge.fields import dotted, leaves
from optrack.model.plan import Item
from optrack.plan.added import NewItem, as_item, written

if TYPE_CHECKING:
    from optrack.app.campaign import Campaign


def add_item(campaign: Campaign, new: NewItem, *, write: bool) -> Item:
    """Add the item and return it; with `write` it is appended to the plan's file, which is the only thing that
    ever writes there."""
    item = as_item(campaign.plan, new, rank=len(campaign.plan.items))
    if not write:
        campaign.add([item])
        return item
    _write(campaign, written(campaign.written, new.model_copy(update={"id": item.id})))
    campaign.__dict__.pop("plan", None)
    campaign.__dict__.pop("written", None)
    return campaign.item(item.id)


def _write(campaign: Campaign, text: str) -> None:
    path = Path(campaign.written.path)
    before = path.read_bytes()
    if b"\r\n" in before:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fresh.write_bytes(text.encode())
        fresh.chmod(path.stat().st_mode & 0o777)
        if path.read_bytes() != before:
            raise UsageError(f"{path} is being edited", hint="save it and try again")
        fresh.replace(path.resolve())
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"the plan can't be written: {reason}", where=str(path)) from error
    finally:
        fresh.unlink(missing_ok=True)


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
    for run in campaign.reader.runs(campaign.plan.name, limit=_RUNS, with_=["snapshot"]):
        if run.snapshot is not None:
            names |= dict.fromkeys(dotted(path) for path, _ in leaves(run.snapshot.model_dump()))
    return list(names)

"""Adding an item to a campaign: beside the plan's text, in the database, or to the plan's file when told to."""

from __future__ import annotations

import os
from pathlib import Path

from optrack.campaign.campaign import Campaign
from optrack.core.plan import Item
from optrack.core.planning.added import NewItem, as_item, written
from optrack.errors import UsageError


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

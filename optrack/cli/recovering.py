"""Closing what a dead runner left, before a command runs or shows anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optrack.cli import output
from optrack.errors import StoreError

if TYPE_CHECKING:
    from optrack.app.campaign import Campaign


def say_recovered(campaign: Campaign) -> None:
    """Close the runs whose runner has died and say so, a line each."""
    campaign.sync()
    for line in campaign.recover():
        output.say(line)


def say_recovered_if_possible(campaign: Campaign) -> None:
    """The same for a command that only shows: where the record can't be written, it shows it as it is."""
    campaign.sync()
    if campaign.scratch is not None:
        output.say(f"no records yet, and none can be made: {campaign.settings.project} is read-only")
        return
    try:
        for line in campaign.recover():
            output.say(line)
    except StoreError as error:
        output.say(f"a run has died, which can't be recorded now: {error.message}")

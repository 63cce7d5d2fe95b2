"""Why the next item is the next one, and why no earlier one is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optrack.cli import output
from optrack.core.choose import Choice

if TYPE_CHECKING:
    from optrack.campaign import Campaign


def print_choice(campaign: Campaign, choice: Choice, *, as_json: bool) -> int:
    """Print the choice with the reason for every item; exit code 3 if nothing is left to run."""
    code = 0 if choice.item else 3
    if as_json:
        output.data({"next": choice.item, "reasons": dict(choice.reasons)})
        return code
    for item_id, reason in choice.reasons.items():
        mark = ">" if item_id == choice.item else " "
        output.text(f"{mark} {item_id}: {reason}")
    if choice.item is None:
        output.text("nothing to run")
    return code

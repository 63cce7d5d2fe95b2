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
        reasons = [reason.model_dump(mode="json") for reason in choice.reasons]
        output.data({"next": choice.item, "summary": choice.summary, "reasons": reasons})
        return code
    for reason in choice.reasons:
        mark = ">" if reason.kind == "chosen" else " "
        output.text(f"{mark} {reason.item} {reason.text}")
    if choice.item is None:
        output.text(choice.summary)
    return code

"""Why the next item is the next one, and why no earlier one is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from optrack.cli import output
from optrack.plan.added import resembling
from optrack.plan.schedule import Choice
from optrack.render.text import choice_lines

if TYPE_CHECKING:
    from optrack.app.campaign import Campaign


def print_choice(campaign: Campaign, choice: Choice, *, as_json: bool) -> int:
    """Print the choice with the reason for every item; exit code 3 if nothing is left to run."""
    code = 0 if choice.item else 3
    warnings = _warnings(campaign, choice.item)
    if as_json:
        reasons = [reason.model_dump(mode="json") for reason in choice.reasons]
        told = {"next": choice.item, "summary": choice.summary, "reasons": reasons, "warnings": warnings}
        output.data(told)
        return code
    output.text(choice_lines(choice, warnings))
    return code


def _warnings(campaign: Campaign, item_id: str | None) -> list[str]:
    """Return what has failed before with a recipe like the chosen item's."""
    item = campaign.plan.item(item_id) if item_id else None
    base = campaign.plan.item(campaign.plan.baseline)
    recipe = campaign.resolved_or_none(item) if item else None
    baseline = campaign.resolved_or_none(base) if base else None
    if recipe is None or baseline is None:
        return []
    runs = campaign.reader.runs(campaign.plan.name)
    return [found.text for found in resembling(recipe.data, baseline.data, runs)]

"""`optrack compare`: two items or runs side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from optrack.cli import output
from optrack.cli.call import Call, standard

if TYPE_CHECKING:
    from optrack.campaign import Campaign
    from optrack.core.run import Run


@click.command("compare")
@click.argument("candidate", metavar="A")
@click.argument("baseline", metavar="B")
@standard
def command(call: Call, candidate: str, baseline: str) -> None:
    """Compare A with B, each an item (its latest run that succeeded) or a run, B taking the baseline's place.

    Where B is the plan's baseline, its run measured beside A's is taken, if there is one.
    """
    from optrack.campaign import find_run
    from optrack.cli.views import judgement_lines
    from optrack.core.report.documents import judgement_document
    from optrack.core.report.summary import measured_text
    from optrack.court import Court

    campaign = call.campaign
    ours = find_run(campaign, candidate)
    theirs = _beside(campaign, ours, baseline) or find_run(campaign, baseline)
    judgement = Court(campaign.reader, campaign.plan).judge(ours, theirs)
    if call.as_json:
        output.data(judgement_document(judgement) or {})
        return
    metric = campaign.plan.metric.name
    output.text(
        [
            f"candidate: {ours.item} {measured_text(ours, metric)}   [{ours.id}]",
            f"baseline:  {theirs.item} {measured_text(theirs, metric)}   [{theirs.id}]",
            "",
            *judgement_lines(judgement),
        ]
    )


def _beside(campaign: Campaign, ours: Run, baseline: str) -> Run | None:
    """Return the baseline's run that was measured beside the candidate's, if `baseline` means that item."""
    item = campaign.plan.item(baseline)
    beside = campaign.reader.beside(ours.id) if item and item.id == campaign.plan.baseline else None
    return campaign.reader.run(beside) if beside else None

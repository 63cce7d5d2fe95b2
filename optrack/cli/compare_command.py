"""`optrack compare`: two items or runs side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from optrack.cli import output
from optrack.cli.call import Call, standard
from optrack.errors import UsageError

if TYPE_CHECKING:
    from optrack.campaign import Campaign
    from optrack.core.run import Run


@click.command("compare")
@click.argument("candidate", metavar="A")
@click.argument("baseline", metavar="B")
@standard
def command(call: Call, candidate: str, baseline: str) -> None:
    """Compare A with B, each an item (its latest run that succeeded) or a run, B taking the baseline's place."""
    from optrack.cli.views import judgement_lines
    from optrack.core.documents import judgement_document
    from optrack.core.summary import measured_text
    from optrack.evidence import Court

    campaign = call.campaign
    ours, theirs = find_run(campaign, candidate), find_run(campaign, baseline)
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


def find_run(campaign: Campaign, what: str) -> Run:
    """Return the whole run that an item or a run's id means; raises UsageError if it has none."""
    item = campaign.plan.item(what)
    if item is None:
        return campaign.reader.run(what)
    runs = campaign.reader.runs(campaign.plan.name, item.id)
    if not runs:
        raise UsageError(f"item {item.id} has no run yet", hint=f"`optrack run {item.id}` makes one")
    own = [run for run in runs if run.beside is None]
    succeeded = [run for run in own if run.outcome == "succeeded"]
    return campaign.reader.run((succeeded or own or list(runs))[0].id)

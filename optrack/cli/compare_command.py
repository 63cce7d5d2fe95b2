"""`optrack compare`: two items or runs side by side."""

from __future__ import annotations

import click

from optrack.cli import output
from optrack.cli.call import Call, standard


@click.command("compare")
@click.argument("candidate", metavar="A")
@click.argument("baseline", metavar="B")
@standard
def command(call: Call, candidate: str, baseline: str) -> None:
    """Compare A with B, each an item (its latest run that succeeded) or a run, B taking the baseline's place.

    Where B is the plan's baseline, its run that A's was judged against is taken, if there is one.
    """
    from optrack.app.finding import compared
    from optrack.cli.views import judgement_lines
    from optrack.render.documents import judgement_document
    from optrack.render.summary import measured_text

    campaign = call.campaign
    ours, theirs, judgement = compared(campaign, candidate, baseline)
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

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
    from optrack.render.documents import judgement_document
    from optrack.render.text import comparison_lines

    campaign = call.campaign
    ours, theirs, judgement = compared(campaign, candidate, baseline)
    if call.as_json:
        output.data(judgement_document(judgement) or {})
        return
    output.text(comparison_lines(ours, theirs, judgement, campaign.plan.metric.name))

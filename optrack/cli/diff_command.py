"""`optrack diff`: what differs between the snapshots of two runs."""

from __future__ import annotations

import click

from optrack.cli import output
from optrack.cli.call import Call, standard


@click.command("diff")
@click.argument("candidate", metavar="A")
@click.argument("baseline", metavar="B")
@standard
def command(call: Call, candidate: str, baseline: str) -> None:
    """List every field in which what was captured of A differs from what was captured of B."""
    from optrack.app.finding import find_run
    from optrack.judge.difference import comparison, differences
    from optrack.model.snapshot import Snapshot
    from optrack.model.treatment import treatment
    from optrack.render.documents import difference_document
    from optrack.render.provenance import diff_lines

    campaign = call.campaign
    ours, theirs = find_run(campaign, candidate), find_run(campaign, baseline)
    factors = treatment(ours.recipe, theirs.recipe)
    found = differences(
        ours.snapshot or Snapshot(),
        theirs.snapshot or Snapshot(),
        declared=factors,
    )
    if call.as_json:
        output.data(
            {
                "baseline": theirs.id,
                "candidate": ours.id,
                "comparison": comparison(found),
                "differences": [difference_document(difference) for difference in found],
            }
        )
    else:
        output.text(
            diff_lines(
                theirs.snapshot or Snapshot(),
                ours.snapshot or Snapshot(),
                names=(theirs.id, ours.id),
                declared=factors,
            )
        )

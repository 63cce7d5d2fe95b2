"""`optrack runs`: the runs so far."""

from __future__ import annotations

import click

from optrack.cli import output
from optrack.cli.call import Call, standard


@click.command("runs")
@click.argument("item", required=False)
@click.option("--limit", type=click.IntRange(min=1), default=50, help="how many at most, the latest")
@standard
def command(call: Call, item: str | None, limit: int) -> None:
    """List the runs of the plan, or of one item, the latest last."""
    from optrack.cli.recovering import say_recovered_if_possible
    from optrack.render.documents import run_document
    from optrack.render.text import runs_table
    from optrack.store.parts import WHOLE

    campaign = call.campaign
    say_recovered_if_possible(campaign)
    name = campaign.state(item).item.id if item else None
    runs = list(reversed(campaign.reader.runs(campaign.plan.name, name, limit, with_=WHOLE)))
    if call.as_json:
        output.data({"runs": [run_document(run) for run in runs]})
    elif runs:
        beside = {
            run.id: campaign.reader.run(other) for run in runs if (other := campaign.reader.beside(run.id))
        }
        output.text(runs_table(runs, campaign.plan.metric.name, beside))
    else:
        output.say("there are no runs yet; `optrack next` starts one")

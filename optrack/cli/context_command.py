"""`optrack context`: one page for an agent."""

from __future__ import annotations

import click

from optrack.cli import output
from optrack.cli.call import Call, standard


@click.command("context")
@standard
def command(call: Call) -> None:
    """Print one page that tells an agent the plan, what stands where, what it may do next, and how."""
    from optrack.render.briefing import briefing_document
    from optrack.render.document import briefing

    campaign = call.campaign
    log = campaign.log()
    going = [run for run in campaign.reader.open_runs() if not run.beside]
    if call.as_json:
        output.data(briefing_document(log, going))
    else:
        output.text(briefing(log, going))

"""`optrack stop`: stops a run, with its teardown."""

from __future__ import annotations

import click

from optrack.cli import output
from optrack.cli.call import Call, standard


@click.command("stop")
@click.argument("run")
@click.option("--force", is_flag=True, help="shorten the grace that the server gets")
@standard
def command(call: Call, run: str, force: bool) -> int:
    """Ask a run to stop, wait until it is torn down and recorded, and say how it ended."""
    from optrack.cli.following import Results

    campaign = call.campaign
    found = campaign.reader.run(run)
    campaign.stop(found.id, force=force)
    output.say(f"stopping {found.id}: waiting for the teardown")
    results = Results(campaign, as_json=call.as_json, single=True)
    results.take(found.beside or found.id)
    results.finish()
    return 0

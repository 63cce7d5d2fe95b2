"""`optrack attach`: follows a run that is going on."""

from __future__ import annotations

import click

from optrack.cli.call import Call, standard
from optrack.errors import UsageError


@click.command("attach")
@click.argument("run", required=False)
@standard
def command(call: Call, run: str | None) -> int:
    """Follow a run that is going on, by default the latest, until it has ended. Ctrl-C stops the run."""
    from optrack.cli.following import Results

    campaign = call.campaign
    campaign.recover()
    if run is None:
        going = [open_run for open_run in campaign.reader.open_runs() if not open_run.beside]
        if not going:
            raise UsageError("no run is going on", hint="`optrack next` starts one")
        run = going[-1].id
    found = campaign.reader.run(run)
    results = Results(campaign, as_json=call.as_json, single=True)
    results.take(found.beside or found.id)
    return results.finish()

"""`optrack mark`: sets an item's status by hand."""

from __future__ import annotations

import click

from optrack.cli import output
from optrack.cli.call import Call, standard


@click.command("mark")
@click.argument("item")
@click.argument("status", type=click.Choice(["pending", "in_progress", "completed", "cancelled"]))
@click.option("--why", required=True, help="the reason, which is recorded with the transition")
@standard
def command(call: Call, item: str, status: str, why: str) -> None:
    """Set an item's status by hand; the transition is recorded with who did it and why."""
    from optrack.model.plan import STATUSES
    from optrack.render.documents import transition_document

    after = next(known for known in STATUSES if known == status)
    done = call.campaign.mark(item, after, why=why)
    if call.as_json:
        output.data({"transition": transition_document(done)})
    else:
        output.text(f"{done.item}: {done.before} -> {done.after}")

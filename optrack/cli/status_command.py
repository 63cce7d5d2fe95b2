"""`optrack status`: what stands where, and why."""

from __future__ import annotations

import click

from optrack.cli import output
from optrack.cli.call import Call, standard


@click.command("status")
@standard
def command(call: Call) -> None:
    """Show where every item of the plan stands: status, verdict, effect, and what blocks it."""
    from optrack.cli.recovering import say_recovered_if_possible
    from optrack.plan.schedule import blocked_by
    from optrack.render.documents import state_document
    from optrack.render.text import status_table

    campaign = call.campaign
    say_recovered_if_possible(campaign)
    states = campaign.states()
    known = {state.item.id: state for state in states}
    blocked = {state.item.id: blocked_by(state.item, known) for state in states}
    if call.as_json:
        items = [state_document(state, blocked[state.item.id]) for state in states]
        output.data({"plan": campaign.plan.name, "title": campaign.plan.title, "items": items})
        return
    output.text([f"{campaign.plan.title}  ({campaign.plan.path})", ""])
    output.text(status_table(states, blocked))
    reason = campaign.choice()
    if reason.item or not states:
        output.text(["", f"next: {reason.item}" if reason.item else reason.summary])

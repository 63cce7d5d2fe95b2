"""`optrack status`: what stands where, and why."""

from __future__ import annotations

import click

from optrack.cli import output
from optrack.cli.call import Call, standard
from optrack.model.item import ItemState


@click.command("status")
@standard
def command(call: Call) -> None:
    """Show where every item of the plan stands: status, verdict, effect, and what blocks it."""
    from optrack.cli.recovering import say_recovered_if_possible
    from optrack.cli.table import table
    from optrack.plan.schedule import blocked_by
    from optrack.render.documents import state_document
    from optrack.render.summary import effect_text, quantity_text, state_verdict

    campaign = call.campaign
    say_recovered_if_possible(campaign)
    states = campaign.states()
    known = {state.item.id: state for state in states}
    blocked = {state.item.id: blocked_by(state.item, known) for state in states}
    if call.as_json:
        items = [state_document(state, blocked[state.item.id]) for state in states]
        output.data({"plan": campaign.plan.name, "title": campaign.plan.title, "items": items})
        return
    rows = [
        (
            ("  " if state.item.parent else "") + state.item.id,
            state.item.title,
            _status(state, blocked[state.item.id]),
            quantity_text(state.item.gain),
            state_verdict(state),
            effect_text(state.judgement.effect if state.judgement else None),
            str(state.runs),
        )
        for state in states
    ]
    output.text([f"{campaign.plan.title}  ({campaign.plan.path})", ""])
    output.text(table(("ITEM", "TITLE", "STATUS", "EXPECTED", "VERDICT", "EFFECT", "RUNS"), rows, right=(6,)))
    reason = campaign.choice()
    if reason.item or not states:
        output.text(["", f"next: {reason.item}" if reason.item else reason.summary])


def _status(state: ItemState, blocked: tuple[str, ...]) -> str:
    if state.archived:
        return f"{state.status} (archived)"
    if state.status == "pending" and blocked:
        return f"blocked by {', '.join(blocked)}"
    return state.status.replace("_", " ") + (", adopted" if state.adopted else "")

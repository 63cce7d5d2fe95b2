"""`optrack audit`: judges everything again from the stored evidence."""

from __future__ import annotations

import click

from optrack.cli import output
from optrack.cli.call import Call, standard


@click.command("audit")
@standard
def command(call: Call) -> None:
    """Judge every item again from what is recorded; relabel what doesn't stand and offer it again."""
    from optrack.campaign.decisions import audit_plan
    from optrack.core.summary import verdict_text

    changed = audit_plan(call.campaign)
    if call.as_json:
        output.data(
            {
                "changed": [
                    {
                        "item": one.item,
                        "run": one.run,
                        "before": one.before.verdict,
                        "after": one.after.verdict,
                        "comparison": one.after.comparison,
                        "why": one.why,
                        "offered_again": one.offer_again,
                    }
                    for one in changed
                ]
            }
        )
    elif not changed:
        output.text("every verdict stands")
    else:
        output.text(
            f"{one.item}: {verdict_text(one.before)} -> {verdict_text(one.after)}: {one.why}"
            for one in changed
        )

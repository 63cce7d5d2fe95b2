"""`optrack adopt`: makes an item's configuration the new baseline."""

from __future__ import annotations

import click

from optrack.cli import output
from optrack.cli.call import Call, standard
from optrack.errors import UsageError


@click.command("adopt")
@click.argument("item", required=False)
@click.option("--why", default="", help="the reason, which is recorded")
@click.option("--anyway", is_flag=True, help="adopt it although its verdict isn't an improvement")
@click.option("--undo", is_flag=True, help="undo the latest adoption")
@standard
def command(call: Call, item: str | None, why: str, anyway: bool, undo: bool) -> None:
    """Make ITEM's configuration part of the base that everything after it is measured on."""
    from optrack.app.decisions import adopt
    from optrack.app.project import now

    campaign = call.campaign
    if undo:
        campaign.sync()
        undone = campaign.store.undo_adopt(campaign.plan.name, who=campaign.settings.actor, at=now())
        output.data({"undone": undone}) if call.as_json else output.text(f"{undone} is no longer adopted")
        return
    if item is None:
        raise UsageError("name the item to adopt", hint="`optrack status` lists the items")
    done = adopt(campaign, item, why=why, anyway=anyway)
    if call.as_json:
        output.data({"adoption": {"item": done.item, "run": done.run, "who": done.who, "why": done.why}})
    else:
        output.text(f"adopted {done.item}: what follows is measured on top of it")

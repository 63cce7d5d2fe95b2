"""`optrack run`: runs the named items, whatever their rank."""

from __future__ import annotations

import click

from optrack.cli.call import Call, standard
from optrack.errors import OptrackError, UsageError


@click.command("run")
@click.argument("items", metavar="ITEM…", nargs=-1, required=True)
@click.option("--dry-run", is_flag=True, help="print the environment and commands instead of running them")
@click.option("--detach", is_flag=True, help="start the run and return at once (one item)")
@click.option("--wait", is_flag=True, help="wait until the host is fit to measure on, instead of refusing")
@click.option("--resume", is_flag=True, help="go on with an interrupted run of the item, if it ran the same")
@standard
def command(call: Call, items: tuple[str, ...], dry_run: bool, detach: bool, wait: bool, resume: bool) -> int:
    """Run these items in the given order, whatever their rank or status.

    With --resume, the complete launches of an interrupted run are kept and the rest is measured, as long as the
    recipes are as they were and nothing that matters has changed; else everything is measured anew.
    """
    from optrack.cli.following import Results, say_waiting
    from optrack.cli.recovering import say_recovered

    campaign = call.campaign
    wanted = [campaign.item(item) for item in items]
    if dry_run:
        from optrack.cli.dry_run import print_dry_run

        return print_dry_run(campaign, wanted, as_json=call.as_json)
    if detach and len(wanted) > 1:
        raise UsageError("--detach starts one item", hint="`optrack next --all --detach` runs them in turn")
    say_recovered(campaign)
    results = Results(campaign, as_json=call.as_json, single=len(wanted) == 1)
    for item in wanted:
        try:
            run = campaign.start(item.id, wait=wait, resume=resume, say=say_waiting)
        except OptrackError as error:
            return results.break_off(error)
        if results.take(run, detach=detach) == 130:
            break
    return results.finish()

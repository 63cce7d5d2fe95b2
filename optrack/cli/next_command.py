"""`optrack next`: picks and runs the next pending item."""

from __future__ import annotations

import click

from optrack.cli import output
from optrack.cli.call import Call, standard
from optrack.errors import NothingToRunError, OptrackError


@click.command("next")
@click.option("--all", "everything", is_flag=True, help="go on until nothing is left to run")
@click.option("--dry-run", is_flag=True, help="print the environment and commands instead of running them")
@click.option(
    "--explain", is_flag=True, help="say why this item is next, and why no earlier one; run nothing"
)
@click.option("--detach", is_flag=True, help="start the run and return at once")
@click.option("--wait", is_flag=True, help="wait until the host is fit to measure on, instead of refusing")
@click.option(
    "--by", type=click.Choice(["rank", "value"]), default="rank", help="order: rank, or gain for effort"
)
@click.option("--resume", is_flag=True, help="go on with an interrupted run of the item, if it ran the same")
@standard
def command(
    call: Call,
    everything: bool,
    dry_run: bool,
    explain: bool,
    detach: bool,
    wait: bool,
    by: str,
    resume: bool,
) -> int:
    """Pick the next pending item of the plan and run it.

    The run goes on in a process of its own: Ctrl-C stops it with its teardown, while closing the terminal
    leaves it going (`optrack attach` follows it again). With --all, the launches of an item end as soon as its
    verdict is settled, unless its recipe says `stop: fixed`. With --resume, the complete launches of an
    interrupted run are kept and the rest is measured, as long as the recipes are as they were and nothing that
    matters has changed; else everything is measured anew.
    """
    campaign = call.campaign
    if explain or dry_run:
        from optrack.cli.recovering import say_recovered_if_possible

        say_recovered_if_possible(campaign)
        choice = campaign.choice(by=by)
        if explain:
            from optrack.cli.explain import print_choice

            return print_choice(campaign, choice, as_json=call.as_json)
        if choice.item is None:
            raise NothingToRunError(choice.summary, hint="`optrack next --explain` says why")
        from optrack.cli.dry_run import print_dry_run

        return print_dry_run(campaign, [campaign.item(choice.item)], as_json=call.as_json)
    if detach and everything:
        from optrack.app.spawn import spawn_campaign

        choice = campaign.choice(by=by)
        if choice.item is None:
            raise NothingToRunError(choice.summary, hint="`optrack next --explain` says more")
        log = spawn_campaign(campaign.settings, campaign.plan.path, by=by, wait=wait, resume=resume)
        output.data({"log": str(log)}) if call.as_json else output.text(
            f"started, beginning with {choice.item}; what happens is told in {log}"
        )
        return 0
    return _run(call, everything=everything, detach=detach, wait=wait, by=by, resume=resume)


def _run(call: Call, *, everything: bool, detach: bool, wait: bool, by: str, resume: bool) -> int:
    from optrack.cli.following import Results, say_waiting
    from optrack.cli.recovering import say_recovered

    campaign = call.campaign
    say_recovered(campaign)
    results = Results(campaign, as_json=call.as_json, single=not everything)
    tried: set[str] = set()
    while True:
        try:
            run = campaign.start_next(
                by=by, wait=wait, without=tried, sequential=everything, resume=resume, say=say_waiting
            )
        except NothingToRunError:
            if not tried:
                raise
            return results.finish()
        except OptrackError as error:
            return results.break_off(error)
        tried.add(campaign.reader.run(run).item)
        if results.take(run, detach=detach) == 130 or not everything:
            return results.finish()

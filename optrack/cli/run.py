"""The commands that run: next, run, attach, stop."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from optrack.cli import output
from optrack.cli.call import Call, emit, standard
from optrack.errors import NothingToRunError, OptrackError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optrack.app.answers.decisions import DryRun
    from optrack.app.campaign import Campaign
    from optrack.app.ongoing import CampaignState
    from optrack.model.plan import Item

_dry_run = click.option(
    "--dry-run", is_flag=True, help="print the environment and commands instead of running them"
)
_wait = click.option(
    "--wait", is_flag=True, help="wait until the host is fit to measure on, instead of refusing"
)
_resume = click.option(
    "--resume", is_flag=True, help="go on with an interrupted run of the item, if it ran the same"
)


@click.command("next")
@click.option("--all", "everything", is_flag=True, help="go on until nothing is left to run")
@_dry_run
@click.option(
    "--explain", is_flag=True, help="say why this item is next, and why no earlier one; run nothing"
)
@click.option("--detach", is_flag=True, help="start the run and return at once")
@_wait
@click.option(
    "--by", type=click.Choice(["rank", "value"]), default="rank", help="order: rank, or gain for effort"
)
@_resume
@standard
def next_(
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

    The run continues in its own process: Ctrl-C stops the run and tears the server down, while closing the
    terminal leaves it going (`optrack attach` follows it again). With --all, the launches of an item end as soon
    as its verdict is settled, unless its recipe says `stop: fixed`. With --resume, the complete launches of an
    interrupted run are kept and the rest is measured, as long as the recipes are as they were and nothing that
    matters has changed; else everything is measured from scratch.
    """
    if explain:
        return _explain(call, by)
    if dry_run:
        from optrack.app.baseline_refresh import next_choice

        campaign = call.recovered()
        choice = next_choice(campaign, by=by)
        if choice.item is None:
            raise NothingToRunError(choice.summary, hint="`optrack next --explain` says why")
        return _print_dry_run(call, campaign, [campaign.item(choice.item)])
    if detach and everything:
        from optrack.app.answers.decisions import StartedAnswer
        from optrack.app.running import start_all

        first, log = start_all(call.project, by=by, wait=wait, resume=resume)
        text = f"started, beginning with {first}; progress is written to {log}"
        emit(call, StartedAnswer(log=str(log), first=first), lambda: text)
        return 0
    if everything:
        return _run_all(call, by=by, wait=wait, resume=resume)
    from optrack.app.running import start_next
    from optrack.cli.follow import Results, say_waiting

    call.recover()
    results = Results(call, single=True)
    run = start_next(call.project, by=by, wait=wait, resume=resume, say=say_waiting)
    if detach:
        results.detach(run)
    else:
        results.follow(run)
    return results.finish()


def _run_all(call: Call, *, by: str, wait: bool, resume: bool) -> int:
    """Run item after item until nothing is left; from the second on, wait for a host that others measure on."""
    from optrack.app.ongoing import OngoingCampaign
    from optrack.app.running import start_next
    from optrack.cli.follow import Results, say_waiting

    call.recover()
    results = Results(call, single=False)
    tried: set[str] = set()
    with OngoingCampaign(call.settings, call.project.written.name) as campaign:

        def waits(text: str) -> None:
            campaign.waits(text)
            say_waiting(text)

        while True:
            if campaign.is_to_end:
                campaign.why = "it was asked to end after the item that ran"
                output.say(f"the campaign ends: {campaign.why}")
                return results.finish()
            try:
                run = start_next(
                    call.project,
                    by=by,
                    wait=wait or bool(tried),
                    without=tried,
                    sequential=True,
                    resume=resume,
                    say=waits,
                )
            except OptrackError as error:
                campaign.why = error.message
                if isinstance(error, NothingToRunError) and tried:
                    return results.finish()
                return results.abort(error)
            campaign.runs()
            tried.add(call.project.reader.run(run).item)
            if results.follow(run) == 130:
                campaign.why = "its run was stopped on request"
                return results.finish()
            tried |= results.add_companions(run)


def _explain(call: Call, by: str) -> int:
    from optrack.app.queries import explain
    from optrack.render.text import choice_lines

    answer = explain(call.recovered(), by=by)
    emit(call, answer, lambda: choice_lines(answer.value, answer.warnings))
    return 0 if answer.next else 3


def _print_dry_run(call: Call, campaign: Campaign, items: Sequence[Item]) -> int:
    from optrack.app.answers.decisions import DryRunsAnswer
    from optrack.app.plan_queries import dry_run

    answer = dry_run(campaign, items)
    every = answer.items if isinstance(answer, DryRunsAnswer) else [answer]
    emit(call, answer, lambda: [line for one in every for line in _dry_run_lines(one)])
    return 0


def _dry_run_lines(found: DryRun) -> list[str]:
    lines = [f"# {found.item}  {found.title}"]
    lines += [f"cd {shlex.quote(found.cwd)}"]
    lines += [f"export {key}={shlex.quote(value)}" for key, value in found.env.items()]
    lines += [f"unset {key}" for key in found.unset]
    lines += [f"# patch, in a copy of the repository: {patch}" for patch in found.patch]
    if found.setup:
        lines += ["# setup", found.setup.rstrip()]
    if found.server:
        chosen = " (30000 stands for a free port, chosen at launch)" if found.port_is_chosen else ""
        lines += [f"# server{chosen}", found.server.rstrip()]
        lines += [f"# ready: {', '.join(f'{k} {v}' for k, v in found.ready.items())}"]
    for command in found.warmup:
        lines += ["# warm-up, not counted", command.rstrip()]
    for name, command in found.bench.items():
        lines += [f"# benchmark {name}, {found.repetitions} times in each launch", command.rstrip()]
    for name, command in found.check.items():
        lines += [f"# check {name}", command.rstrip()]
    beside = ", in turn with as many of the baseline" if found.beside_baseline else ""
    most = (
        f"{found.at_least} to {found.launches}, as the evidence needs"
        if found.at_least
        else str(found.launches)
    )
    lines += [f"# launches: {most}{beside}"]
    for key, (old, new) in found.factors.items():
        lines += [f"# factor {key}: {old} -> {new}"]
    return [*lines, ""]


@click.command("run")
@click.argument("items", metavar="ITEM…", nargs=-1, required=True)
@_dry_run
@click.option("--detach", is_flag=True, help="start the run and return at once (one item)")
@_wait
@_resume
@standard
def run(call: Call, items: tuple[str, ...], dry_run: bool, detach: bool, wait: bool, resume: bool) -> int:
    """Run these items in the given order, whatever their rank or status.

    With --resume, the complete launches of an interrupted run are kept and the rest is measured, as long as the
    recipes are as they were and nothing that matters has changed; else everything is measured from scratch.
    """
    wanted = [call.campaign.item(item) for item in items]
    if dry_run:
        return _print_dry_run(call, call.campaign, wanted)
    if detach and len(wanted) > 1:
        raise UsageError("--detach starts one item", hint="`optrack next --all --detach` runs them in turn")
    from optrack.app.running import start
    from optrack.cli.follow import Results, say_waiting

    call.recover()
    results = Results(call, single=len(wanted) == 1)
    for item in wanted:
        try:
            started = start(call.project, item.id, wait=wait, resume=resume, say=say_waiting)
        except OptrackError as error:
            return results.abort(error)
        if detach:
            results.detach(started)
        elif results.follow(started) == 130:
            break
    return results.finish()


@click.command("attach")
@click.argument("run", required=False)
@standard
def attach(call: Call, run: str | None) -> int:
    """Follow a run until it has ended: a run's id or an item's, by default the run that is going on.

    Ctrl-C leaves, and the run goes on; `optrack stop` ends it.
    """
    from optrack.app.running import find_run, recover
    from optrack.cli.follow import Results

    recover(call.project)
    found = find_run(call.project, run, goes_on=run is None)
    results = Results(call, single=True)
    results.follow(found.beside or found.id, leaves=True)
    return results.finish()


@click.command("stop")
@click.argument("run", required=False)
@click.option("--force", is_flag=True, help="shorten the grace that the server gets")
@click.option(
    "--after-item", is_flag=True, help="end the campaign (`next --all`) when the item that runs has ended"
)
@standard
def stop(call: Call, run: str | None, force: bool, after_item: bool) -> int:
    """Ask a run to stop, wait until it is torn down and recorded, and say how it ended.

    RUN is a run's id or an item's, by default the run that is going on. A campaign ends with its run, and also
    where it only waits for the host; `optrack next --all` goes on with it.
    """
    from optrack.app.ongoing import end_after_item, end_waiting
    from optrack.app.running import stop as ask_to_stop
    from optrack.cli.follow import Results

    if after_item or run is None:
        act = end_after_item if after_item else end_waiting
        state = act(call.settings, call.project.written.name)
        if state is not None:
            _say_campaign(call, state)
            return 0

    found = ask_to_stop(call.project, run, force=force)
    output.say(f"stopping {found.id}: waiting for the teardown")
    results = Results(call, single=True)
    results.follow(found.beside or found.id)
    results.finish()
    return 0


def _say_campaign(call: Call, state: CampaignState) -> None:
    from optrack.app.answers.items import CampaignAnswer

    emit(call, CampaignAnswer(campaign=state), lambda: state.text)

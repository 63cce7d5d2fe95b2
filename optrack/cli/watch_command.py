"""`optrack watch`: prints transitions and the ends of runs as they happen."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from optrack.cli import output
from optrack.cli.call import Call, standard

if TYPE_CHECKING:
    from optrack.app.campaign import Campaign

_POLL_S = 0.25


@click.command("watch")
@click.option(
    "--after", type=int, default=None, help="begin after this transition's number; 0 tells all so far"
)
@click.option("--count", type=click.IntRange(min=1), default=None, help="end after so many lines")
@click.option("--for", "seconds", type=float, default=None, help="end after so many seconds")
@standard
def command(call: Call, after: int | None, count: int | None, seconds: float | None) -> int:
    """Print each change of an item's status and each begin and end of a run as it happens, a line each.

    With --json each line is a JSON document of its own. Ctrl-C ends it; nothing else is affected.
    """
    campaign = call.campaign
    campaign.sync()
    deadline = None if seconds is None else time.monotonic() + seconds
    said = 0
    try:
        for change in _changes(campaign, after, deadline):
            output.data(change, indent=None) if call.as_json else output.text(_line(change))
            said += 1
            if said == count:
                break
    except KeyboardInterrupt:
        return 130
    return 0


def _changes(campaign: Campaign, after: int | None, deadline: float | None) -> Iterator[dict[str, Any]]:
    from optrack.render.documents import timestamp, transition_document

    reader, plan = campaign.reader, campaign.plan.name
    earlier = reader.transitions(plan)
    last = after if after is not None else max((t.seq for t in earlier), default=0)
    known = {run.id: run.outcome for run in reader.runs(plan)}
    version = -1
    while True:
        now = reader.version()
        if now != version:
            version = now
            for transition in reader.transitions(plan, after=last):
                last = transition.seq
                yield {"event": "transition", "seq": transition.seq} | transition_document(transition)
            for run in reversed(reader.runs(plan, limit=50)):
                about = {"run": run.id, "item": run.item, "role": run.role, "who": run.actor}
                if run.id not in known:
                    yield {"event": "run_started", "at": timestamp(run.started_at)} | about
                if run.outcome is not None and known.get(run.id) is None:
                    message = run.failure.message if run.failure else None
                    ended = {"outcome": run.outcome, "stage": run.stage, "failure": message}
                    yield {"event": "run_ended", "at": timestamp(run.ended_at)} | about | ended
                known[run.id] = run.outcome
        if deadline is not None and time.monotonic() >= deadline:
            return
        time.sleep(_POLL_S)


def _line(change: dict[str, Any]) -> str:
    at = str(change["at"])[:19]
    if change["event"] == "transition":
        before = change["before"] or "new"
        return output.one_line(
            f"{at}  {change['item']}: {before} -> {change['after']}  ({change['who']}: {change['why']})"
        )
    if change["event"] == "run_started":
        return output.one_line(f"{at}  {change['item']}: run {change['run']} started")
    failure = f": {change['failure']}" if change["failure"] else ""
    return output.one_line(f"{at}  {change['item']}: run {change['run']} {change['outcome']}{failure}")

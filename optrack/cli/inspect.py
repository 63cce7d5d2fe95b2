"""The commands that show what is recorded: status, show, runs, log, compare, diff, failures, watch."""

from __future__ import annotations

import re
import sys
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from optrack.cli import output
from optrack.cli.call import Call, emit, standard
from optrack.cli.streams import is_terminal, visible_but_colours

if TYPE_CHECKING:
    from optrack.app.answers.runs import RunEndedLine, RunStartedLine, TransitionLine
    from optrack.model.run import Run

_LOG_POLL_S = 0.2
_WATCH_POLL_S = 0.25
_UNFINISHED = re.compile(r"(?:\r|\x1b(?:\[[0-9;:]{0,32})?)?$")
"""The end of a part that may be the beginning of a line end or of a colour."""


@click.command("status")
@standard
def status(call: Call) -> None:
    """Show where every item of the plan stands: status, verdict, effect, and what blocks it."""
    from optrack.app.baseline_refresh import next_choice
    from optrack.app.queries import status as standing
    from optrack.render.text import status_table

    campaign = call.recovered()
    answer = standing(campaign)

    def as_text() -> list[str]:
        blocked = {item.id: item.blocked_by for item in answer.items}
        lines = [f"{campaign.plan.title}  ({campaign.plan.path})", *status_table(campaign.states, blocked)]
        choice = next_choice(campaign)
        if choice.item or not answer.items:
            lines += ["", f"next: {choice.item}" if choice.item else choice.summary]
        if answer.campaign is not None:
            lines += ["", answer.campaign.text]
        if answer.sensitivity is not None:
            lines += ["", answer.sensitivity.text]
        return lines

    emit(call, answer, as_text)


@click.command("show")
@click.argument("what", metavar="[ITEM|RUN]", required=False)
@click.option("--snapshot", is_flag=True, help="print what was captured of the run")
@click.option("--full", is_flag=True, help="print everything that was captured, packages and patches too")
@standard
def show(call: Call, what: str | None, snapshot: bool, full: bool) -> None:
    """Show an item with its runs and judgement, or one run with its measurements and snapshot.

    Without a name: the run that is going on, or else the latest.
    """
    from optrack.app.answers.runs import ShowRunAnswer
    from optrack.app.queries import show as shown
    from optrack.app.running import find_run

    campaign = call.recovered()
    answer = shown(campaign, what or find_run(call.project).id)
    if isinstance(answer, ShowRunAnswer):
        run = answer.run.value
        emit(call, answer, lambda: _run_lines(run, snapshot=snapshot, full=full))
        return
    if answer.formerly is not None:
        output.say(f"{answer.formerly} is called {answer.item.id} now")

    def as_text() -> Iterable[str]:
        from optrack.render.text import finding_lines, item_lines, registry_lines

        runs = [run.value for run in answer.runs]
        judgement = answer.judgement
        ran = next((run for run in runs if judgement and run.id == judgement.candidate), None)
        found = finding_lines(judgement, answer.against_original, answer.expected, ran)
        registry = registry_lines(answer.registry.value, answer.unit) if answer.registry else []
        metric = campaign.plan.metric.name
        beside = campaign.baselines_beside(runs)
        own = item_lines(answer.item.value, answer.item.resolved, runs, metric, found, baselines=beside)
        return [*own, *registry]

    emit(call, answer, as_text)


def _run_lines(run: Run, *, snapshot: bool, full: bool) -> list[str]:
    from optrack.model.snapshot import Snapshot
    from optrack.render.run_text import run_lines
    from optrack.render.snapshot_text import snapshot_lines

    captured = ["", *snapshot_lines(run.snapshot or Snapshot(), full=full)] if snapshot or full else []
    return [*run_lines(run), *captured]


@click.command("runs")
@click.argument("item", required=False)
@click.option("--limit", type=click.IntRange(min=1), default=50, help="how many at most, the latest")
@standard
def runs(call: Call, item: str | None, limit: int) -> None:
    """List the runs of the plan, or of one item, the latest last."""
    from optrack.app.queries import runs as latest
    from optrack.render.run_text import runs_table

    campaign = call.recovered()
    answer = latest(campaign, item, limit)
    if not answer.runs and not call.as_json:
        output.say("there are no runs yet; `optrack next` starts one")
        return
    found = [run.value for run in answer.runs]
    metric = campaign.plan.metric.name
    emit(call, answer, lambda: runs_table(found, metric, campaign.baselines_beside(found)))


@click.command("compare")
@click.argument("candidate", metavar="A")
@click.argument("baseline", metavar="B")
@standard
def compare(call: Call, candidate: str, baseline: str) -> None:
    """Compare A with B, each an item (its latest run that succeeded) or a run, B taking the baseline's place.

    Where B is the plan's baseline, its run that A's was judged against is taken, if there is one.
    """
    from optrack.app.queries import compare as compared
    from optrack.render.text import comparison_lines

    campaign = call.campaign
    answer = compared(campaign, candidate, baseline)
    metric = campaign.plan.metric.name
    emit(call, answer, lambda: comparison_lines(answer.ours, answer.theirs, answer, metric))


@click.command("diff")
@click.argument("candidate", metavar="A")
@click.argument("baseline", metavar="B")
@standard
def diff(call: Call, candidate: str, baseline: str) -> None:
    """List every field in which what was captured of A differs from what was captured of B."""
    from optrack.app.queries import diff as differing
    from optrack.model.snapshot import Snapshot
    from optrack.render.snapshot_text import diff_lines

    answer = differing(call.campaign, candidate, baseline)
    snapshots = (answer.theirs.snapshot or Snapshot(), answer.ours.snapshot or Snapshot())
    names = (answer.baseline, answer.candidate)
    emit(call, answer, lambda: diff_lines(*snapshots, names=names, declared=answer.factors))


@click.command("failures")
@click.argument("fingerprint", required=False)
@click.option("--all-plans", is_flag=True, help="of every plan in this project, not only the chosen one")
@standard
def failures(call: Call, fingerprint: str | None, all_plans: bool) -> None:
    """List the failures that runs met, the latest first: the same failure, met again, is one entry.

    With a FINGERPRINT (or its beginning), only that one.
    """
    from optrack.app.queries import failures as known
    from optrack.render.text import failures_table

    answer = known(call.campaign, fingerprint, all_plans=all_plans)
    if not answer.failures and not call.as_json:
        output.say("no run has failed")
        return
    emit(call, answer, lambda: failures_table(answer.failures))


@click.command("log")
@click.argument("run", required=False)
@click.option("-f", "--follow", is_flag=True, help="go on printing while the run goes on")
@click.option("--launch", type=int, default=None, help="which launch, from 1; by default the latest")
@click.option("--which", default="server", help="server, bench, setup, warmup or runner")
@standard
def log(call: Call, run: str | None, follow: bool, launch: int | None, which: str) -> int:
    """Print a log of a run as it was written: by default the server's, of the latest launch.

    RUN is a run's id or an item's; by default the run that is going on, or else the latest. Ctrl-C leaves.
    """
    from optrack.app.queries import log_answer, log_path
    from optrack.app.running import find_run

    reader = call.project.reader
    found = find_run(call.project, run).id
    path = log_path(call.settings, found, which, launch)
    if call.as_json:
        output.answer(log_answer(found, path))
        return 0
    from optrack.app.queries import follow_file

    write = _on_terminal() if is_terminal(sys.stdout) else output.streams.write_bytes
    try:
        for piece in follow_file(path, lambda: follow and reader.run(found).outcome is None, _LOG_POLL_S):
            write(piece)
    except KeyboardInterrupt:
        return 130
    write(b"")
    return 0


def _on_terminal() -> Callable[[bytes], None]:
    """Return what prints a log part by part, the last one empty, without what a terminal would obey but colours."""
    decode = getincrementaldecoder("utf-8")(errors="replace").decode
    held = ""

    def write(part: bytes) -> None:
        nonlocal held
        text = held + decode(part, final=not part)
        end = _UNFINISHED.search(text) if part else None
        held = text[end.start() :] if end else ""
        output.streams.write(visible_but_colours(text[: len(text) - len(held)]))

    return write


@click.command("watch")
@click.option(
    "--after", type=int, default=None, help="begin after this transition's number; 0 tells all so far"
)
@click.option("--count", type=click.IntRange(min=1), default=None, help="end after so many lines")
@click.option("--for", "seconds", type=float, default=None, help="end after so many seconds")
@standard
def watch(call: Call, after: int | None, count: int | None, seconds: float | None) -> int:
    """Print each change of an item's status and each begin and end of a run as it happens, a line each.

    With --json each line is a JSON document of its own. Ctrl-C ends it; nothing else is affected.
    """
    from optrack.app.watching import changes

    deadline = None if seconds is None else time.monotonic() + seconds
    printed = 0
    try:
        for change in changes(
            call.campaign, after, lambda: deadline is not None and time.monotonic() >= deadline
        ):
            if change is None:
                time.sleep(_WATCH_POLL_S)
                continue
            emit(call, change, lambda change=change: _watch_line(change), indent=None)  # type: ignore[misc]
            printed += 1
            if printed == count:
                break
    except KeyboardInterrupt:
        return 130
    return 0


def _watch_line(change: TransitionLine | RunStartedLine | RunEndedLine) -> str:
    from optrack.app.answers import timestamp

    at = timestamp(change.at)[:19] if change.at else ""
    if change.event == "transition":
        moved = f"{change.before or 'new'} -> {change.after}  ({change.who}: {change.why})"
        return output.one_line(f"{at}  {change.item}: {moved}")
    if change.event == "run_started":
        return output.one_line(f"{at}  {change.item}: run {change.run} started")
    failure = f": {change.failure}" if change.failure else ""
    return output.one_line(f"{at}  {change.item}: run {change.run} {change.outcome}{failure}")

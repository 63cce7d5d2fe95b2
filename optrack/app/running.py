"""Runs from outside their runner: started, followed to their end, stopped, and closed where the runner has died."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from optrack.app.baseline_refresh import next_choice
from optrack.app.project import Project, now
from optrack.app.spawn import await_runner, is_running, request_stop, spawn_runner, unrecorded
from optrack.errors import NothingToRunError, OptrackError, StoreError, UsageError
from optrack.host.proc import is_alive
from optrack.model.events import (
    Entry,
    Event,
    Noted,
    RepetitionMeasured,
    RunEnded,
    StageStarted,
    StopRequested,
)
from optrack.model.item import judgement_of
from optrack.model.run import Run
from optrack.model.wording import number
from optrack.store.spool import spooled_runs

if TYPE_CHECKING:
    from optrack.app.answers.runs import PolledAnswer, ProgressAnswer
    from optrack.app.campaign import Campaign

_POLL_S = 0.1
_SILENT_POLLS = 20
_LONGEST_WAIT_S = 55.0
_EXPLAINED = "`optrack next --explain` says more"


def _quiet(text: str) -> None:
    """Say nothing."""


def start_next(
    project: Project,
    *,
    by: str = "rank",
    wait: bool = False,
    without: Collection[str] = (),
    sequential: bool = False,
    resume: bool = False,
    say: Callable[[str], object] = _quiet,
) -> str:
    """Start the runner on the next item and return the run's id.

    An item that somebody else takes in the same moment is passed over. `resume` goes on with what an
    interrupted run of the item has measured; `say` hears what is waited for. Raises NothingToRunError with
    the reasons when nothing is left, HostUnfitError when the host can't be measured on.
    """
    tried = set(without)
    while True:
        campaign = project.campaign()
        choice = next_choice(campaign, by=by, without=tried)
        for reason in choice.skipped:
            if campaign.by_id[reason.item].status == "pending":
                project.store.transition(
                    campaign.plan.name, reason.item, "cancelled", who="optrack", why=reason.text, at=now()
                )
        if choice.item is None:
            raise NothingToRunError(choice.summary, hint=_EXPLAINED)
        again = campaign.by_id[choice.item].status == "completed"
        if not sequential:
            _require_code(campaign, choice.item)
        options = _options(wait=wait, again=again, sequential=sequential, resume=resume)
        run = spawn_runner(project.settings, Path(campaign.plan.path), choice.item, options, say=say)
        if run is not None:
            return run
        tried.add(choice.item)


def start(
    project: Project,
    item_id: str,
    *,
    wait: bool = False,
    resume: bool = False,
    say: Callable[[str], object] = _quiet,
) -> str:
    """Start the runner on this item, whatever its rank, and return the run's id; see `start_next`."""
    campaign = project.campaign()
    item = campaign.item(item_id).id
    _require_code(campaign, item)
    options = _options(wait=wait, again=True, sequential=False, resume=resume)
    run = spawn_runner(project.settings, Path(campaign.plan.path), item, options, say=say)
    if run is None:
        raise _in_use(item, project.reader.open_runs())
    return run


def start_all(project: Project, *, by: str, wait: bool, resume: bool) -> tuple[str, Path]:
    """Start running the whole plan, detached; return the first item and the file that it is narrated into.

    Raises UsageError where a campaign of the plan goes on.
    """
    from optrack.app.ongoing import campaign_state, require_none
    from optrack.app.spawn import spawn_campaign

    campaign = project.campaign()
    require_none(project.settings, campaign.plan.name)
    choice = next_choice(campaign, by=by)
    if choice.item is None:
        raise NothingToRunError(choice.summary, hint=_EXPLAINED)
    log, process = spawn_campaign(project.settings, campaign.plan.path, by=by, wait=wait, resume=resume)
    while process.poll() is None:  # until it says itself that it goes on
        state = campaign_state(project.settings, campaign.plan.name)
        if state is not None and state.process.pid == process.pid:
            break
        time.sleep(_POLL_S)
    return choice.item, log


def _options(**chosen: bool) -> list[str]:
    return [f"--{name}" for name, is_chosen in chosen.items() if is_chosen]


def _in_use(item: str, open_runs: Sequence[Run]) -> UsageError:
    """Return the error for an item that can't be started: a run has it, or somebody marked it so."""
    if any(run.item == item for run in open_runs):
        hint = "`optrack attach` follows the run that has it"
        return UsageError(f"item {item} is being run already", hint=hint)
    hint = f"`optrack mark {item} pending --why …` gives it back"
    return UsageError(f"item {item} was marked in progress, and no run has it", hint=hint)


def _require_code(campaign: Campaign, item_id: str) -> None:
    """Raise PlanError for an item whose recipe doesn't resolve or names code that isn't there."""
    from optrack.app.code_problems import require_code

    item = campaign.item(item_id)
    recipe = campaign.resolved(item).recipe
    if recipe.repo or recipe.patch:
        require_code(recipe, campaign.settings.project, f"{campaign.plan.path}:{item.line}")


def follow(project: Project, run_id: str, after: int = 0) -> Iterator[Entry | None]:
    """Yield the run's journal from `after` until it has ended; None whenever nothing new has come.

    A runner that has died is noticed here: its run is closed and the rest of the journal yielded.
    """
    reader = project.reader
    silent = 0
    run = reader.run(run_id)
    while True:
        try:
            reader.require_in_place()
            entries = reader.entries(run_id, after)
        except StoreError as error:
            yield from _until_it_ends(run)
            raise unrecorded(error, run, project.settings.runs) from error
        for entry in entries:
            after, silent = entry.seq, 0
            yield entry
            if isinstance(entry.event, RunEnded):
                await_runner(reader.run(run_id))
                return
        if not entries:
            silent += 1
            yield None
            if silent % _SILENT_POLLS == 0 and not is_running(reader.run(run_id)):
                recover(project)
            time.sleep(_POLL_S)


def _until_it_ends(run: Run) -> Iterator[None]:
    """Yield None until the run's runner has ended."""
    while run.runner is not None and is_alive(run.runner):
        yield None
        time.sleep(_POLL_S)


def poll(project: Project, run_id: str, wait_s: float) -> ProgressAnswer | PolledAnswer:
    """Return how far a run has come, waiting up to `wait_s` seconds for its end; its result once it has one."""
    from optrack.app.answers.runs import PolledAnswer, ProgressAnswer, RunView

    reader = project.reader
    run = find_run(project, run_id)
    deadline = time.monotonic() + min(max(wait_s, 0.0), _LONGEST_WAIT_S)
    while run.outcome is None and time.monotonic() < deadline:
        recover(project)
        time.sleep(2 * _POLL_S)
        run = reader.run(run.id)
    if run.outcome is None:
        metric = project.written.metric.name
        lines = [line for e in reader.entries(run.id)[-30:] if (line := _progress(e.event, metric))]
        return ProgressAnswer(run=run.id, item=run.item, progress=tuple(lines[-10:]))
    judgement = judgement_of(reader.judgements(run.plan, run.item), run.id)
    return PolledAnswer(
        run=run.id, item=run.item, outcome=run.outcome, result=RunView.of(run), judgement=judgement
    )


def _progress(event: Event, metric: str) -> str | None:
    match event:
        case StageStarted():
            return f"{event.side} launch {event.launch + 1}: {event.stage}"
        case RepetitionMeasured():
            values = [s.value for s in event.samples if s.metric.name == metric]
            shown = f": {metric} {number(values[0])}" if values else ""
            return f"{event.side} launch {event.launch + 1}, repetition {event.repetition + 1}{shown}"
        case Noted():
            return event.text
    return None


def find_run(project: Project, name: str | None = None, *, goes_on: bool = False) -> Run:
    """Return the run that a run's id or an item's means: of an item the one that goes on, or else its latest.

    Without a name: the latest that goes on, or else the latest of all. With `goes_on`, only those that go on are
    meant. Raises UsageError where there is none.
    """
    if name is None:
        return going(project) if goes_on else _latest(project)
    item = _item_called(project, name)
    if item is None:
        return project.reader.run(name)
    plan = project.written.name
    found = [run for run in project.reader.open_runs() if (run.plan, run.item) == (plan, item)]
    if not found and not goes_on:
        found = list(project.reader.runs(plan, item, 1))
    if not found:
        hint = "`optrack runs` lists the runs" if goes_on else f"`optrack run {item}` makes one"
        raise UsageError(f"no run of {item} goes on" if goes_on else f"item {item} has no run yet", hint=hint)
    return project.reader.run(found[-1].id)


def _item_called(project: Project, name: str) -> str | None:
    """Return the id of the plan's item with this name, if there is one and the plan can be read."""
    with suppress(OptrackError):
        state = project.recorded().find_state(name)
        return state.item.id if state is not None else None
    return None


def going(project: Project) -> Run:
    """Return the latest run that is going on; raises UsageError where there is none."""
    found = [run for run in project.reader.open_runs() if not run.beside]
    if not found:
        raise UsageError("no run is going on", hint="`optrack next` starts one")
    return found[-1]


def _latest(project: Project) -> Run:
    """Return the latest run that is going on, or else the latest of the plan that isn't a baseline beside another."""
    with suppress(UsageError):
        return going(project)
    found = [run for run in project.reader.runs(project.written.name) if not run.beside]
    if not found:
        raise UsageError("there are no runs yet", hint="`optrack next` starts one")
    return project.reader.run(found[0].id)


def stop(project: Project, name: str | None = None, *, force: bool = False) -> Run:
    """Ask the runner of a run to stop and return the run; raises UsageError if it isn't going on.

    `name` is as `find_run` takes it; without one, the run that is going on.
    """
    run = find_run(project, name, goes_on=True)
    if run.outcome is not None:
        raise UsageError(f"run {run.id} has ended already: {run.outcome}")
    owner = project.reader.run(run.beside) if run.beside else run
    if not request_stop(owner, force=force):
        recover(project)
    elif project.reader.run(owner.id).outcome is None:
        with suppress(StoreError):
            project.store.record(owner.id, StopRequested(actor=project.settings.actor, force=force))
    return run


def recover(project: Project) -> tuple[str, ...]:
    """Close the runs whose runner has died, end what it left behind, and say so, one line each."""
    settings = project.settings
    open_runs = project.reader.open_runs()
    alive = {run.id for run in open_runs if is_running(run)}
    unclaimed = [run for run in spooled_runs(settings.runs) if run not in alive]
    if not unclaimed and all(run.host != settings.host or run.id in alive for run in open_runs):
        return ()
    from optrack.app.recovery import recover as close_dead_runs

    return close_dead_runs(project.store, settings.runs, settings.host)

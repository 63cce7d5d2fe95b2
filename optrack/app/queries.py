"""What is asked of a campaign, each question answered once: for the command line, the screens, agents and the log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from optrack.errors import UsageError
from optrack.model.text import nearest

if TYPE_CHECKING:
    from pathlib import Path

    from optrack.app.answers.items import ChoiceAnswer, ShowItemAnswer, StatusAnswer
    from optrack.app.answers.plans import TodoAnswer
    from optrack.app.answers.runs import (
        CompareAnswer,
        DiffAnswer,
        FailuresAnswer,
        LogAnswer,
        RunsAnswer,
        ShowRunAnswer,
    )
    from optrack.app.campaign import Campaign
    from optrack.model.item import ItemState
    from optrack.model.judgement import Judgement
    from optrack.model.run import Run
    from optrack.settings import Settings


def status(campaign: Campaign) -> StatusAnswer:
    """Return where every item stands."""
    from optrack.app.answers.items import ItemStanding, StatusAnswer
    from optrack.app.ongoing import campaign_state
    from optrack.app.sensitivity import campaign_sensitivity

    items = (ItemStanding.of(state, campaign.blocked_by(state.item)) for state in campaign.states)
    return StatusAnswer(
        plan=campaign.plan.name,
        title=campaign.plan.title,
        items=tuple(items),
        sensitivity=campaign_sensitivity(campaign),
        campaign=campaign_state(campaign.settings, campaign.plan.name),
    )


def explain(campaign: Campaign, *, by: str = "rank") -> ChoiceAnswer:
    """Return the item that would run next, why every other one wouldn't, and what failed with a recipe like its."""
    from optrack.app.answers.items import ChoiceAnswer
    from optrack.app.baseline_refresh import next_choice

    choice = next_choice(campaign, by=by)
    return ChoiceAnswer(
        next=choice.item,
        summary=choice.summary,
        reasons=choice.reasons,
        warnings=_failed_before(campaign, choice.item),
        value=choice,
    )


def _failed_before(campaign: Campaign, item_id: str | None) -> tuple[str, ...]:
    from optrack.plan.added import resembling

    item = campaign.plan.item(item_id) if item_id else None
    base = campaign.plan.item(campaign.plan.baseline)
    recipe = campaign.resolved_or_none(item) if item else None
    baseline = campaign.resolved_or_none(base) if base else None
    if recipe is None or baseline is None:
        return ()
    runs = campaign.reader.runs(campaign.plan.name)
    return tuple(found.text for found in resembling(recipe.data, baseline.data, runs))


# -- an item, a run ------------------------------------------------------------------------------------------


def item_or_run(campaign: Campaign, name: str) -> ItemState | Run:
    """Return where the item called `name` (now or formerly) stands, or else the whole run; raises UsageError."""
    state = campaign.find_state(name)
    if state is None and (called := campaign.reader.called_now(campaign.plan.name, name)) is not None:
        state = campaign.find_state(called)
    if state is not None:
        return state
    try:
        return campaign.reader.run(name)
    except UsageError as error:
        near = nearest(name, list(campaign.by_id), cutoff=0.6)
        hint = f"did you mean {near!r}?" if near else error.hint
        raise UsageError(
            f"{name!r} is neither an item of the plan {campaign.plan.name!r} nor a run",
            hint=hint or "`optrack status` lists the items, `optrack runs` the runs",
        ) from error


def show(campaign: Campaign, name: str) -> ShowItemAnswer | ShowRunAnswer:
    """Return an item with its runs and judgement, or one run in full."""
    from optrack.model.run import Run

    found = item_or_run(campaign, name)
    if isinstance(found, Run):
        from optrack.app.answers.runs import RunView, ShowRunAnswer

        return ShowRunAnswer(run=RunView.of(found), judgement=campaign.judgement_of(found))
    answer = show_item(campaign, found)
    is_renamed = campaign.find_state(name) is None
    return answer.model_copy(update={"formerly": name}) if is_renamed else answer


def show_item(campaign: Campaign, state: ItemState) -> ShowItemAnswer:
    """Return an item with its runs, its judgement, expected against measured, and of the baseline the registry."""
    from optrack.app.answers.items import ItemView, RegistryView, ShowItemAnswer
    from optrack.app.answers.runs import RunView
    from optrack.app.report_data import registry
    from optrack.judge.calibration import expectation_of
    from optrack.model.run import primary_metric

    plan, judgement = campaign.plan, state.judgement
    runs = campaign.runs_of(state.item.id)
    resolved = campaign.resolved_or_none(state.item)
    baseline = campaign.reader.run(judgement.baseline) if judgement and judgement.baseline else None
    metric = primary_metric(plan, runs)
    expected = expectation_of(state, baseline, metric)
    return ShowItemAnswer(
        item=ItemView.of(state, resolved.data if resolved else None, resolved=resolved),
        runs=tuple(map(RunView.of, runs)),
        judgement=judgement,
        against_original=campaign.against_original(judgement, state.item.id),
        expected=expected,
        registry=RegistryView.of(registry(campaign)) if state.item.id == plan.baseline else None,
        unit=metric.unit,
    )


def runs(campaign: Campaign, item: str | None, limit: int) -> RunsAnswer:
    """Return the latest runs of an item or the plan, oldest first."""
    from optrack.app.answers.runs import RunsAnswer, RunView

    name = campaign.state(item).item.id if item else None
    return RunsAnswer(runs=tuple(map(RunView.of, campaign.runs_of(name, limit))))


# -- comparisons ---------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    """The whole runs of a comparison; `judgement` is the recorded one of this very pair, if there is one."""

    candidate: Run
    baseline: Run
    judgement: Judgement | None


def pair_of(campaign: Campaign, candidate: str, baseline: str) -> Pair:
    """Return the runs that two words mean, each an item (its latest run that succeeded) or a run's id.

    Where `baseline` means the plan's baseline, its run that the candidate's was judged against is taken.
    Raises UsageError if both mean the same run.
    """
    ours = campaign.find_run(candidate)
    recorded = campaign.judgement_of(ours)
    theirs = _judged_against(campaign, ours, recorded, baseline) or campaign.find_run(baseline)
    if theirs.id == ours.id:
        raise UsageError(
            f"{candidate} and {baseline} mean the same run, {ours.id}",
            hint=f"`optrack runs` lists the runs; name another one of {ours.item}, or another item",
        )
    same = recorded is not None and recorded.baseline == theirs.id
    return Pair(ours, theirs, recorded if same else None)


def _judged_against(campaign: Campaign, ours: Run, recorded: Judgement | None, baseline: str) -> Run | None:
    item = campaign.plan.item(baseline)
    if item is None or item.id != campaign.plan.baseline:
        return None
    run = recorded.baseline if recorded and recorded.baseline else campaign.reader.beside(ours.id)
    return campaign.reader.run(run) if run else None


def compare(campaign: Campaign, candidate: str, baseline: str) -> CompareAnswer:
    """Return the judgement of one item or run against another; one drawn now isn't recorded."""
    from optrack.app.answers.runs import CompareAnswer
    from optrack.app.evaluator import Evaluator

    ours, theirs, recorded = pair_of(campaign, candidate, baseline)
    judgement = recorded or Evaluator(campaign.reader, campaign.plan).judge(ours, theirs)
    return CompareAnswer(**dict(judgement), ours=ours, theirs=theirs)


def diff(campaign: Campaign, candidate: str, baseline: str) -> DiffAnswer:
    """Return every field in which what was captured of one run differs from what was captured of the other."""
    from optrack.app.answers.runs import DiffAnswer
    from optrack.judge.difference import comparison, differences
    from optrack.model.snapshot import Snapshot
    from optrack.model.treatment import treatment

    ours, theirs = campaign.find_run(candidate), campaign.find_run(baseline)
    factors = treatment(ours.recipe, theirs.recipe)
    found = differences(ours.snapshot or Snapshot(), theirs.snapshot or Snapshot(), declared=factors)
    return DiffAnswer(
        baseline=theirs.id,
        candidate=ours.id,
        comparison=comparison(found),
        differences=found,
        ours=ours,
        theirs=theirs,
        factors=factors,
    )


# -- the whole campaign --------------------------------------------------------------------------------------


def failures(
    campaign: Campaign, fingerprint: str | None = None, *, all_plans: bool = False
) -> FailuresAnswer:
    """Return the failures that runs met, the latest first; with a fingerprint, or its beginning, only that one."""
    from optrack.app.answers.runs import FailuresAnswer

    found = campaign.reader.failures(None if all_plans else campaign.plan.name)
    if fingerprint is not None:
        found = tuple(failure for failure in found if failure.fingerprint.startswith(fingerprint))
        if not found:
            raise UsageError(
                f"no failure has the fingerprint {fingerprint!r}", hint="`optrack failures` lists them"
            )
    return FailuresAnswer(failures=found)


def todo(campaign: Campaign) -> TodoAnswer:
    """Return the plan as a todo list."""
    from optrack.app.answers.plans import TodoAnswer, TodoEntry
    from optrack.plan.todo import todos

    entries = todos(campaign.plan, campaign.states)
    return TodoAnswer(todos=tuple(TodoEntry.model_validate(entry) for entry in entries))


def log_answer(run: str, path: Path) -> LogAnswer:
    """Return a log of a run with its whole text."""
    from optrack.app.answers.runs import LogAnswer

    return LogAnswer(run=run, log=str(path), text=path.read_bytes().decode(errors="replace"))


def follow_file(path: Path, goes_on: Callable[[], bool], poll_s: float) -> Iterator[bytes]:
    """Yield what a log holds piece by piece, and what comes to it while `goes_on`."""
    from optrack.host.logs import Follower

    log = Follower(path)
    is_last = False
    while not is_last:
        is_last = not goes_on()
        while piece := log.read():
            yield piece
        if not is_last:
            time.sleep(poll_s)


def log_path(settings: Settings, run: str, which: str, launch: int | None = None) -> Path:
    """Return the file of a run's log: `runner`, or of a launch (from 1; None: the latest) `server`, `bench` and so on.

    Raises UsageError with the logs that the run has.
    """
    folder = settings.runs / run
    if which == "runner":
        there = [folder / "runner.log"]
    else:
        name = f"launch-{launch - 1}" if launch is not None else "launch-*"
        there = sorted(
            folder.glob(f"{name}/{which}.log"), key=lambda path: int(path.parent.name.split("-")[1])
        )
    there = [path for path in there if path.is_file()]
    if not there:
        logs = sorted(str(path.relative_to(folder)) for path in folder.glob("**/*.log"))
        raise UsageError(f"this run has no such {which} log", hint=f"it has: {', '.join(logs) or 'no logs'}")
    return there[-1]

"""What the screens ask of a campaign at one version: an item, a run as it goes, the history, the failures."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from optrack.app.evaluator import Evaluator
from optrack.app.host_load import Gauge, recorded_gauges
from optrack.app.project import now
from optrack.app.watching import View
from optrack.errors import OptrackError, PlanError
from optrack.judge.calibration import Expectation as Expectation
from optrack.judge.calibration import expectation_of
from optrack.model.events import Entry
from optrack.model.item import KnownFailure, Transition
from optrack.model.judgement import Judgement
from optrack.model.metrics import Sample, Series, series_of
from optrack.model.plan import Plan
from optrack.model.run import Outcome, Run, Stage, primary_metric
from optrack.model.value import Frozen

LogKind = Literal["server", "bench"]
LOG_KINDS: tuple[LogKind, ...] = ("server", "bench")

LATEST = 500
"""A campaign's history has so many runs at most: more than a terminal has columns for."""
_RECENT = 20


@dataclass(frozen=True)
class ItemRecipe:
    """An item's recipe after all layers, and its factors: leaf -> (baseline's value, its own).

    `problem` says why there is none, with file and line.
    """

    data: Mapping[str, Any]
    factors: Mapping[str, tuple[Any, Any]]
    problem: str | None = None


@dataclass(frozen=True)
class RunView:
    """What was read of a run at one time: `entries` are the new ones of its journal, `log` the file to show."""

    run: Run
    entries: Sequence[Entry]
    so_far: Judgement | None
    gauges: Sequence[Gauge]
    expected: Mapping[Stage, float]
    which: LogKind
    log: Path | None
    now: datetime


class Step(Frozen):
    """A run of the campaign's history: level and range of the primary metric, None if it measured nothing."""

    run: Run
    outcome: Outcome
    value: float | None = None
    low: float | None = None
    high: float | None = None
    is_baseline: bool = False
    adopted: bool = False


def recipe_of(view: View, item: str) -> ItemRecipe:
    """Return the item's recipe and its factors, or why there is none."""
    try:
        resolved = view.campaign.resolved(view.campaign.item(item))
    except PlanError as error:
        return ItemRecipe({}, {}, f"{error.where}: {error.message}" if error.where else error.message)
    except OptrackError as error:
        return ItemRecipe({}, {}, error.message if view.plan.item(item) else "It is no longer in the plan.")
    gate = view.campaign.gate
    factors = {
        name: (gate.data(before, name.rpartition(".")[2]), gate.data(after, name.rpartition(".")[2]))
        for name, (before, after) in resolved.factors.items()
    }
    return ItemRecipe(gate.data(resolved.data), factors)


def runs_of(view: View, item: str) -> Sequence[Run]:
    """Return the item's latest runs, newest first, the recent ones with their samples."""
    reader = view.campaign.reader
    runs = reader.runs(view.plan.name, item, LATEST)
    recent = reader.runs_by_id((run.id for run in runs[:_RECENT]), with_=["samples"])
    return [recent.get(run.id, run) for run in runs]


def baseline_series(view: View) -> Series | None:
    """Return what the baseline's latest good run measured, rather one made alone than one beside another item's."""
    plan, reader = view.plan, view.campaign.reader
    good = [run for run in reader.runs(plan.name, plan.baseline, LATEST) if run.outcome == "succeeded"]
    latest = next((run for run in good if run.beside is None), good[0] if good else None)
    if latest is None:
        return None
    return series_of(reader.samples([latest.id], plan.metric.name)[latest.id], plan.metric.name)


def transitions_of(view: View, item: str) -> Sequence[Transition]:
    """Return every change of the item's status, oldest first."""
    return view.campaign.reader.transitions(view.plan.name, item)


def run_view(view: View, run_id: str, after: int, which: LogKind | None) -> RunView | None:
    """Return what there is of a run beyond journal number `after`; None if there is no such run."""
    reader = view.campaign.reader
    try:
        run = reader.run(run_id)
    except OptrackError:
        return None
    kind, log = log_of(view, run.id, which)
    return RunView(
        run=run,
        entries=reader.entries(run.id, after),
        so_far=_so_far(view, run),
        gauges=gauges_of(view, run),
        expected=_expected_stages(view, run),
        which=kind,
        log=log,
        now=now(),
    )


def log_of(view: View, run: str, which: LogKind | None) -> tuple[LogKind, Path | None]:
    """Return the latest log that was asked for, or else of the first kind that is written, of the run or of the
    baseline's run measured with it."""
    beside = view.campaign.reader.beside(run)
    folders = [view.campaign.settings.runs / name for name in (run, beside) if name]
    for kind in (which,) if which else LOG_KINDS:
        logs = [path for folder in folders for path in folder.glob(f"launch-*/{kind}.log")]
        if logs:
            return kind, max(logs, key=_changed)
    return which or LOG_KINDS[0], None


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def gauges_of(view: View, run: Run) -> Sequence[Gauge]:
    """Return the host's load since somebody looks at the run; of an ended one what was recorded."""
    if run.outcome is not None:
        return view.load.seen(run.id) or recorded_gauges(run.snapshot)
    return view.load.gauges(run.id) if run.host == view.campaign.settings.host else ()


def _so_far(view: View, run: Run) -> Judgement | None:
    """Return what the samples up to now show against the baseline; what stands once the run has ended."""
    if not run.samples or run.item == view.plan.baseline:
        return None
    if run.outcome is not None:
        return view.campaign.judgement_of(run)
    evaluator = Evaluator(view.campaign.reader, view.campaign.plan)
    baseline = evaluator.baseline_for(run)
    if baseline is None or not baseline.samples:
        return None
    key = (run.id, len(run.samples), len(baseline.samples))
    if key not in view.judged:
        ended = {"outcome": "succeeded"}
        view.judged.clear()
        view.judged[key] = evaluator.judge(run.model_copy(update=ended), baseline.model_copy(update=ended))
    return view.judged.get(key)


def _expected_stages(view: View, run: Run) -> Mapping[Stage, float]:
    """Return the mean seconds per launch of each stage in the plan's earlier runs, the item's own if any."""
    reader = view.campaign.reader
    own, others = (
        [r for r in reader.runs(run.plan, item, _RECENT) if r.outcome == "succeeded"]
        for item in (run.item, None)
    )
    alike = [r.id for r in (own or others)[:3] if r.id != run.id]
    per_launch: dict[Stage, list[float]] = {}
    for one in reader.runs_by_id(alike, with_=("samples", "stages")).values():
        launches = 1 + max((sample.launch for sample in one.samples), default=0)
        for stage, seconds in one.stages.items():
            per_launch.setdefault(stage, []).append(seconds / launches)  # type: ignore[arg-type]
    return {stage: statistics.fmean(values) for stage, values in per_launch.items()}


def history(view: View) -> Sequence[Step]:
    """Return the latest ended runs in the order of time."""
    reader, plan = view.campaign.reader, view.plan
    adopted = {adoption.item for adoption in reader.adoptions(plan.name)}
    ended = [run for run in reversed(reader.runs(plan.name, limit=LATEST)) if run.outcome is not None]
    samples = reader.samples((run.id for run in ended), plan.metric.name)
    return [_step(run, samples[run.id], plan, adopted) for run in ended]


def _step(run: Run, samples: tuple[Sample, ...], plan: Plan, adopted: Collection[str]) -> Step:
    series = series_of(samples, plan.metric.name) if run.outcome == "succeeded" else None
    values = series.values if series else ()
    return Step(
        run=run,
        outcome=run.outcome or "interrupted",
        value=series.level if series else None,
        low=min(values, default=None),
        high=max(values, default=None),
        is_baseline=bool(run.beside) or run.item == plan.baseline,
        adopted=run.item in adopted and run.beside is None,
    )


def failures(view: View) -> Sequence[tuple[KnownFailure, Run]]:
    """Return the failures by fingerprint, the latest first, each with its latest run."""
    known = view.campaign.reader.failures(view.plan.name)
    runs = view.campaign.reader.runs_by_id((failure.runs[-1] for failure in known), with_=())
    return [(failure, runs[failure.runs[-1]]) for failure in known]


def calibration(view: View) -> Sequence[Expectation]:
    """Return expected beside measured gain, for the items that have both."""
    judged = [
        (state, state.judgement.baseline) for state in view.items if state.judgement and state.item.gain
    ]
    runs = view.campaign.reader.runs_by_id((name for _, name in judged if name), with_=["samples"])
    pairs = ((state, runs.get(name or "")) for state, name in judged)
    every = (
        expectation_of(state, run, primary_metric(view.plan, [run]))
        for state, run in pairs
        if run is not None
    )
    return [one for one in every if one is not None]

"""From recorded runs to a judgement: which baseline run a candidate is judged against, and by which rules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from optrack.core.applied import not_applied
from optrack.core.difference import comparison, differences
from optrack.core.judge import Rules, judge, launch_order, side_of
from optrack.core.judgement import Difference, Judgement
from optrack.core.metrics import Metric, metric_named
from optrack.core.plan import Plan
from optrack.core.recipe import treatment
from optrack.core.run import Run
from optrack.core.snapshot import Snapshot
from optrack.steps.record.reader import Reader


def primary_metric(plan: Plan, runs: Iterable[Run]) -> Metric:
    """Return the plan's primary metric: as the plan says, else as the samples do, else as its name implies."""
    wanted = plan.metric
    seen = next((s.metric for run in runs for s in run.samples if s.metric.name == wanted.name), None)
    implied = seen or metric_named(wanted.name)
    return Metric(name=wanted.name, unit=wanted.unit or implied.unit, better=wanted.better or implied.better)


def judge_recorded(reader: Reader, plan: Plan, candidate: Run) -> Judgement:
    """Return the judgement of a run against the baseline's run that was measured beside it, else the latest."""
    baseline = baseline_for(reader, plan, candidate)
    accepted = [acceptance.field for acceptance in reader.acceptances(plan.name, candidate.item)]
    return judge_runs(plan, candidate, baseline, accepted=accepted)


def baseline_for(reader: Reader, plan: Plan, candidate: Run) -> Run | None:
    """Return the whole run to judge against: the one interleaved with the candidate, else the latest before it
    that succeeded, else None."""
    runs = [run for run in reader.runs(plan.name, plan.baseline) if run.id != candidate.id]
    beside = [run for run in runs if run.beside == candidate.id]
    earlier = [run for run in runs if run.outcome == "succeeded" and run.id < candidate.id]
    found = beside or sorted(earlier, key=lambda run: run.id)[-1:]
    return reader.run(found[0].id) if found else None


def judge_runs(
    plan: Plan, candidate: Run, baseline: Run | None, *, accepted: Collection[str] = ()
) -> Judgement:
    """Return the judgement of one whole run against another."""
    factors = treatment(candidate.recipe, baseline.recipe) if baseline else {}
    found = _differences(candidate, baseline, factors, accepted) if baseline else ()
    interleaved = baseline is not None and baseline.beside == candidate.id
    turns = launch_order(max(_launches(candidate), _launches(baseline))) if interleaved else ()
    return judge(
        side_of(candidate, _positions(turns, "candidate")),
        side_of(baseline, _positions(turns, "baseline")) if baseline else None,
        Rules(
            metric=primary_metric(plan, [candidate, *([baseline] if baseline else [])]),
            min_effect=plan.min_effect,
            interleaved=interleaved,
        ),
        differences=found,
        comparison=comparison(found),
        factors=factors,
        not_applied=_not_applied(candidate),
    )


def _differences(
    candidate: Run, baseline: Run, factors: Mapping[str, tuple[Any, Any]], accepted: Collection[str]
) -> tuple[Difference, ...]:
    ours, theirs = candidate.snapshot or Snapshot(), baseline.snapshot or Snapshot()
    return differences(ours, theirs, declared=factors, accepted=accepted)


def _not_applied(run: Run) -> tuple[str, ...]:
    if run.snapshot is None:
        return ()
    return not_applied(run.snapshot, run.recipe.get("env", {}), run.recipe.get("expect", {}))


def _launches(run: Run | None) -> int:
    return 1 + max((sample.launch for sample in run.samples), default=-1) if run else 0


def _positions(turns: Sequence[str], side: str) -> tuple[int, ...]:
    return tuple(position for position, turn in enumerate(turns) if turn == side)

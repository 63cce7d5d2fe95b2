"""What the record of a campaign tells of its past: the course of the metric, failures, times of stages."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from optrack.model.metrics import series_of
from optrack.model.plan import Plan
from optrack.model.run import Run, Stage
from optrack.store.read import Reader
from optrack.tui.board import FailureGroup, Step

LATEST = 500
"""A campaign's course is told of so many runs at most: more than a terminal has columns for."""

_ALIKE = 20


class Course:
    """The runs that have ended, each read from the record once."""

    def __init__(self) -> None:
        self._steps: dict[tuple[str, str], Step] = {}

    def steps(self, reader: Reader, plan: Plan) -> Sequence[Step]:
        """Return the latest ended runs in the order of time."""
        adopted = {adoption.item for adoption in reader.adoptions(plan.name)}
        ended = [run for run in reversed(reader.runs(plan.name, limit=LATEST)) if run.outcome is not None]
        metric = plan.metric.name
        samples = reader.samples((run.id for run in ended if (run.id, metric) not in self._steps), metric)
        found = []
        for run in ended:
            key = (run.id, metric)
            if key not in self._steps:
                self._steps[key] = _step(run.model_copy(update={"samples": samples[run.id]}), plan)
            here = run.item in adopted and run.beside is None
            found.append(self._steps[key].model_copy(update={"adopted": here}))
        return found


def _step(run: Run, plan: Plan) -> Step:
    series = series_of(run.samples, plan.metric.name) if run.outcome == "succeeded" else None
    values = series.values if series else ()
    return Step(
        run=run.id,
        item=run.item,
        at=run.ended_at or run.started_at,
        outcome=run.outcome or "interrupted",
        value=statistics.median(values) if values else None,
        low=min(values, default=None),
        high=max(values, default=None),
        role="baseline" if run.beside or run.item == plan.baseline else "candidate",
    )


def failure_groups(reader: Reader, plan: Plan) -> Sequence[FailureGroup]:
    """Return the failures by fingerprint, latest first."""
    failures = reader.failures(plan.name)
    runs = reader.runs_by_id((failure.runs[-1] for failure in failures), with_=())
    found = []
    for failure in failures:
        run = runs[failure.runs[-1]]
        found.append(
            FailureGroup(
                fingerprint=failure.fingerprint,
                kind=failure.kind,
                message=failure.message,
                stage=run.stage,
                runs=failure.runs,
                items=failure.items,
                last_at=failure.last_at,
                log_tail=run.failure.log_tail if run.failure else "",
            )
        )
    return found


def expected_stages(reader: Reader, run: Run) -> Mapping[Stage, float]:
    """Return the mean seconds per launch of each stage in the plan's earlier runs, the item's own if any."""
    alike = [r for r in reader.runs(run.plan, run.item, _ALIKE) if r.outcome == "succeeded"]
    alike = alike or [r for r in reader.runs(run.plan, None, _ALIKE) if r.outcome == "succeeded"]
    per_launch: dict[Stage, list[float]] = {}
    wanted = [r.id for r in alike[:3] if r.id != run.id]
    for one in reader.runs_by_id(wanted, with_=("samples", "stages")).values():
        launches = 1 + max((sample.launch for sample in one.samples), default=0)
        for stage, seconds in one.stages.items():
            per_launch.setdefault(stage, []).append(seconds / launches)  # type: ignore[arg-type]
    return {stage: statistics.fmean(values) for stage, values in per_launch.items()}

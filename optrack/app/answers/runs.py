"""The answers about runs: what they measured, how they ended, what they show against a baseline."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from math import isfinite, isnan
from typing import Any, Literal, Self

from pydantic import Field

from optrack.app.answers import Answer, ErrorBody, View
from optrack.model.item import KnownFailure, Transition
from optrack.model.judgement import Comparison, Difference, Judgement
from optrack.model.metrics import Better, Reading, Sample
from optrack.model.run import Failure, Outcome, Run, Stage
from optrack.model.snapshot import Snapshot


class InvalidPass(View):
    """A pass that is no measurement; launch and repetition count from 0."""

    launch: int
    repetition: int
    why: str


class MetricSeries(View):
    """One metric of a run: values per repetition per launch, and the median of the valid ones."""

    unit: str
    better: Better | None
    values: tuple[tuple[float | None, ...], ...]
    median: float | None
    invalid: tuple[InvalidPass, ...] = Field(default=(), exclude_if=lambda invalid: not invalid)


class RunView(View):
    """One execution of an item's recipe; `outcome` is null while it goes on. `value` is the run itself."""

    id: str
    item: str
    role: Literal["candidate", "baseline"]
    beside: str | None
    outcome: Outcome | None
    stage: Stage
    failure: Failure | None
    started_at: datetime
    ended_at: datetime | None
    host: str
    actor: str
    stages: Mapping[str, float]
    metrics: Mapping[str, MetricSeries]
    recipe: Mapping[str, Any]
    snapshot: Snapshot | None
    artifacts: tuple[str, ...]
    notes: tuple[str, ...]
    value: Run = Field(exclude=True)

    @classmethod
    def of(cls, value: Run) -> Self:
        """Return the view of a whole run."""
        own = {name: getattr(value, name) for name in cls.model_fields if name in Run.model_fields}
        stages = {name: round(seconds, 3) for name, seconds in value.stages.items()}
        return cls(**(own | {"stages": stages}), metrics=metric_series(value.samples), value=value)


def metric_series(samples: Iterable[Sample]) -> dict[str, MetricSeries]:
    """Return samples by metric: values per repetition per launch, and the median of the valid ones.

    A value that is no number is null; passes that are no measurement are listed under `invalid`.
    """
    by_name: dict[str, list[Sample]] = {}
    for sample in samples:
        by_name.setdefault(sample.metric.name, []).append(sample)
    return {name: _series(group) for name, group in by_name.items()}


def _series(samples: Sequence[Sample]) -> MetricSeries:
    ordered = sorted(samples, key=lambda s: (s.launch, s.repetition))
    valid = [s.value for s in ordered if s.invalid is None and not isnan(s.value)]
    return MetricSeries(
        unit=samples[0].metric.unit,
        better=samples[0].metric.better,
        values=tuple(
            tuple(s.value if isfinite(s.value) else None for s in ordered if s.launch == launch)
            for launch in sorted({s.launch for s in samples})
        ),
        median=statistics.median(valid) if valid else None,
        invalid=tuple(
            InvalidPass(launch=s.launch, repetition=s.repetition, why=s.invalid or "not a number")
            for s in ordered
            if s.invalid is not None or isnan(s.value)
        ),
    )


class ShowRunAnswer(Answer):
    """`show RUN`: a run in full. `judgement` is the recorded one of this very run."""

    run: RunView
    judgement: Judgement | None = Field(default=None, exclude=True)


class DetachedRun(View):
    """A run that was started and isn't followed."""

    id: str
    outcome: None = None


class Result(View):
    """One run and its judgement."""

    run: RunView
    judgement: Judgement | None


class Detached(View):
    """A run that was only started."""

    run: DetachedRun


class ResultAnswer(Result, Answer):
    """`next`, `run`, `attach`, `stop`: one run and its judgement."""


class _Event(Answer):
    """The head of a notification."""

    event: Literal["run_ended"] = "run_ended"


class RunEndedAnswer(Result, _Event):
    """What `notify` is told: the run that has ended, without its longest parts, and its judgement."""


class DetachedAnswer(Detached, Answer):
    """`next --detach`, `run --detach`: the run that was started."""


class ResultsAnswer(Answer):
    """`next --all`, `run ITEM ITEM`, `demo`, `import`: several runs, and what ended the command before its end."""

    results: tuple[Result | Detached, ...]
    error: ErrorBody | None = Field(default=None, exclude_if=lambda error: error is None)


class RunsAnswer(Answer):
    """`runs`: the runs of the plan or an item, oldest first."""

    runs: tuple[RunView, ...]


class LogAnswer(Answer):
    """`log RUN`: a log of a run."""

    run: str
    log: str
    text: str


class CompareAnswer(Judgement, Answer):
    """`compare A B`: the judgement of A against B; `ours` and `theirs` are the two runs."""

    ours: Run = Field(exclude=True)
    theirs: Run = Field(exclude=True)


class DiffAnswer(Answer):
    """`diff A B`: the differences between two snapshots; `factors` are those that the recipes declare."""

    baseline: str
    candidate: str
    comparison: Comparison
    differences: tuple[Difference, ...]
    ours: Run = Field(exclude=True)
    theirs: Run = Field(exclude=True)
    factors: Mapping[str, tuple[Any, Any]] = Field(exclude=True)


class FailuresAnswer(Answer):
    """`failures`: failures by fingerprint, the latest first."""

    failures: tuple[KnownFailure, ...]


class _LineHead(Answer):
    """The head of a line about a transition."""

    event: Literal["transition"] = "transition"


class TransitionLine(Transition, _LineHead):
    """`watch`: an item's status has changed."""


class RunStartedLine(Answer):
    """`watch`: a run has begun."""

    event: Literal["run_started"] = "run_started"
    at: datetime
    run: str
    item: str
    role: Literal["candidate", "baseline"]
    who: str


class RunEndedLine(Answer):
    """`watch`: a run has ended, with the message of its failure."""

    event: Literal["run_ended"] = "run_ended"
    at: datetime | None
    run: str
    item: str
    role: Literal["candidate", "baseline"]
    who: str
    outcome: Outcome
    stage: Stage
    failure: str | None


class ParsedMetric(View):
    """One metric read from a benchmark's output."""

    value: float | None
    unit: str
    better: Better | None


class ParseAnswer(Answer):
    """`parse`: what would be recorded of a benchmark's output."""

    tool: str
    invalid: str | None
    metrics: Mapping[str, ParsedMetric]
    notes: tuple[str, ...]
    settings: Mapping[str, int | float | str] = {}
    earlier: int
    readings: tuple[Reading, ...] = Field(exclude=True)


class ReplayAnswer(Answer):
    """`replay RUN`: the script, or the file that it was written to."""

    run: str
    script: str = Field(default="", exclude_if=lambda text: not text)
    output: str = Field(default="", exclude_if=lambda text: not text)


class StartedAnswer(Answer):
    """The agent's `run`: the run that was started."""

    run: str
    item: str
    outcome: None = None


class ProgressAnswer(StartedAnswer):
    """The agent's `poll` of a run that goes on: what has happened lately."""

    progress: tuple[str, ...]


class PolledAnswer(Answer):
    """The agent's `poll` of a run that has ended: its result, without all that was captured."""

    run: str
    item: str
    outcome: Outcome
    result: RunView
    judgement: Judgement | None


class StoppingAnswer(Answer):
    """The agent's `stop`: the run that was asked to stop."""

    run: str
    stopping: Literal[True] = True

"""The answers of the commands that run and show."""

from __future__ import annotations

from typing import Literal

from optrack.contract.answer import Answer
from optrack.contract.parts import (
    DetachedPart,
    DifferencePart,
    ItemPart,
    JudgementPart,
    Part,
    ReasonPart,
    RunPart,
    StatePart,
    Time,
)
from optrack.model.judgement import Comparison, Verdict
from optrack.model.plan import Status
from optrack.model.run import Outcome


class StatusAnswer(Answer):
    """`status`: where every item stands."""

    plan: str
    title: str
    items: list[StatePart]


class MeasuredPart(Part):
    """One measurement of a base; `rejected` says why it can't be compared with, null where it can."""

    run: str
    at: Time
    mean: float | None
    beside: str | None
    rejected: str | None


class BasePart(Part):
    """A configuration that items were compared with: what was adopted into it, and how it drifted, in words."""

    adopted: list[str]
    drift: str | None
    measurements: list[MeasuredPart]


class RestPart(Part):
    """An adoption; `stands` tells whether the evidence it rests on is still a fair improvement."""

    item: str
    run: str | None
    at: Time
    who: str
    why: str
    undone_at: Time | None
    undone_by: str | None
    verdict: Verdict | None
    stands: bool


class RegistryPart(Part):
    """The bases of a plan, the original first, and every adoption, undone ones too."""

    bases: list[BasePart]
    adoptions: list[RestPart]


class ExpectedPart(Part):
    """An expected gain (its bounds) beside the measured one, as fractions by which the metric gets better."""

    item: str
    low: float
    high: float
    measured: float
    standing: Literal["below", "within", "above"]


class ShowItemAnswer(Answer):
    """`show ITEM`: an item, its runs, the judgement in force, what that means against the original where another
    base is adopted, and, of the baseline, its registry."""

    item: ItemPart
    runs: list[RunPart]
    judgement: JudgementPart | None
    against_original: JudgementPart | None = None
    expected: ExpectedPart | None = None
    registry: RegistryPart | None = None


class ShowRunAnswer(Answer):
    """`show RUN`: a run, whole."""

    run: RunPart


class ResultAnswer(Answer):
    """`next`, `run`, `attach`, `stop`: one run and its judgement; only its id where it was detached."""

    run: RunPart | DetachedPart
    judgement: JudgementPart | None = None


class Result(Part):
    """One of several results."""

    run: RunPart | DetachedPart
    judgement: JudgementPart | None = None


class ResultsAnswer(Answer):
    """`next --all`, `run ITEM ITEM`, `demo`, `import`: several runs."""

    results: list[Result]


class ChoiceAnswer(Answer):
    """`next --explain`: which item is next, and why no other."""

    next: str | None
    summary: str
    reasons: list[ReasonPart]
    warnings: list[str]


class RunsAnswer(Answer):
    """`runs`: the runs of the plan or an item, oldest first."""

    runs: list[RunPart]


class LogAnswer(Answer):
    """`log RUN`: a log of a run."""

    run: str
    log: str
    text: str


class CompareAnswer(JudgementPart):
    """`compare A B`: the judgement of A against B."""

    schema_version: Literal[1]


class DiffAnswer(Answer):
    """`diff A B`: the differences between two snapshots."""

    baseline: str
    candidate: str
    comparison: Comparison
    differences: list[DifferencePart]


class KnownFailurePart(Part):
    """A failure with every run that met it."""

    fingerprint: str
    kind: str
    message: str
    items: list[str]
    runs: list[str]
    first_at: Time
    last_at: Time


class FailuresAnswer(Answer):
    """`failures`: failures by fingerprint, the latest first."""

    failures: list[KnownFailurePart]


class WatchLine(Answer):
    """`watch`: each line is one of these."""

    event: Literal["transition", "run_started", "run_ended"]
    at: Time
    item: str
    who: str
    seq: int | None = None
    plan: str | None = None
    before: Status | None = None
    after: Status | None = None
    why: str | None = None
    run: str | None = None
    by_hand: bool | None = None
    role: Literal["candidate", "baseline"] | None = None
    outcome: Outcome | None = None
    stage: str | None = None
    failure: str | None = None


class ParsedMetricPart(Part):
    """One metric read from a benchmark's output."""

    value: float | None
    unit: str
    better: Literal["higher", "lower"] | None


class ParseAnswer(Answer):
    """`parse`: what would be recorded of a benchmark's output."""

    tool: str
    invalid: str | None
    metrics: dict[str, ParsedMetricPart]
    notes: list[str]
    earlier: int


class ReplayAnswer(Answer):
    """`replay RUN`: the script, or the file that it was written to."""

    run: str
    script: str = ""
    output: str = ""

"""The facts of a run, one class each: all that is ever recorded of it, and what its followers are told."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import Field, TypeAdapter

from optrack.model.item import Against
from optrack.model.judgement import Judgement
from optrack.model.metrics import Sample
from optrack.model.plan import Status
from optrack.model.run import Failure, Outcome, ProcessId, Run, Stage
from optrack.model.snapshot import Snapshot, parts_of
from optrack.model.value import Frozen

Role = Literal["candidate", "baseline"]


class Fact(Frozen):
    """Something that happened in a run.

    The fields in `APART` are kept in tables of their own and in no other place. A `DURABLE` fact survives a
    power cut, the others the death of every process.
    """

    APART: ClassVar[frozenset[str]] = frozenset()
    DURABLE: ClassVar[bool] = False


class RunClaimed(Fact):
    """The run has taken its item up, as `run` describes it."""

    APART: ClassVar[frozenset[str]] = frozenset({"run"})
    DURABLE: ClassVar[bool] = True
    kind: Literal["run_claimed"] = "run_claimed"
    run: Run


class RunStarted(Fact):
    """The runner has taken up the run; `log_dir` is where its raw files are. `at_most` if the
    launches may end sooner, when the verdict is settled."""

    kind: Literal["run_started"] = "run_started"
    item: str
    log_dir: str
    launches: int
    repetitions: int
    at_most: bool = False


class SessionPlanned(Fact):
    """How the run is measured and judged was laid down, before its first launch; see `SessionRecord`."""

    kind: Literal["session_planned"] = "session_planned"
    seed: int
    max_launches: int
    first_look: int
    family: int
    credited: int = 0
    baseline: str | None = None
    companions: tuple[str, ...] = ()


class LaunchPlaced(Fact):
    """A launch has its turn: its position among all launches of the session, from 0, and its round."""

    kind: Literal["launch_placed"] = "launch_placed"
    launch: int
    position: int
    round: int


class StageStarted(Fact):
    """A stage of a launch has begun; `side` tells whose launch it is when two runs alternate."""

    kind: Literal["stage_started"] = "stage_started"
    stage: Stage
    launch: int = 0
    side: Role = "candidate"
    log: str | None = None


class StageEnded(Fact):
    """A stage of a launch is over."""

    kind: Literal["stage_ended"] = "stage_ended"
    stage: Stage
    launch: int = 0
    side: Role = "candidate"
    seconds: float


class RepetitionMeasured(Fact):
    """One benchmark pass was parsed; `samples` has all that it gave."""

    APART: ClassVar[frozenset[str]] = frozenset({"samples"})
    kind: Literal["repetition_measured"] = "repetition_measured"
    launch: int
    repetition: int
    side: Role = "candidate"
    samples: tuple[Sample, ...] = ()


class SamplesAdded(Fact):
    """The run has samples that none of its benchmark passes gave: a guard's, an earlier run's, imported ones."""

    APART: ClassVar[frozenset[str]] = frozenset({"samples"})
    kind: Literal["samples_added"] = "samples_added"
    samples: tuple[Sample, ...] = ()


class PartsCaptured(Fact):
    """Parts of the run's snapshot, each as canonical JSON; one that was captured before is replaced."""

    APART: ClassVar[frozenset[str]] = frozenset({"parts"})
    kind: Literal["parts_captured"] = "parts_captured"
    parts: Mapping[str, str] = Field(default_factory=dict)

    @classmethod
    def of(cls, snapshot: Snapshot, since: Snapshot | None = None) -> PartsCaptured:
        """Return the captured parts of the snapshot, without those that are as they were in `since`."""
        return cls(parts=parts_of(snapshot, since))


class ProcessStarted(Fact):
    """The run has a process, which a later command ends where the run can't."""

    DURABLE: ClassVar[bool] = True
    kind: Literal["process_started"] = "process_started"
    process: ProcessId
    role: str


class ArtifactWritten(Fact):
    """The run left a file; `path` is relative to its folder, or absolute."""

    kind: Literal["artifact_written"] = "artifact_written"
    path: str


class Noted(Fact):
    """Something a reader should know, in one sentence."""

    kind: Literal["noted"] = "noted"
    text: str


class Remarked(Fact):
    """Something a reader of the run should know, which its followers needn't hear at once."""

    kind: Literal["remarked"] = "remarked"
    text: str


class StopRequested(Fact):
    """Somebody asked the runner to stop; `force` shortens the grace."""

    kind: Literal["stop_requested"] = "stop_requested"
    actor: str
    force: bool = False


class RunRejected(Fact):
    """Somebody found that the run can't be compared with, after it had ended."""

    DURABLE: ClassVar[bool] = True
    kind: Literal["run_rejected"] = "run_rejected"
    who: str
    why: str


class RunJudged(Fact):
    """The run was judged; the latest judgement against the baseline is the one in force for its item."""

    APART: ClassVar[frozenset[str]] = frozenset({"judgement"})
    DURABLE: ClassVar[bool] = True
    kind: Literal["run_judged"] = "run_judged"
    against: Against = "baseline"
    judgement: Judgement


class RunEnded(Fact):
    """The run is over and recorded.

    Its item moves to `item_after`, for the reason `why`, if the run still has it. `seconds` is what the run took
    by a monotonic clock.
    """

    APART: ClassVar[frozenset[str]] = frozenset({"failure", "why"})
    DURABLE: ClassVar[bool] = True
    kind: Literal["run_ended"] = "run_ended"
    outcome: Outcome
    stage: Stage
    failure: Failure | None = None
    verdict: str | None = None
    item_after: Status | None = None
    why: str = ""
    seconds: float | None = None


Event = Annotated[
    RunClaimed
    | RunStarted
    | SessionPlanned
    | LaunchPlaced
    | StageStarted
    | StageEnded
    | RepetitionMeasured
    | SamplesAdded
    | PartsCaptured
    | ProcessStarted
    | ArtifactWritten
    | Noted
    | Remarked
    | StopRequested
    | RunRejected
    | RunJudged
    | RunEnded,
    Field(discriminator="kind"),
]
EVENT: TypeAdapter[Event] = TypeAdapter(Event)

FOLLOWED = (
    "run_started",
    "stage_started",
    "stage_ended",
    "repetition_measured",
    "noted",
    "stop_requested",
    "run_rejected",
    "run_ended",
)
"""The kinds of events that the followers of a run are told."""

FOLLOWED_BESIDE = ("stage_started", "stage_ended", "repetition_measured")
"""Those of the baseline's run measured beside it, which they are told too."""


class Entry(Frozen):
    """An event with its place in the journal: a number that grows, the run, the time (UTC)."""

    seq: int
    run: str
    at: datetime
    event: Event

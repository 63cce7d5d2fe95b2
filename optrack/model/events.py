"""What happens in a run, as its journal tells it: every watcher follows these and nothing else."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from optrack.model.metrics import Sample
from optrack.model.run import Failure, Outcome, Stage
from optrack.model.value import Frozen


class RunStarted(Frozen):
    """The runner has taken up the run; `log_dir` is where its raw files are. `at_most` if the
    launches may end sooner, when the verdict is settled."""

    kind: Literal["run_started"] = "run_started"
    item: str
    log_dir: str
    launches: int
    repetitions: int
    at_most: bool = False


class StageStarted(Frozen):
    """A stage of a launch has begun; `side` tells whose launch it is when two runs alternate."""

    kind: Literal["stage_started"] = "stage_started"
    stage: Stage
    launch: int = 0
    side: Literal["candidate", "baseline"] = "candidate"
    log: str | None = None


class StageEnded(Frozen):
    """A stage of a launch is over."""

    kind: Literal["stage_ended"] = "stage_ended"
    stage: Stage
    launch: int = 0
    side: Literal["candidate", "baseline"] = "candidate"
    seconds: float


class RepetitionMeasured(Frozen):
    """One benchmark pass was parsed; `samples` has all that it gave."""

    kind: Literal["repetition_measured"] = "repetition_measured"
    launch: int
    repetition: int
    side: Literal["candidate", "baseline"] = "candidate"
    samples: tuple[Sample, ...]


class Noted(Frozen):
    """Something a reader should know, in one sentence."""

    kind: Literal["noted"] = "noted"
    text: str


class StopRequested(Frozen):
    """Somebody asked the runner to stop; `force` shortens the grace."""

    kind: Literal["stop_requested"] = "stop_requested"
    actor: str
    force: bool = False


class RunRejected(Frozen):
    """Somebody found that the run can't be compared with, after it had ended."""

    kind: Literal["run_rejected"] = "run_rejected"
    who: str
    why: str


class RunEnded(Frozen):
    """The run is over and recorded."""

    kind: Literal["run_ended"] = "run_ended"
    outcome: Outcome
    stage: Stage
    failure: Failure | None = None
    verdict: str | None = None


Event = Annotated[
    RunStarted
    | StageStarted
    | StageEnded
    | RepetitionMeasured
    | Noted
    | StopRequested
    | RunRejected
    | RunEnded,
    Field(discriminator="kind"),
]
EVENT: TypeAdapter[Event] = TypeAdapter(Event)


class Entry(Frozen):
    """An event with its place in the journal: a number that grows, the run, the time (UTC)."""

    seq: int
    run: str
    at: datetime
    event: Event

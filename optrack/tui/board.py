"""What the screens need to know of a campaign and may ask of it: the `Board`, and the values it hands out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import Field

from optrack.model.events import Entry
from optrack.model.item import ItemState, Transition
from optrack.model.judgement import Effect, Judgement
from optrack.model.plan import Plan, Quantity, Status
from optrack.model.run import Outcome, Run, Stage
from optrack.model.value import Frozen

LogKind = Literal["server", "bench"]
LOG_KINDS: tuple[LogKind, ...] = ("server", "bench")


class NextItem(Frozen):
    """What would run next and why; `reasons` says of every item why it is or isn't the one.

    `blocked` names, for each item that can't run yet, the needs that are unmet; `worth` tells what an item
    promises, expected gain for effort, on a scale that is the same for all: the order by value.
    """

    item: str | None
    why: str
    reasons: Mapping[str, str] = Field(default_factory=dict)
    blocked: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    worth: Mapping[str, float] = Field(default_factory=dict)


class ResolvedItem(Frozen):
    """An item's recipe after all layers, as plain data, and its factors: leaf -> (baseline's value, its own).

    `problem` says why there is none, with file and line.
    """

    data: Mapping[str, Any] = Field(default_factory=dict)
    factors: Mapping[str, tuple[Any, Any]] = Field(default_factory=dict)
    problem: str | None = None


class Compared(Frozen):
    """Two runs side by side: the candidate, the baseline, and the judgement between them."""

    candidate: Run
    baseline: Run
    judgement: Judgement


class Gauge(Frozen):
    """The course of one load of the host during a run: values in `unit`, oldest first; `full` is 100 %."""

    name: str
    unit: str
    values: tuple[float, ...] = ()
    full: float | None = None


class Step(Frozen):
    """One run on the campaign's way: median and range of the primary metric, None if it measured nothing."""

    run: str
    item: str
    at: datetime
    outcome: Outcome
    value: float | None = None
    low: float | None = None
    high: float | None = None
    role: Literal["candidate", "baseline"] = "candidate"
    adopted: bool = False


class FailureGroup(Frozen):
    """All failures with one fingerprint, described by the latest of them."""

    fingerprint: str
    kind: str
    message: str
    stage: Stage
    runs: tuple[str, ...]
    items: tuple[str, ...]
    last_at: datetime
    log_tail: str = ""


class Calibration(Frozen):
    """What the plan expected of an item and what was measured, in percent where that can be had.

    All are gains: positive where the metric gets better, be that higher or lower.
    """

    item: str
    title: str
    expected: Quantity
    measured: Quantity | None = None
    effect: Effect | None = None


class Board(Protocol):
    """A campaign as the screens see it. Every method may be called from any thread and may take its time.

    Reading methods return core values; acting methods return at once after asking, or raise an
    `OptrackError` that says why not. Times are UTC.
    """

    # what is there
    def version(self) -> int:
        """Return a number that changes whenever anything below might; cheap enough for 4 calls a second."""
        ...

    def now(self) -> datetime:
        """Return the present time, UTC: what elapsed times are counted to."""
        ...

    def plan(self) -> Plan:
        """Return the plan as its file reads now, with its problems."""
        ...

    def items(self) -> Sequence[ItemState]:
        """Return where every item stands, in plan order, archived ones last."""
        ...

    def launches(self) -> Mapping[str, int]:
        """Return how many launches each item has had so far, over all its runs."""
        ...

    def choice(self) -> NextItem:
        """Return what would run next and why."""
        ...

    def live_runs(self) -> Sequence[Run]:
        """Return the candidates' runs that have not ended, oldest first."""
        ...

    # one item
    def resolved(self, item: str) -> ResolvedItem:
        """Return the item's recipe after all layers and how it differs from the baseline's."""
        ...

    def runs(self, item: str) -> Sequence[Run]:
        """Return the item's runs, newest first."""
        ...

    def transitions(self, item: str) -> Sequence[Transition]:
        """Return every change of the item's status, oldest first."""
        ...

    def edit_path(self, item: str) -> tuple[Path, int]:
        """Return the plan's file and the line at which the item begins, from 1."""
        ...

    # one run
    def run(self, run: str) -> Run | None:
        """Return the run with this id, None if there is none."""
        ...

    def entries(self, run: str, after: int) -> Sequence[Entry]:
        """Return the journal of the run beyond number `after` (0 for all), in order."""
        ...

    def log_path(self, run: str, which: LogKind) -> Path | None:
        """Return the log that the run writes now or wrote last, None while there is none."""
        ...

    def so_far(self, run: str) -> Judgement | None:
        """Return what the samples up to now show against the baseline, None before there are any."""
        ...

    def gauges(self, run: str) -> Sequence[Gauge]:
        """Return the load of the host's GPUs, processors and memory during the run."""
        ...

    def expected_stages(self, run: str) -> Mapping[Stage, float]:
        """Return the seconds that each stage took per launch in earlier runs of the like; empty if none."""
        ...

    # the whole campaign
    def compare(self, candidate: str, baseline: str) -> Compared:
        """Compare two runs or items (their latest runs)."""
        ...

    def history(self) -> Sequence[Step]:
        """Return the ended runs in the order of time."""
        ...

    def failures(self) -> Sequence[FailureGroup]:
        """Return the failures by fingerprint, latest first."""
        ...

    def calibration(self) -> Sequence[Calibration]:
        """Return expected against measured, for items that have both."""
        ...

    # asking others to act
    def start_next(self) -> str:
        """Start the next item's run in its own process; return the run's id."""
        ...

    def run_item(self, item: str) -> str:
        """Start a run of this item whatever its rank; return the run's id."""
        ...

    def stop(self, run: str, *, force: bool = False) -> None:
        """Ask the runner to stop, tear down and record; `force` shortens the grace."""
        ...

    def mark(self, item: str, status: Status, why: str) -> None:
        """Move the item to this status by hand."""
        ...

    def skip(self, item: str, why: str) -> None:
        """Cancel the item, so that it isn't chosen."""
        ...

    def note(self, item: str, text: str) -> None:
        """Attach a remark to the item."""
        ...

    def adopt(self, item: str) -> None:
        """Make the item the new baseline."""
        ...

    def accept(self, item: str, field: str, why: str) -> None:
        """Accept an undeclared difference in this field as harmless, and judge the item again."""
        ...

    def ablate(self, item: str) -> Sequence[str]:
        """Plan runs of the item's factors one by one; return the new items' ids."""
        ...

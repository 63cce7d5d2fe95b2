"""Where a run is, as its journal tells it: entries folded into one value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from optrack.model.events import (
    Entry,
    Noted,
    RepetitionMeasured,
    RunEnded,
    RunStarted,
    StageEnded,
    StageStarted,
    StopRequested,
)
from optrack.model.metrics import Sample
from optrack.model.run import STAGES, Stage

Side = Literal["candidate", "baseline"]
SIDES: tuple[Side, ...] = ("candidate", "baseline")


@dataclass(frozen=True, slots=True)
class Progress:
    """A run's place: the stage, launch and side at work since `since`, what is over, and what was measured.

    `over` holds the stages of the present launch that have ended, with their seconds; `launched` the
    launches begun, as (side, launch).
    """

    seq: int = 0
    item: str = ""
    launches: int = 0
    repetitions: int = 0
    began: datetime | None = None
    stage: Stage | None = None
    launch: int = 0
    side: Side = "candidate"
    since: datetime | None = None
    over: tuple[tuple[Stage, float], ...] = ()
    launched: frozenset[tuple[Side, int]] = frozenset()
    samples: tuple[tuple[Side, Sample], ...] = ()
    notes: tuple[str, ...] = ()
    stopping: bool = False
    ended: RunEnded | None = None
    ended_at: datetime | None = None

    def measured(self, side: Side) -> tuple[Sample, ...]:
        """Return the samples of one side."""
        return tuple(sample for which, sample in self.samples if which == side)

    @property
    def passes(self) -> int:
        """How many repetitions of the present launch have been measured."""
        return len(
            {s.repetition for which, s in self.samples if which == self.side and s.launch == self.launch}
        )

    @property
    def two_sided(self) -> bool:
        """Whether a baseline is measured beside the candidate."""
        return any(side == "baseline" for side, _ in self.launched)


def followed(progress: Progress, entries: Iterable[Entry]) -> Progress:
    """Return the progress after these entries; those already seen change nothing."""
    for entry in entries:
        if entry.seq > progress.seq:
            progress = replace(_after(progress, entry), seq=entry.seq)
    return progress


def _after(progress: Progress, entry: Entry) -> Progress:
    event = entry.event
    match event:
        case RunStarted():
            return replace(
                progress,
                item=event.item,
                launches=event.launches,
                repetitions=event.repetitions,
                began=entry.at,
                since=entry.at,
            )
        case StageStarted():
            another = (event.side, event.launch) not in progress.launched
            return replace(
                progress,
                stage=event.stage,
                launch=event.launch,
                side=event.side,
                since=entry.at,
                over=() if another else progress.over,
                launched=progress.launched | {(event.side, event.launch)},
            )
        case StageEnded():
            over = (*(o for o in progress.over if o[0] != event.stage), (event.stage, event.seconds))
            return replace(progress, over=over)
        case RepetitionMeasured():
            taken = tuple((event.side, sample) for sample in event.samples)
            return replace(progress, samples=progress.samples + taken)
        case Noted():
            return replace(progress, notes=(*progress.notes, event.text))
        case StopRequested():
            return replace(progress, stopping=True)
        case RunEnded():
            return replace(progress, ended=event, ended_at=entry.at)
    return progress


def remaining_s(progress: Progress, expected: Mapping[Stage, float], now: datetime) -> float | None:
    """Return about how many seconds are left, from what the stages took before; None if nothing is known."""
    if progress.ended or not expected or progress.since is None:
        return None
    over = {stage for stage, _ in progress.over}
    here = 0.0
    for stage in STAGES:
        if stage in over:
            continue
        took = (now - progress.since).total_seconds() if stage == progress.stage else 0.0
        here += max(0.0, expected.get(stage, 0.0) - took)
    total = progress.launches * (2 if progress.two_sided else 1)
    return here + sum(expected.values()) * max(0, total - len(progress.launched))

"""Where a run is, as its journal tells it: entries folded into one value, drawn as launch, stages and times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from textual.content import Content

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
from optrack.render import format as fmt
from optrack.tui.text import toned

Side = Literal["candidate", "baseline"]


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


def stage_lines(
    progress: Progress, expected: Mapping[Stage, float], now: datetime, width: int
) -> list[Content]:
    """Return the launch and total times, the stages, and how far the present one is."""
    if progress.began is None and progress.ended is not None:
        return [
            Content.assemble(
                toned(fmt.OUTCOME[progress.ended.outcome]), f"   in stage {progress.ended.stage}"
            )
        ]
    if progress.began is None:
        return [Content.styled("The runner has not reported yet.", "$quiet")]
    end = progress.ended_at or now
    elapsed = fmt.duration(max(0.0, (end - progress.began).total_seconds()))
    lines = [_place(progress, elapsed, remaining_s(progress, expected, now)), _stages(progress, width)]
    if progress.ended is None:
        lines.append(_bar(progress, expected, now, width))
    return lines


def _place(progress: Progress, elapsed: str, left_s: float | None) -> Content:
    if progress.ended is not None:
        mark = fmt.OUTCOME[progress.ended.outcome]
        return Content.assemble(toned(mark), f"   in stage {progress.ended.stage}, after {elapsed}")
    parts: list[tuple[str, str]] = [(f"launch {progress.launch + 1} of {progress.launches}", "bold $strong")]
    if progress.two_sided:
        parts.append((f", {progress.side}", "bold $strong"))
    if progress.stage == "bench":
        parts.append(
            (f"   pass {min(progress.passes + 1, progress.repetitions)} of {progress.repetitions}", "")
        )
    parts.append((f"   {elapsed} so far", "$quiet"))
    if left_s is not None:
        parts.append((f", about {fmt.duration(left_s)} left", "$quiet"))
    if progress.stopping:
        parts.append(("   stopping", "$warn"))
    return Content.assemble(*parts)


def _stages(progress: Progress, width: int) -> Content:
    over = dict(progress.over)
    parts: list[tuple[str, str]] = []
    gap = "  " if width < 100 else "   "
    for stage in STAGES:
        failed = progress.ended is not None and progress.ended.stage == stage
        if failed and progress.ended is not None and progress.ended.outcome != "succeeded":
            mark = fmt.OUTCOME[progress.ended.outcome]
            parts.append((f"{mark.sign} {stage}{gap}", f"${mark.tone}"))
        elif stage == progress.stage and progress.ended is None and stage not in over:
            parts.append((f"{fmt.RUNNING.sign} {stage}{gap}", "bold $live"))
        elif stage in over:
            took = f" {fmt.duration(over[stage])}" if width >= 100 and over[stage] >= 1 else ""
            parts.append((f"{fmt.OUTCOME['succeeded'].sign} {stage}{took}{gap}", "$good"))
        else:
            parts.append((f". {stage}{gap}", "$quiet"))
    return Content.assemble(*parts)


def _bar(progress: Progress, expected: Mapping[Stage, float], now: datetime, width: int) -> Content:
    if progress.stage is None or progress.since is None:
        return Content("")
    took = (now - progress.since).total_seconds()
    usual = expected.get(progress.stage)
    told = fmt.duration(took) + (f" of about {fmt.duration(usual)}" if usual and usual >= 1 else "")
    room = min(60, width - len(progress.stage) - len(told) - 4)
    if not usual or room < 8:
        return Content.assemble((f"{progress.stage} ", ""), (told, "$quiet"))
    done = min(room, int(room * took / usual))
    late = took > usual
    return Content.assemble(
        (f"{progress.stage} ", ""),
        ("━" * done, "$warn" if late else "$live"),
        ("─" * (room - done), "$line"),
        (f"  {told}", "$warn" if late else "$quiet"),
    )

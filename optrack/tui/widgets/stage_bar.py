"""Which stage of which launch a run is in, with the time that it has taken and usually takes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from textual.content import Content

from optrack.model.run import STAGES, Stage
from optrack.tui import figures, marks
from optrack.tui.progress import Progress, remaining_s


def stage_lines(
    progress: Progress, expected: Mapping[Stage, float], now: datetime, width: int
) -> list[Content]:
    """Return the launch and total times, the stages, and how far the present one is."""
    if progress.began is None:
        return [Content.styled("The runner has not reported yet.", "$quiet")]
    end = progress.ended_at or now
    elapsed = figures.duration(max(0.0, (end - progress.began).total_seconds()))
    lines = [_place(progress, elapsed, remaining_s(progress, expected, now)), _stages(progress, width)]
    if progress.ended is None:
        lines.append(_bar(progress, expected, now, width))
    return lines


def _place(progress: Progress, elapsed: str, left_s: float | None) -> Content:
    if progress.ended is not None:
        mark = marks.OUTCOME[progress.ended.outcome]
        return Content.assemble(
            (str(mark), f"${mark.tone}"), (f"   in stage {progress.ended.stage}, after {elapsed}", "")
        )
    parts: list[tuple[str, str]] = [(f"launch {progress.launch + 1} of {progress.launches}", "bold $strong")]
    if progress.two_sided:
        parts.append((f", {progress.side}", "bold $strong"))
    if progress.stage == "bench":
        parts.append(
            (f"   pass {min(progress.passes + 1, progress.repetitions)} of {progress.repetitions}", "")
        )
    parts.append((f"   {elapsed} so far", "$quiet"))
    if left_s is not None:
        parts.append((f", about {figures.duration(left_s)} left", "$quiet"))
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
            mark = marks.OUTCOME[progress.ended.outcome]
            parts.append((f"{mark.sign} {stage}{gap}", f"${mark.tone}"))
        elif stage == progress.stage and progress.ended is None and stage not in over:
            parts.append((f"> {stage}{gap}", "bold $live"))
        elif stage in over:
            took = f" {figures.duration(over[stage])}" if width >= 100 and over[stage] >= 1 else ""
            parts.append((f"* {stage}{took}{gap}", "$good"))
        else:
            parts.append((f". {stage}{gap}", "$quiet"))
    return Content.assemble(*parts)


def _bar(progress: Progress, expected: Mapping[Stage, float], now: datetime, width: int) -> Content:
    if progress.stage is None or progress.since is None:
        return Content("")
    took = (now - progress.since).total_seconds()
    usual = expected.get(progress.stage)
    told = figures.duration(took) + (f" of about {figures.duration(usual)}" if usual and usual >= 1 else "")
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

"""The re-enacted campaign's runs and journals, with times and noise that never change."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from optrack.model.events import (
    Entry,
    Event,
    RepetitionMeasured,
    RunEnded,
    RunStarted,
    StageEnded,
    StageStarted,
)
from optrack.model.metrics import Sample, metric_named
from optrack.model.run import Failure, Outcome, Run, Stage
from optrack.tui.progress import Side
from tests.tui.enacted_plan import BASE, BASE_ENV, METRICS, NOW, START


def samples(centre: float, launches: int, repetitions: int, seed: int) -> tuple[Sample, ...]:
    """Samples of the metrics around a throughput of `centre`, with noise between launches and within."""
    dice = random.Random(seed)
    found = []
    for launch in range(launches):
        shift = dice.gauss(0, 0.006)
        for repetition in range(repetitions):
            rate = centre * (1 + shift + dice.gauss(0, 0.004))
            values = (rate, 1000 / rate, 2 * 1000 / rate + 5, 2.05 + dice.gauss(0, 0.01))
            for name, value in zip(METRICS, values, strict=True):
                found.append(
                    Sample(
                        metric=metric_named(name), value=round(value, 3), launch=launch, repetition=repetition
                    )
                )
    return tuple(found)


STAGE_S: Mapping[Stage, float] = {
    "preflight": 2,
    "setup": 0.4,
    "launch": 1,
    "ready": 142,
    "bench": 188,
    "parse": 0.2,
    "teardown": 11,
}
NCCL_TAIL = """[2026-03-02 10:01:55 TP3] Capture cuda graph begin. This can take up to several minutes.
[2026-03-02 10:02:07 TP3] Capture cuda graph bs [1, 2, 4, 8]
[/usr/lib/libnccl.so.2] NCCL WARN Cuda failure 'operation not permitted when stream is capturing'
RuntimeError: NCCL error: unhandled cuda error (run with NCCL_DEBUG=INFO for details)"""
NCCL_FAILURE = Failure(
    kind="nccl",
    message="NCCL error: unhandled cuda error while CUDA graphs were captured",
    fingerprint="nccl-9f31c2",
    log_tail=NCCL_TAIL,
)


def run(
    name: str,
    of: str,
    hours: float,
    centre: float | None,
    *,
    launches: int = 3,
    failure: Failure | None = None,
    stage: Stage = "teardown",
    beside: str | None = None,
    change: Mapping[str, Any] | None = None,
    outcome: Outcome = "succeeded",
) -> Run:
    began = START + timedelta(hours=hours)
    recipe = {**BASE, **(change or {})}
    ended = began + timedelta(seconds=sum(STAGE_S.values()) * (launches if centre else 0.45))
    return Run(
        id=name,
        plan="eagle-fast-verify",
        item=of,
        host="gpu-07",
        started_at=began,
        ended_at=ended,
        outcome=outcome if failure is None else "failed",
        stage=stage,
        failure=failure,
        role="baseline" if beside else "candidate",
        beside=beside,
        actor="mara",
        recipe=recipe,
        stages={k: v * launches for k, v in STAGE_S.items()} if centre else {"launch": 1.0, "ready": 131.0},
        samples=samples(centre, launches, 5, seed=hash_of(name)) if centre else (),
    )


def hash_of(name: str) -> int:
    return sum(ord(c) * (i + 1) for i, c in enumerate(name))


def runs() -> list[Run]:
    """All runs but the one in progress, in the order of time."""
    return [
        run("20260302-090000-a1", "baseline", 0.0, 62.9),
        run("20260302-094200-b7", "baseline", 0.7, 88.8),
        run("20260302-100000-c2", "1A", 1.0, None, failure=NCCL_FAILURE, stage="ready"),
        run("20260302-101500-c9", "1A", 1.25, None, failure=NCCL_FAILURE, stage="ready"),
        run("20260302-110000-e4", "2", 2.0, 89.1, change={"patch": "patches/fusion.diff"}),
        run("20260302-110001-e5", "baseline", 2.01, 88.4, beside="20260302-110000-e4"),
        run("20260302-121500-f0", "3", 3.25, 84.9),
        run("20260302-121501-f1", "baseline", 3.26, 88.7, beside="20260302-121500-f0"),
        run("20260302-133000-g3", "4", 4.5, 97.6),
        run("20260302-133001-g4", "baseline", 4.51, 88.6, beside="20260302-133000-g3"),
    ]


def live_run() -> Run:
    """The run in progress: 1B, in the benchmark of its second launch."""
    return Run(
        id="20260302-150500-h8",
        plan="eagle-fast-verify",
        item="1B",
        host="gpu-07",
        started_at=NOW - timedelta(minutes=16, seconds=5),
        stage="bench",
        actor="mara",
        recipe={**BASE, "env": {**BASE_ENV, "NCCL_MAX_NCHANNELS": "2", "NCCL_BUFFSIZE": "1048576"}},
    )


def live_journal() -> list[Entry]:
    """The journal of the run in progress: both sides' first launches are over, the second is measuring."""
    mine = live_run()
    entries: list[Entry] = []
    at = mine.started_at

    def tell(event: Event, seconds: float = 0) -> None:
        nonlocal at
        at += timedelta(seconds=seconds)
        entries.append(Entry(seq=len(entries) + 1, run=mine.id, at=at, event=event))

    tell(RunStarted(item="1B", log_dir="runs/h8", launches=3, repetitions=5))
    ours, theirs = samples(99.4, 3, 5, 41), samples(88.6, 3, 5, 42)
    sides: tuple[tuple[Side, int, tuple[Sample, ...], int], ...] = (
        ("candidate", 0, ours, 5),
        ("baseline", 0, theirs, 5),
        ("baseline", 1, theirs, 3),
    )
    stages: tuple[Stage, ...] = ("preflight", "setup", "launch", "ready", "bench")
    for side, launch, values, reps in sides:
        for stage in stages:
            tell(StageStarted(stage=stage, launch=launch, side=side))
            seconds = STAGE_S[stage]
            if stage == "bench":
                for rep in range(reps):
                    took = tuple(s for s in values if s.launch == launch and s.repetition == rep)
                    event = RepetitionMeasured(launch=launch, repetition=rep, side=side, samples=took)
                    tell(event, seconds / 5)
                if reps < 5:
                    return entries
                seconds = 0
            tell(StageEnded(stage=stage, launch=launch, side=side, seconds=STAGE_S[stage]), seconds)
        tell(StageStarted(stage="teardown", launch=launch, side=side))
        tell(StageEnded(stage="teardown", launch=launch, side=side, seconds=11), 11)
    return entries


def ended_journal(of: Run) -> list[Entry]:
    """A short journal for a run that has ended."""
    events: list[Event] = [
        RunStarted(item=of.item, log_dir=f"runs/{of.id}", launches=3, repetitions=5),
        *(StageEnded(stage=stage, launch=0, seconds=seconds) for stage, seconds in of.stages.items()),
        *(
            RepetitionMeasured(
                launch=launch,
                repetition=rep,
                samples=tuple(s for s in of.samples if (s.launch, s.repetition) == (launch, rep)),
            )
            for launch, rep in sorted({(s.launch, s.repetition) for s in of.samples})
        ),
        RunEnded(outcome=of.outcome or "succeeded", stage=of.stage, failure=of.failure),
    ]
    return [
        Entry(seq=i + 1, run=of.id, at=of.ended_at or of.started_at, event=e) for i, e in enumerate(events)
    ]

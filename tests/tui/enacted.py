"""A campaign re-enacted for the screens: its plan, runs, journals and logs, with times that never change."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from optrack.core.events import (
    Entry,
    Event,
    RepetitionMeasured,
    RunEnded,
    RunStarted,
    StageEnded,
    StageStarted,
)
from optrack.core.judgement import Attribution, Difference, Effect, Judgement
from optrack.core.metrics import Sample, metric_named
from optrack.core.plan import Item, Plan, Quantity, RecipeLayer
from optrack.core.run import Failure, Outcome, Run, Stage
from optrack.core.state import ItemState, Note

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
NOW = START + timedelta(hours=6, minutes=20)
BASE_ENV = {
    "NCCL_PROTO": "LL",
    "NCCL_ALGO": "Ring",
    "NCCL_P2P_LEVEL": "SYS",
    "NCCL_MAX_NCHANNELS": "16",
    "NCCL_BUFFSIZE": "16777216",
    "NCCL_NTHREADS": "512",
}
BASE: dict[str, Any] = {
    "engine": "sglang",
    "env": BASE_ENV,
    "server": {"model-path": "moonshotai/Kimi-K2.5", "tp": 8, "mem-fraction-static": 0.88},
    "ready": {"http": "/health", "timeout": "20m"},
    "bench": {"tool": "sglang.bench_serving", "num-prompts": 64, "max-concurrency": 1},
    "launches": 3,
    "repetitions": 5,
}
METRICS = ("output_throughput", "mean_itl_ms", "verify_ms", "accept_length")


def quantity(text: str, low: float, high: float, unit: str) -> Quantity:
    return Quantity(text=text, low=low, high=high, unit=unit)


def item(
    name: str,
    title: str,
    rank: int,
    *,
    parent: str | None = None,
    gain: Quantity | None = None,
    effort: Quantity | None = None,
    needs: tuple[str, ...] = (),
    hypothesis: str | None = None,
    risk: str | None = None,
    change: Mapping[str, Any] | None = None,
) -> Item:
    layer = RecipeLayer(data=change, text="", line=20 + rank * 8) if change else None
    return Item(
        id=name,
        title=title,
        line=18 + rank * 8,
        rank=rank,
        parent=parent,
        gain=gain,
        effort=effort,
        needs=needs,
        hypothesis=hypothesis,
        risk=risk,
        recipe=layer,
        priority=name if parent is None else None,
    )


def plan() -> Plan:
    """The plan of the campaign: a baseline and seven priorities, the first with three experiments."""
    half_hour = quantity("30 minutes", 0.5, 0.5, "hours")
    items = (
        item("baseline", "Tuned NCCL, no speculation", 0, hypothesis="What every item is compared with."),
        item(
            "1", "NCCL tuning: environment only", 1, gain=quantity("5-10 ms", 5, 10, "ms"), effort=half_hour
        ),
        item(
            "1A",
            "NCCL_ALGO=Tree",
            2,
            parent="1",
            effort=half_hour,
            change={"env": {"NCCL_ALGO": "Tree"}},
            hypothesis="A tree needs fewer hops than a ring for the 122 small all-reduces of a verify pass.",
        ),
        item(
            "1B",
            "Fewer channels, smaller buffer",
            3,
            parent="1",
            effort=half_hour,
            gain=quantity("5-10 ms", 5, 10, "ms"),
            risk="low",
            change={"env": {"NCCL_MAX_NCHANNELS": "2", "NCCL_BUFFSIZE": "1048576"}},
            hypothesis="Small messages pay for each channel's set-up; two channels carry them as fast.",
        ),
        item("1C", "The best of 1A and 1B combined", 4, parent="1", needs=("1A", "1B")),
        item(
            "2",
            "FlashInfer all-reduce fusion for SM120 [/two-line patch]",
            5,
            gain=quantity("2-8 ms", 2, 8, "ms"),
            effort=quantity("15 minutes", 0.25, 0.25, "hours"),
            risk="medium",
            change={"patch": "patches/fusion.diff", "server": {"enable-flashinfer-allreduce-fusion": True}},
            hypothesis="Fusing the all-reduce with the norm saves a launch in each of 122 calls.",
        ),
        item(
            "3",
            "Custom all-reduce for small tensors over PCIe",
            6,
            gain=quantity("10-18 ms", 10, 18, "ms"),
            effort=quantity("1-2 hours", 1, 2, "hours"),
            change={"server": {"disable-custom-all-reduce": False}},
        ),
        item(
            "4",
            "MSCCL++",
            7,
            gain=quantity("10-15 ms", 10, 15, "ms"),
            effort=quantity("2-4 hours", 2, 4, "hours"),
            change={"server": {"enable-mscclpp": True}},
        ),
        item(
            "5",
            "Torch symmetric memory",
            8,
            gain=quantity("5-10 ms", 5, 10, "ms"),
            effort=quantity("1-2 hours", 1, 2, "hours"),
            change={"server": {"enable-torch-symm-mem": True}},
        ),
        item(
            "6",
            "Expert parallelism through DeepEP",
            9,
            gain=quantity("0-8 ms", 0, 8, "ms"),
            effort=quantity("2-4 hours", 2, 4, "hours"),
            needs=("3",),
        ),
        item("7", "Detailed profiling, for better decisions", 10),
    )
    return Plan(
        name="eagle-fast-verify",
        path="plans/eagle-fast-verify.md",
        title="Faster verify passes: Kimi-K2.5 on 8 RTX PRO 6000",
        text="",
        items=items,
        target=quantity("167 tok/s", 167, 167, "tok/s"),
    )


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
    for side, launch, values, reps in (
        ("candidate", 0, ours, 5),
        ("baseline", 0, theirs, 5),
        ("baseline", 1, theirs, 3),
    ):
        for stage in ("preflight", "setup", "launch", "ready", "bench"):
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


def judgement(
    candidate: str,
    baseline: str | None,
    verdict: Any,
    effect: tuple[float, float, float] | None,
    *reasons: str,
    comparison: Any = "fair",
    differences: tuple[Difference, ...] = (),
    factors: tuple[str, ...] = (),
) -> Judgement:
    return Judgement(
        verdict=verdict,
        baseline=baseline,
        candidate=candidate,
        metric="output_throughput",
        effect=Effect(relative=effect[0], low=effect[1], high=effect[2], confidence=0.95) if effect else None,
        comparison=comparison,
        differences=differences,
        attribution=Attribution(status="confounded" if len(factors) > 1 else "single", factors=factors),
        reasons=reasons,
    )


def difference(field: str, baseline: Any, candidate: Any, cls: Any, meaning: str = "") -> Difference:
    severity = "blocking" if cls == "unexplained" else "note"
    return Difference(
        field=field, baseline=baseline, candidate=candidate, cls=cls, severity=severity, meaning=meaning
    )


FUSION = (
    difference("git.patch", None, "patches/fusion.diff", "declared"),
    difference("arguments.enable-flashinfer-allreduce-fusion", None, True, "declared"),
    difference(
        "env.NCCL_MAX_NCHANNELS", "16", None, "unexplained", "The channels were at NCCL's default, not at 16."
    ),
    difference("packages.flashinfer-python", "0.2.7", "0.2.8", "unexplained", "Another attention kernel."),
    difference("libraries.libnccl", "2.27.3", None, "unknown", "Not captured for the candidate."),
    difference("load.gpu_temperature_c", 61, 64, "volatile"),
)


def judgements() -> dict[str, Judgement]:
    """The judgement in force of each item that has one."""
    return {
        "1A": judgement(
            "20260302-101500-c9",
            "20260302-094200-b7",
            "failed",
            None,
            "The server crashed in stage ready, while CUDA graphs were captured, in 2 of 2 runs.",
            "The same failure as in run 20260302-100000-c2 (nccl-9f31c2).",
            differences=(difference("env.NCCL_ALGO", "Ring", "Tree", "declared"),),
            factors=("env.NCCL_ALGO",),
        ),
        "2": judgement(
            "20260302-110000-e4",
            "20260302-110001-e5",
            None,
            (0.008, -0.002, 0.018),
            "No verdict: the environment differs in NCCL_MAX_NCHANNELS, which the plan doesn't declare.",
            "FlashInfer's version differs too.",
            comparison="unfair",
            differences=FUSION,
            factors=("patch", "server.enable-flashinfer-allreduce-fusion"),
        ),
        "3": judgement(
            "20260302-121500-f0",
            "20260302-121501-f1",
            "regression",
            (-0.043, -0.055, -0.031),
            "4.3% slower; the whole interval lies beyond the minimum effect of 2%.",
            factors=("server.disable-custom-all-reduce",),
            differences=(difference("arguments.disable-custom-all-reduce", None, False, "declared"),),
        ),
        "4": judgement(
            "20260302-133000-g3",
            "20260302-133001-g4",
            "improvement",
            (0.102, 0.089, 0.115),
            "10.2% faster; the whole interval lies beyond the minimum effect of 2%.",
            "One factor differs, so the gain is credited to server.enable-mscclpp.",
            differences=(
                difference("arguments.enable-mscclpp", None, True, "declared"),
                difference("load.gpu_temperature_c", 61, 63, "volatile"),
            ),
            factors=("server.enable-mscclpp",),
        ),
    }


def states(of: Plan, done: list[Run], judged: Mapping[str, Judgement]) -> list[ItemState]:
    """Where each item stands, from its runs and judgements."""
    found = []
    for one in of.items:
        mine = [r for r in done if r.item == one.id and r.role == "candidate"]
        status = "completed" if mine else "pending"
        if one.id == "1B":
            status = "in_progress"
        if one.id == "6":
            status = "cancelled"
        notes: tuple[Note, ...] = ()
        if one.id == "1A":
            text = "NCCL 2.28 may fix this [red]: try again after the upgrade."
            notes = (Note(at=START + timedelta(hours=1.5), who="mara", text=text),)
        found.append(
            ItemState(
                item=one,
                status=status,
                runs=len(mine) + (one.id == "1B"),
                last_run=mine[-1].id if mine else None,
                last_outcome=mine[-1].outcome if mine else None,
                judgement=judged.get(one.id),
                stale=one.id == "3",
                adopted=one.id == "baseline",
                notes=notes,
            )
        )
    return found

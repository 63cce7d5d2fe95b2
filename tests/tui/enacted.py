"""Where the items of the re-enacted campaign stand: judgements with every verdict, notes and marks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from optrack.model.item import ItemState, Note
from optrack.model.judgement import Attribution, Difference, Effect, Judgement
from optrack.model.plan import Plan
from optrack.model.run import Run
from tests.tui.enacted_plan import START


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
    severity = "blocking" if cls in ("unexplained", "unknown") else "note"
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
    difference("libraries.libnccl", "2.27.3", None, "unknown"),
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

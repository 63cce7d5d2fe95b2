"""The re-enacted campaign's plan: a baseline and seven priorities, the first with three experiments."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from optrack.model.plan import Item, Plan, Quantity, RecipeLayer

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

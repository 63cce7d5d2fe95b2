"""Made-up measuring sessions for the tests: two sides of launches and repetitions with known effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from optrack.judge.evidence import Rules, Side
from optrack.judge.sides import alternating
from optrack.model.metrics import Metric, Sample, metric_named

SPEED = metric_named("output_throughput")
LATENCY = metric_named("mean_itl_ms")

BASE = (
    (88.1, 88.9, 88.4),
    (89.3, 88.7, 89.0),
    (88.0, 88.6, 88.2),
    (88.8, 89.1, 88.5),
    (88.3, 88.2, 88.7),
)
"""Five launches of three repetitions that differ by half a percent or so."""

Launches = Sequence[Sequence[float]]


def samples(launches: Launches, metric: Metric = SPEED) -> tuple[Sample, ...]:
    """Return the samples of launches of one metric."""
    return tuple(
        Sample(metric=metric, value=value, launch=k, repetition=r)
        for k, values in enumerate(launches)
        for r, value in enumerate(values)
    )


def side(name: str, launches: Launches, *, metric: Metric = SPEED, **more: Any) -> Side:
    """Return a side whose launches measured these repetitions, interleaved with another side's."""
    turn = "baseline" if name == "baseline" else "candidate"
    order = tuple(k for k, whose in enumerate(alternating(len(launches))) if whose == turn)
    found = {"run": f"run-{name}", "item": name, "samples": samples(launches, metric), "order": order}
    return Side(**found | more)


def rules(**more: Any) -> Rules:
    """Return rules on the usual metric."""
    return Rules(**{"metric": SPEED} | more)


def scaled(by: float, launches: Launches = BASE) -> tuple[tuple[float, ...], ...]:
    """Return launches that measured `by` times as much, each a little off in its own way."""
    wobble = (1.002, 0.998, 1.001, 0.9985, 1.0005)
    return tuple(tuple(value * by * wobble[k % 5] for value in values) for k, values in enumerate(launches))


def flat(values: Sequence[float]) -> tuple[tuple[float, ...], ...]:
    """Return launches of one repetition each."""
    return tuple((value,) for value in values)

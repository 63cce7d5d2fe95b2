"""Made-up measuring sessions for the tests: two sides of launches and repetitions with known effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from optrack.core.judge import Rules, Side
from optrack.core.metrics import Metric, Sample, metric_named

SPEED = metric_named("output_throughput")
LATENCY = metric_named("mean_itl_ms")


def side(name: str, launches: Sequence[Sequence[float]], *, metric: Metric = SPEED, **more: Any) -> Side:
    """Return a side whose launches measured these repetitions, in ABBA order with another side."""
    second = name != "baseline"
    order = tuple(2 * k + (second != (k % 2 == 1)) for k in range(len(launches)))
    samples = tuple(
        Sample(metric=metric, value=value, launch=k, repetition=r)
        for k, values in enumerate(launches)
        for r, value in enumerate(values)
    )
    return Side(**{"run": f"run-{name}", "item": name, "samples": samples, "order": order} | more)


def rules(**more: Any) -> Rules:
    """Return rules on the usual metric."""
    return Rules(**{"metric": SPEED} | more)


BASE = ((88.1, 88.9, 88.4), (89.3, 88.7, 89.0), (88.0, 88.6, 88.2), (88.8, 89.1, 88.5), (88.3, 88.2, 88.7))


def scaled(by: float, launches: Sequence[Sequence[float]] = BASE) -> tuple[tuple[float, ...], ...]:
    """Return launches that measured `by` times as much, each a little off in its own way."""
    wobble = (1.002, 0.998, 1.001, 0.9985, 1.0005)
    return tuple(tuple(value * by * wobble[k % 5] for value in values) for k, values in enumerate(launches))

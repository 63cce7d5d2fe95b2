"""Samples of a run from what a benchmark or a guard printed."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from optrack.host.launch import StageFailed
from optrack.host.stretch import Stretch, tail_of
from optrack.judge.failures import plain_failure
from optrack.metrics.output import Parsed
from optrack.model.metrics import Sample

_LAST_BYTES = 2**20


def last_number(output: Stretch) -> float | None:
    """Return the last number in the end of what a command printed, or None."""
    found = re.findall(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", tail_of(output, _LAST_BYTES))
    return float(found[-1]) if found else None


def require_valid(samples: Sequence[Sample], primary: str) -> None:
    """Raise StageFailed if none of a first launch's samples is a measurement: further launches won't be either.

    Those of the primary metric count, or all where it wasn't found.
    """
    counting = [sample for sample in samples if sample.metric.name == primary] or samples
    whys = [_why_invalid(sample) for sample in counting]
    if all(whys):
        why = f"no repetition of the first launch is a valid measurement: {next(iter(whys), 'none was made')}"
        raise StageFailed("parse", "failed", plain_failure("invalid_result", why))


def _why_invalid(sample: Sample) -> str | None:
    return sample.invalid or not_finite(sample.value)


def not_finite(value: float) -> str | None:
    """Return why a value is no measurement, None if it is one."""
    return None if math.isfinite(value) else f"{value:g} is no finite number"


def samples_of(parsed: Parsed, launch: int, repetition: int, prefix: str = "") -> tuple[Sample, ...]:
    """Return what one pass measured as samples of the run."""
    return tuple(
        Sample(
            metric=reading.metric.model_copy(update={"name": prefix + reading.metric.name}),
            value=reading.value,
            launch=launch,
            repetition=repetition,
            invalid=parsed.invalid or not_finite(reading.value),
        )
        for reading in parsed.readings
    )

"""Metrics and their values: a name, a unit, a direction, and what one benchmark pass read."""

from __future__ import annotations

import math
import re
from statistics import fmean, geometric_mean
from typing import Literal

from optrack.model.value import Frozen

Better = Literal["higher", "lower"]

CHECK = "check."
"""Before the name of a guard, the metric name under which the numbers of its command are kept."""


class Metric(Frozen):
    """A named quantity; `better` is None where neither direction is an improvement (a count, say)."""

    name: str
    unit: str = ""
    better: Better | None = None


class Reading(Frozen):
    """One value of one metric from one benchmark pass; `value` may be NaN, which is never a measurement."""

    metric: Metric
    value: float

    @property
    def is_number(self) -> bool:
        """Whether the value can be computed with."""
        return math.isfinite(self.value)


class Sample(Frozen):
    """A reading with its place in the run: which launch, which repetition, and whether it counts.

    `launch` and `repetition` count from 0. `invalid` says why the pass is no measurement
    (failed requests, no completions, NaN); such samples are kept and shown, never judged.
    """

    metric: Metric
    value: float
    launch: int
    repetition: int
    invalid: str | None = None


class Series(Frozen):
    """The valid values of one metric over a run: one tuple of repetitions for each launch."""

    metric: Metric
    launches: tuple[tuple[float, ...], ...]

    @property
    def values(self) -> tuple[float, ...]:
        """All values, launch after launch."""
        return tuple(value for launch in self.launches for value in launch)

    @property
    def level(self) -> float:
        """The geometric mean of the launches' means, which effects compare; their mean if one isn't above zero."""
        try:
            means = [fmean(launch) for launch in self.launches]
            return geometric_mean(means) if min(means) > 0 else fmean(means)
        except OverflowError:
            return math.inf


_RATE = re.compile(
    r"(?<![a-z0-9])(?:tps|(?:[kmgt]i?b|bytes|tok|tokens?|req|requests?|it|iters?|items|samples|images|steps)_s"
    r"|[a-z]*_?per_(?:s|sec|seconds?))(?![a-z0-9])"
)
"""So much in a second. `ms_per_step` is no rate."""
_TIME = re.compile(
    r"_(?:ms|us|ns|s|sec|secs|seconds|minutes)$|(?<![a-z0-9])(?:ms|us|ns|s|sec|secs|seconds)_per_"
)
_HIGHER = re.compile(
    r"(?<![a-z0-9])(?:throughput|tput|goodput|bandwidth|busbw|algbw|speed|speedup|[kmgtp]?flops"
    r"|acc(?:ept(?:ed|ance)?)?_(?:len|length|rate))(?![a-z0-9])"
)
_LOWER = re.compile(
    r"(?<![a-z0-9])(?:latency|latencies|ttft|tpot|itl|e2el|time|time_us|inter_token)(?![a-z0-9])|_[gm]b$"
)
_UNITS = {
    "_tok_s": "tok/s",
    "_tok_per_s": "tok/s",
    "_tokens_per_s": "tok/s",
    "_tokens_per_second": "tok/s",
    "requests_per_second": "req/s",
    "token_throughput": "tok/s",
    "_per_s": "/s",
    "_ms": "ms",
    "_us": "us",
    "_ns": "ns",
    "_s": "s",
    "_gb": "GB",
    "_mb": "MB",
    "_w": "W",
    "_pct": "%",
    "_tflops": "TFLOP/s",
}
_NAMED_UNITS = {
    "output_throughput": "tok/s",
    "input_throughput": "tok/s",
    "total_throughput": "tok/s",
    "overall_throughput": "tok/s",
    "last_gen_throughput": "tok/s",
    "request_throughput": "req/s",
    "request_goodput": "req/s",
    "accept_length": "tokens",
    "completed": "requests",
    "failed": "requests",
    "duration": "s",
}
_NO_DIRECTION = (
    "duration",
    "completed",
    "failed",
    "concurrency",
    "max_concurrency",
    "max_concurrent_requests",
)
_SPREADS = re.compile(r"(?:^|_)(?:std|stddev)(?:_|$)")
_COUNTS = re.compile(r"^total_.*tokens(?:_retokenized)?$|_rounds$|_lines$")


def metric_named(name: str, *, unit: str | None = None, better: Better | None = None) -> Metric:
    """Return the metric called `name` with the unit and direction its name implies, unless they are given."""
    return Metric(
        name=name, unit=unit if unit is not None else _unit(name), better=better or _direction(name)
    )


def _unit(name: str) -> str:
    if name in _NAMED_UNITS:
        return _NAMED_UNITS[name]
    return next((unit for suffix, unit in _UNITS.items() if name.endswith(suffix)), "")


def _direction(name: str) -> Better | None:
    words = name.lower()
    if words in _NO_DIRECTION or _SPREADS.search(words) or _COUNTS.search(words):
        return None
    if _RATE.search(words):
        return "higher"
    if _TIME.search(words):
        return "lower"
    if _HIGHER.search(words):
        return "higher"
    return "lower" if _LOWER.search(words) else None


def series_of(samples: tuple[Sample, ...], name: str) -> Series | None:
    """Return the valid samples of metric `name`, grouped by launch in order; None if there are none."""
    mine = [s for s in samples if s.metric.name == name and s.invalid is None and math.isfinite(s.value)]
    if not mine:
        return None
    launches = sorted({s.launch for s in mine})
    grouped = tuple(
        tuple(s.value for s in sorted(mine, key=lambda s: s.repetition) if s.launch == launch)
        for launch in launches
    )
    return Series(metric=mine[0].metric, launches=grouped)


def means_of(samples: tuple[Sample, ...]) -> dict[str, float]:
    """Return the mean of each metric over its valid samples, by name."""
    names = dict.fromkeys(sample.metric.name for sample in samples)
    series = {name: series_of(samples, name) for name in names}
    return {name: fmean(found.values) for name, found in series.items() if found}

"""Metrics and their values: a name, a unit, a direction, and what one benchmark pass read."""

from __future__ import annotations

import math
import re
from functools import lru_cache
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


_NOUNS = {
    **dict.fromkeys(("tok", "toks", "token", "tokens", "t"), "tok"),
    **dict.fromkeys(("req", "reqs", "request", "requests", "query", "queries"), "req"),
    **dict.fromkeys(("op", "ops", "operations"), "ops"),
    **dict.fromkeys(("it", "iter", "iters", "iterations"), "it"),
    **{noun: noun for noun in ("items", "samples", "images", "steps", "rows", "events", "hits", "misses")},
    **{noun: noun for noun in ("transactions", "frames", "lines", "messages", "inf", "flop")},
    **dict.fromkeys(("b", "byte", "bytes"), "B"),
    **dict.fromkeys(("bit", "bits"), "bit"),
    **{f"{k}{i}{b}": f"{k.upper()}{i}B" for k in "kmgtp" for i in ("", "i") for b in ("b", "bytes")},
}
"""What is counted, by its spellings, as a unit shows it."""
_TIMES = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds", "millis"), "ms"),
    **dict.fromkeys(("us", "usec", "usecs", "microsecond", "microseconds", "micros"), "us"),
    **dict.fromkeys(("ns", "nsec", "nsecs", "nanosecond", "nanoseconds", "nanos"), "ns"),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("h", "hour", "hours"), "h"),
}
SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}
"""The length of each unit of time."""
SIZES = {"B": 1.0} | {
    f"{k}{i}B": (1024.0 if i else 1e3) ** n for n, k in enumerate("KMGT", 1) for i in ("", "i")
}
"""The bytes of each unit of size."""
_PLAIN_UNITS = {
    **dict.fromkeys(("%", "percent", "pct"), "%"),
    **dict.fromkeys(("rps", "qps"), "req/s"),
    **dict.fromkeys(("tps", "per sec", "per second", "per s", "#/sec", "/s", "/sec"), "/s"),
    **{
        unit.casefold(): unit
        for unit in ("W", "J", "MHz", "GHz", "GFLOP/s", "TFLOP/s", "x", "Mbit/s", "Gbit/s")
    },
    **{"tflops": "TFLOP/s", "gflops": "GFLOP/s", "mbps": "Mbit/s", "gbps": "Gbit/s", "watts": "W"},
    **dict.fromkeys(("token", "tokens"), "tokens"),
    **dict.fromkeys(("request", "requests"), "requests"),
    **{noun: noun for noun in ("iops", "count", "steps", "samples", "bytes")},
}
_PER = re.compile(r"(?P<what>#|[a-z]{1,20}\.?) ?(?:/|per) ?(?P<each>[a-z]{1,12})(?:/user)?")
_BITS = re.compile(r"([KMGT])b(?:its?)? ?(?:/ ?s(?:ec)?|ps)")
"""So spelled, a rate is in bits: `Gb/s`, never `GB/s` or `gb/s`, which people mean as bytes."""
_EACH = frozenset(
    "op ops iter iteration it loop step token tok request req call run query sample batch row".split()
)
"""What something is counted or timed for: `ns/op`, `ms per token`, `allocs/op`."""
_SINGULAR = frozenset({"t", "b", "token", "request", "query", "op", "byte", "bit"})
_UNIT_WORDS = "|".join(sorted(_NOUNS.keys() - _SINGULAR, key=len, reverse=True))
_RATE_END = re.compile(
    rf"(?:^|_)(?:(?P<what>{_UNIT_WORDS})_(?:per_)?|(?P<one>{'|'.join(sorted(_SINGULAR))})_per_|(?P<other>(?:[a-z0-9]+_)?per_))(?P<time>s|secs?|seconds?|min)$"
)
_TIME_END = re.compile(r"_(ms|us|ns|s|sec|secs|seconds|msec|usec|minutes)$")
_OTHER_ENDS = {
    "_gb": "GB",
    "_mb": "MB",
    "_gib": "GiB",
    "_mib": "MiB",
    "_w": "W",
    "_pct": "%",
    "_percent": "%",
}
_RATE = re.compile(
    rf"(?<![a-z0-9])(?:tps|rps|qps|iops|(?:{_UNIT_WORDS})_(?:s|sec)|[a-z]*_?per_(?:s|secs?|seconds?|min))(?![a-z0-9])"
)
"""So much in a second. `ms_per_step` is no rate."""
_TIME = re.compile(
    r"_(?:ms|us|ns|s|sec|secs|seconds|minutes)$|(?<![a-z0-9])(?:ms|us|ns|s|sec|secs|seconds)_per_"
)
_HIGHER = re.compile(
    r"(?<![a-z0-9])(?:throughput|tput|goodput|bandwidth|bw|busbw|algbw|speed|speedup|[kmgtp]?flops"
    r"|acc(?:ept(?:ed|ance)?)?_(?:len|length|rate))(?![a-z0-9])"
)
_LOWER = re.compile(
    r"(?<![a-z0-9])(?:latency|latencies|ttft|ttfr|tpot|itl|e2el|time|time_us|inter_token)(?![a-z0-9])|_[gm]b$"
)
_NAMED_UNITS = {
    "output_throughput": "tok/s",
    "input_throughput": "tok/s",
    "total_throughput": "tok/s",
    "overall_throughput": "tok/s",
    "last_gen_throughput": "tok/s",
    "request_throughput": "req/s",
    "request_goodput": "req/s",
    "accept_length": "tokens",
    "spec_decode_acceptance_length": "tokens",
    "spec_decode_acceptance_rate": "%",
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
_STATISTIC_END = re.compile(
    r"(?:(?<=_s)|(?<=_ms)|(?<=_us)|(?<=_ns))_(?:mean|median|avg|min|max|(?:quantiles_)?p\d+(?:_\d+)?)$"
)
_SPREADS = re.compile(r"(?:^|_)(?:std|stddev|stdev|sd|sem)(?:_|$)|^error(?:_|$)")
_TOKENS = re.compile(r"total_(?:.*_)?tokens(?:_retokenized)?")
_COUNTS = re.compile(
    r"^total_.*tokens(?:_retokenized)?$|_rounds$|_lines$|(?:^|_)(?:requests|responses|samples|count|errors|failures)$"
)
_UNWANTED = re.compile(
    r"(?<![a-z])(?:miss(?:es)?|errors?|fail(?:ed|ures?)?|timeouts?|drop(?:ped|s)?|retr(?:y|ies))(?![a-z])"
)
"""Of these, more in a second is no improvement."""


def metric_named(name: str, *, unit: str | None = None, better: Better | None = None) -> Metric:
    """Return the metric called `name` with the unit and direction its name implies, unless they are given."""
    return Metric(
        name=name, unit=unit if unit is not None else _unit(name), better=better or _direction(name)
    )


def rate_direction(name: str, unit: str) -> Better | None:
    """Return the direction that a unit gives: so much in a second is better higher, if it is something wanted."""
    if _SPREADS.search(name):
        return None
    if unit.partition("/")[0] in SECONDS and "/" in unit:
        return "lower"
    is_rate = unit.endswith(("/s", "/min")) or unit == "iops"
    return "higher" if is_rate and not _UNWANTED.search(name) else None


@lru_cache(maxsize=1024)
def unit_of(text: str) -> str | None:
    """Return a unit as optrack writes it (`tok/s` for `tokens/sec`), None for what is no unit that is known."""
    if len(text) > 40:
        return None
    if (bits := _BITS.fullmatch(text)) is not None:
        return f"{bits[1]}bit/s"
    folded = " ".join(text.casefold().replace("µ", "u").replace("μ", "u").split())
    if folded in _PLAIN_UNITS:
        return _PLAIN_UNITS[folded]
    if folded in _TIMES:
        return _TIMES[folded]
    rate = _PER.fullmatch(folded)
    if rate is None:
        size = _NOUNS.get(folded, "")
        return size if size.endswith("B") else None
    what, each = rate["what"].rstrip("."), rate["each"]
    if (time := _TIMES.get(each)) in ("s", "min", "h"):
        return f"/{time}" if what == "#" else f"{_NOUNS.get(what, what)}/{time}"
    if each not in _EACH or what == "#":
        return None
    return f"{_TIMES.get(what) or _NOUNS.get(what, what)}/{each.rstrip('s')}"


def _unit(name: str) -> str:
    if name in _NAMED_UNITS:
        return _NAMED_UNITS[name]
    name = _STATISTIC_END.sub("", name)
    rate = _RATE_END.search(name)
    if rate is not None:
        time, what = _TIMES[rate["time"]], rate["what"] or rate["one"]
        return f"{_NOUNS[what]}/{time}" if what else f"/{time}"
    if (time_end := _TIME_END.search(name)) is not None:
        return _TIMES[time_end[1]]
    if name.endswith("token_throughput"):
        return "tok/s"
    if name.endswith(("_tflops", "_gflops")):
        return f"{name[-6].upper()}FLOP/s"
    if _TOKENS.fullmatch(name):
        return "tokens"
    return next((unit for suffix, unit in _OTHER_ENDS.items() if name.endswith(suffix)), "")


def _direction(name: str) -> Better | None:
    words = _STATISTIC_END.sub("", name.lower())
    if words in _NO_DIRECTION or _SPREADS.search(words) or _COUNTS.search(words):
        return None
    if _RATE.search(words):
        return None if _UNWANTED.search(words) else "higher"
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

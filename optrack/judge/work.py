"""Whether both sides did the same work and were measured alike: requests, tokens, settings, the benchmark itself.

What a benchmark prints is either performance or work. Work has to agree between the sides and among their passes,
within 2% where a tool draws it at random. Where a pass is limited by time, the number of requests done is the effect,
and what one request is remains work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import Any, NamedTuple

from optrack.judge.instrument import SUBJECT, blocking, instrument_differences, unit_differences
from optrack.model.judgement import Difference
from optrack.model.metrics import Metric
from optrack.model.run import Run
from optrack.model.snapshot import BenchWork
from optrack.model.wording import listed

AT_RANDOM = 0.02
"""The fraction by which work that is drawn at random may differ."""

_COUNTS = ("completed", "successful_requests", "total_requests", "requests", "num_requests")
_SIZES = {
    "input tokens": ("total_input_tokens", "total_prompt_tokens", "prompt_tokens", "input_tokens"),
    "generated tokens": (
        *("total_output_tokens", "total_generated_tokens", "total_completion_tokens"),
        *("generated_tokens", "completion_tokens", "output_tokens"),
    ),
}
_DURATIONS = ("duration", "benchmark_duration_s", "duration_s", "total_s", "elapsed_s", "elapsed_seconds")
_NAMES_OF_THE_SERVER = frozenset({"model", "model_id", "tokenizer_id"})
"""Settings that name what is served, which the server's own evidence tells better."""
_SEEDS = frozenset({"seed", "random_seed"})
_TIMED = re.compile(
    r"--(?:duration|max-(?:seconds|duration|time)|run-time|time|runtime|measurement-interval|benchmark-duration)\b"
    r"|\b(?:wrk2?|k6|locust)\b|\b(?:hey|oha)\b.*\s-z|\bab\b.*\s-t|\bpgbench\b.*\s-T"
)


class _Passes(NamedTuple):
    """The valid values of each metric of one benchmark, pass after pass, on one side."""

    values: Mapping[str, Sequence[float]]

    def of(self, names: Sequence[str]) -> Sequence[float]:
        return next((self.values[name] for name in names if name in self.values), ())


def work_differences(
    candidate: Run, baseline: Run, metric: Metric, wanted_unit: str
) -> tuple[Difference, ...]:
    """Return where two runs were measured otherwise or did other work, what only may be so as `unknown`.

    `metric` is the plan's, `wanted_unit` the unit that the plan itself names, empty where it names none.
    """
    found = [
        *instrument_differences(candidate.recipe, baseline.recipe, metric.name),
        *_settings(_work_of(candidate), _work_of(baseline), bool(_changed_server(candidate, baseline))),
        *_amounts(candidate, baseline, metric.name),
    ]
    if candidate.recipe.get("subject") == SUBJECT:
        declared = {"cls": "declared", "severity": "note"}
        found = [difference.model_copy(update=declared) for difference in found]
    return (
        *found,
        *unit_differences(candidate, baseline, metric.name, wanted_unit),
        *_unseen(candidate, baseline),
    )


def _settings(
    ours: Mapping[str, BenchWork], theirs: Mapping[str, BenchWork], is_other_server: bool
) -> Iterator[Difference]:
    """Yield the settings that the two sides' tools repeat otherwise."""
    for bench in sorted(ours.keys() & theirs.keys()):
        after, before = ours[bench].settings, theirs[bench].settings
        if not after or not before:
            continue
        for name in sorted((after.keys() | before.keys()) - _NAMES_OF_THE_SERVER):
            now, was = after.get(name), before.get(name)
            drawn = name in _SEEDS and isinstance(now, list) and isinstance(was, list)
            if _set_of(now) == _set_of(was) or drawn or (is_other_server and name in ("backend", "endpoint")):
                continue
            what = f"{_shown(was)} in the baseline's passes and {_shown(now)} in the candidate's"
            meaning = f"The sides did different work: {name} was {what}."
            yield blocking(f"work.{bench}.settings.{name}", was, now, meaning)


def _amounts(candidate: Run, baseline: Run, metric: str) -> Iterator[Difference]:
    """Yield how many requests, and of which size, the two sides did otherwise."""
    work = {**_work_of(baseline), **_work_of(candidate)}
    for bench, prefix in _prefixes(candidate, baseline):
        ours, theirs = _passes(candidate, prefix), _passes(baseline, prefix)
        settings = work[bench].settings if bench in work else {}
        is_timed = _is_timed(candidate.recipe, bench, settings, ours, theirs)
        counts = [side.of([n for n in _COUNTS if prefix + n != metric]) for side in (theirs, ours)]
        if not is_timed and all(counts):
            yield from _compared(f"work.{bench}.requests", "requests a pass", counts)
        for what, names in _SIZES.items():
            totals = [side.of([n for n in names if prefix + n != metric]) for side in (theirs, ours)]
            sizes = [_each(total, count) for total, count in zip(totals, counts, strict=True)]
            if all(sizes):
                yield from _compared(f"work.{bench}.{what.replace(' ', '_')}", f"{what} a request", sizes)
            elif all(totals) and not is_timed:
                yield from _compared(f"work.{bench}.{what.replace(' ', '_')}", f"{what} a pass", totals)


def _compared(field: str, what: str, sides: Sequence[Sequence[float]]) -> Iterator[Difference]:
    """Yield that an amount of work (baseline's passes, candidate's) isn't the same between or among them."""
    before, after = fmean(sides[0]), fmean(sides[1])
    if _apart(before, after):
        sides_said = f"{before:,.4g} {what} in the baseline and {after:,.4g} in the candidate"
        meaning = f"The sides did different work: {sides_said}."
        yield blocking(field, before, after, meaning)
        return
    for whose, values in zip(("baseline", "candidate"), sides, strict=True):
        middle = median(values)
        if any(_apart(middle, value) for value in values):
            spread = f"{min(values):,.4g} to {max(values):,.4g}"
            meaning = f"The passes of the {whose}'s run did different work: {spread} {what}."
            yield blocking(field, before, after, meaning)
            return


def _apart(one: float, other: float) -> bool:
    return abs(one - other) > AT_RANDOM * max(abs(one), abs(other))


def _each(totals: Sequence[float], counts: Sequence[float]) -> list[float]:
    if len(totals) != len(counts):
        return []
    return [total / count for total, count in zip(totals, counts, strict=True) if count]


def _is_timed(
    recipe: Mapping[str, Any], bench: str, settings: Mapping[str, Any], ours: _Passes, theirs: _Passes
) -> bool:
    """Whether a pass is limited by time: its tool or command says so, or its requests vary while its length doesn't.

    A number of requests that was asked for is the same in each pass of a side.
    """
    if any(name in settings for name in ("duration", "max_seconds")):
        return True
    text = _text_of(recipe.get("bench"), bench)
    if _TIMED.search(text):
        return True
    if "num_prompts" in settings or "completed" in ours.values:
        return False
    counts = [side.of(_COUNTS) for side in (ours, theirs)]
    lengths = [*ours.of(_DURATIONS), *theirs.of(_DURATIONS)]
    if lengths and max(lengths) <= (1 + AT_RANDOM) * min(lengths):
        return True
    return not lengths and any(len(set(side)) > 1 for side in counts)


def _text_of(bench: Any, name: str) -> str:
    """Return the words of a benchmark's recipe: its command, or its arguments as options."""
    if isinstance(bench, Mapping):
        inner = bench.get(name)
        if isinstance(inner, (str, Mapping)) and "tool" not in bench and "command" not in bench:
            return _text_of(inner, name)
        return " ".join(
            f"--{key.replace('_', '-')} {value}" if key != "command" else str(value)
            for key, value in bench.items()
        )
    return str(bench or "")


def _unseen(candidate: Run, baseline: Run) -> Iterator[Difference]:
    """Yield what couldn't be told of the passes: whether requests failed, whether they reached the server."""
    sides = {"baseline": _work_of(baseline), "candidate": _work_of(candidate)}
    for bench in sorted({bench for work in sides.values() for bench in work}):
        unread = {
            side: work[bench].unread for side, work in sides.items() if bench in work and work[bench].unread
        }
        if unread:
            line = next(iter(unread.values()))[0]
            meaning = (
                f"Whether requests failed in the passes of the {listed(list(unread))} can't be told from '{line}': let "
                f"the benchmark print `Failed requests: N`, or `optrack accept work.{bench}.failed`."
            )
            yield blocking(f"work.{bench}.failed", None, None, meaning, cls="unknown")
        unseen = {
            side: work[bench].unseen for side, work in sides.items() if bench in work and work[bench].unseen
        }
        if unseen:
            meaning = f"Of the {listed(list(unseen))}: {next(iter(unseen.values()))}"
            yield blocking(f"work.{bench}.server", None, None, meaning, cls="unknown")


def _prefixes(candidate: Run, baseline: Run) -> list[tuple[str, str]]:
    """Return the benchmarks' names, each with what stands before the names of its metrics."""
    names = sorted(_work_of(candidate).keys() | _work_of(baseline).keys())
    return [(name, f"{name}." if len(names) > 1 else "") for name in names or ["bench"]]


def _passes(run: Run, prefix: str) -> _Passes:
    values: dict[str, list[float]] = {}
    for sample in run.samples:
        if sample.invalid is None and sample.metric.name.startswith(prefix):
            values.setdefault(sample.metric.name.removeprefix(prefix), []).append(sample.value)
    return _Passes(values)


def _work_of(run: Run) -> dict[str, BenchWork]:
    work = run.snapshot.work if run.snapshot is not None else None
    return {name: about for name, about in (work or {}).items() if isinstance(about, BenchWork)}


def _changed_server(candidate: Run, baseline: Run) -> bool:
    return any(
        candidate.recipe.get(key) != baseline.recipe.get(key) for key in ("engine", "launch", "server")
    )


def _set_of(value: Any) -> set[Any]:
    return set(value) if isinstance(value, (list, tuple)) else {value}


def _shown(value: Any) -> str:
    if value is None:
        return "not told"
    return " or ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)

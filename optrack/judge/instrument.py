"""Whether both sides were measured with one instrument: the same benchmark, the metric read alike, in one unit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from optrack.model.judgement import Difference
from optrack.model.metrics import Sample, unit_of
from optrack.model.recipe import recipe_from
from optrack.model.run import Run
from optrack.model.treatment import leaf_paths

SUBJECT = "workload"
"""The recipe's `subject` that makes the work, and how it is measured, part of the treatment."""


def instrument_differences(
    candidate: Mapping[str, Any], baseline: Mapping[str, Any], metric: str
) -> Iterator[Difference]:
    """Yield what of the benchmark, and of how the primary metric is read, the recipes have otherwise."""
    if _benches(candidate, metric) != _benches(baseline, metric):
        yield _instrument_difference("bench", candidate.get("bench"), baseline.get("bench"), metric)
    names = _sources(metric, candidate) | _sources(metric, baseline)
    ours, theirs = leaf_paths(candidate), leaf_paths(baseline)
    for path in sorted(ours.keys() | theirs.keys()):
        is_source = path[0] in ("metrics", "derived") and len(path) > 1 and path[1] in names
        if is_source and ours.get(path) != theirs.get(path):
            yield _instrument_difference(".".join(path), ours.get(path), theirs.get(path), metric)


def _instrument_difference(field: str, ours: Any, theirs: Any, metric: str) -> Difference:
    what = "benchmark" if field == "bench" else f"way in which {metric} is read (`{field}`)"
    meaning = (
        f"The recipe changes the {what}: two measuring instruments, so no verdict on speed. Say `subject: {SUBJECT}` "
        "in the item's recipe if the work itself is what it tries."
    )
    return blocking(field, theirs, ours, meaning)


def _benches(recipe: Mapping[str, Any], metric: str) -> Any:
    """Return the benchmarks that give the metric, whole."""
    try:
        benches = recipe_from(recipe).bench
    except ValueError:
        return recipe.get("bench")
    mine = [bench for bench in benches if metric.startswith(f"{bench.name}.")]
    return mine or list(benches)


def _sources(metric: str, recipe: Mapping[str, Any]) -> set[str]:
    """Return the metric with those that its expression is computed from."""
    names = {metric}
    expressions = recipe.get("derived") or {}
    for _ in expressions:
        texts = [str(expressions[name]) for name in names if name in expressions]
        names |= {word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text)}
    return names


def unit_differences(candidate: Run, baseline: Run, metric: str, wanted: str) -> Iterator[Difference]:
    """Yield that the primary metric was measured in another unit than the plan says, or than the other side."""
    units = [_unit(run.samples, metric) for run in (baseline, candidate)]
    for unit in units:
        if wanted and unit and _plain_unit(unit) != _plain_unit(wanted):
            meaning = (
                f"{metric} was measured in {unit}, and the plan says {wanted}, so no verdict rests on it."
            )
            yield blocking("metric.unit", units[0], units[1], meaning)
            return
    if all(units) and _plain_unit(units[0]) != _plain_unit(units[1]):
        meaning = f"{metric} was measured in {units[0]} in the baseline and in {units[1]} in the candidate."
        yield blocking("metric.unit", units[0], units[1], meaning)


def _unit(samples: Sequence[Sample], metric: str) -> str:
    return next((s.metric.unit for s in samples if s.metric.name == metric and s.metric.unit), "")


def _plain_unit(unit: str) -> str:
    return unit_of(unit) or unit.casefold()


def blocking(
    field: str, baseline: Any, candidate: Any, meaning: str, *, cls: str = "unexplained"
) -> Difference:
    """Return a difference that allows no verdict: known to be there, or as `unknown` perhaps."""
    return Difference.model_validate(
        {"field": field, "baseline": baseline, "candidate": candidate, "meaning": meaning}
        | {"cls": cls, "severity": "blocking"}
    )

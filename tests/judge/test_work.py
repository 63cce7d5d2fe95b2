"""Two sides are compared only where they did the same work, measured with one instrument."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from optrack.judge.difference import comparison
from optrack.judge.work import work_differences
from optrack.model.metrics import Metric, Sample, metric_named
from optrack.model.run import Run
from optrack.model.snapshot import Snapshot

METRIC = metric_named("output_throughput")


def run(
    passes: Sequence[Mapping[str, float]], *, unit: str | None = None, work: Any = None, **recipe: Any
) -> Run:
    """Return a run with these passes, one launch each, of a recipe with a benchmark."""
    samples = [
        Sample(
            metric=metric_named(name, unit=unit if name == METRIC.name else None),
            value=v,
            launch=n,
            repetition=0,
        )
        for n, values in enumerate(passes)
        for name, v in ({METRIC.name: 90.0} | dict(values)).items()
    ]
    return Run(
        id="r",
        plan="p",
        item="1",
        host="h",
        started_at=datetime(2026, 3, 1, tzinfo=UTC),
        samples=tuple(samples),
        recipe={"bench": "bash bench.sh"} | recipe,
        snapshot=Snapshot(work={"bench": {"settings": {}} | (work or {})}),
    )


def judged(candidate: Run, baseline: Run, unit: str = "", metric: Metric = METRIC) -> str:
    return comparison(work_differences(candidate, baseline, metric, unit))


SAME = [{"completed": 64, "total_input_tokens": 8192, "total_output_tokens": 8192}] * 3
TIMED = [{"requests": float(n), "duration": 10.0} for n in (500, 502, 498)]


@pytest.mark.parametrize(
    ("passes", "other", "recipe", "is_fair"),
    [
        (SAME, SAME, {}, True),
        (SAME, [{**SAME[0], "completed": 32}] * 3, {}, False),
        (SAME, [{**SAME[0], "total_output_tokens": 1024}] * 3, {}, False),
        (SAME, [{**SAME[0], "total_input_tokens": 9000}] * 3, {}, False),
        (SAME, [*SAME[:2], {**SAME[0], "completed": 32, "total_output_tokens": 4096}], {}, False),
        (SAME, [{**SAME[0], "total_output_tokens": 8192.0 + n} for n in (90, -60, 20)], {}, True),
        (SAME, [{**SAME[0], "duration": 4.0}] * 3, {}, True),
        (TIMED, [{"requests": 1.1 * p["requests"], "duration": 10.0} for p in TIMED], {}, True),
        ([{"requests": 64}] * 3, [{"requests": 32}] * 3, {}, False),
        ([{"completed": 64, "total_output_tokens": 640}] * 3, [{"completed": 80, "total_output_tokens": 800}] * 3,
         {"bench": "python load.py --duration 10"}, True),
        ([{"completed": 64, "total_output_tokens": 640}] * 3, [{"completed": 80, "total_output_tokens": 200}] * 3,
         {"bench": "python load.py --duration 10"}, False),
        ([{"total_output_tokens": 640}] * 3, [{"total_output_tokens": 320}] * 3, {}, False),
    ],
)  # fmt: skip
def test_the_amount_of_work_decides(passes: Any, other: Any, recipe: dict[str, Any], is_fair: bool) -> None:
    both = run(other, **recipe), run(passes, **recipe)
    assert judged(*both) == ("fair" if is_fair else "unfair")
    assert judged(*both[::-1]) == ("fair" if is_fair else "unfair")
    studied = run(other, **recipe, subject="workload")
    assert judged(studied, both[1]) == "fair"


@pytest.mark.parametrize(
    ("was", "now", "is_fair"),
    [
        ({"num_prompts": 64}, {"num_prompts": 64}, True),
        ({"num_prompts": 64}, {"num_prompts": 32}, False),
        ({"dataset_name": "random"}, {"dataset_name": "sharegpt"}, False),
        ({"seed": 1}, {"seed": 2}, False),
        ({"seed": [1, 2, 3]}, {"seed": [4, 5, 6]}, True),
        ({"max_concurrency": 8}, {"max_concurrency": 16}, False),
        ({"model": "served-1"}, {"model": "served-2"}, True),
        ({"num_prompts": [64, 32]}, {"num_prompts": [32, 64]}, True),
        ({}, {"seed": 1}, True),
    ],
)
def test_what_a_tool_repeats_of_its_arguments_decides(was: Any, now: Any, is_fair: bool) -> None:
    sides = run(SAME, work={"settings": now}), run(SAME, work={"settings": was})
    assert judged(*sides) == ("fair" if is_fair else "unfair")


RULE = {"regex": "a = (.*)"}


@pytest.mark.parametrize(
    ("candidate", "baseline", "is_fair"),
    [
        ({"bench": "bash bench.sh --num-prompts 32"}, {}, False),
        ({"bench": {"command": "bash bench.sh"}}, {}, True),
        ({"metrics": {METRIC.name: {"regex": "b = (.*)"}}}, {"metrics": {METRIC.name: RULE}}, False),
        ({"metrics": {METRIC.name: {**RULE, "unit": "ms"}}}, {"metrics": {METRIC.name: RULE}}, False),
        ({"metrics": {"other": {"regex": "b"}, METRIC.name: RULE}}, {"metrics": {METRIC.name: RULE}}, True),
        ({"derived": {METRIC.name: "other * 2"}}, {"derived": {METRIC.name: "other * 3"}}, False),
        ({"env": {"A": "1"}, "launch": "x"}, {"launch": "y"}, True),
        ({"repetitions": 5}, {}, True),
    ],
)
def test_two_measuring_instruments_allow_no_verdict(candidate: Any, baseline: Any, is_fair: bool) -> None:
    theirs = run(SAME, **baseline)
    assert judged(run(SAME, **candidate), theirs) == ("fair" if is_fair else "unfair")
    assert judged(run(SAME, **candidate, subject="workload"), theirs) == "fair"


@pytest.mark.parametrize(
    ("measured", "wanted", "is_fair"),
    [
        (("tok/s", "tok/s"), "tokens/s", True),
        (("ms", "ms"), "tok/s", False),
        (("ms", "s"), "", False),
        (("", ""), "pt", True),
    ],
)
def test_a_metric_has_the_unit_that_the_plan_says(
    measured: tuple[str, str], wanted: str, is_fair: bool
) -> None:
    sides = run(SAME, unit=measured[0]), run(SAME, unit=measured[1])
    assert judged(*sides, unit=wanted) == ("fair" if is_fair else "unfair")


def test_what_cannot_be_told_of_the_passes_leaves_a_comparison_unknown() -> None:
    assert judged(run(SAME, work={"unread": ["x: 34"]}), run(SAME)) == "unknown"
    assert judged(run(SAME), run(SAME, work={"unseen": "no connection could be seen."})) == "unknown"

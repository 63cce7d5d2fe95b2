"""`plan check` says what nothing measures, and what an engine or parser would refuse."""

from __future__ import annotations

import pytest

from optrack.app.plan_check import check
from optrack.app.plan_problems import plan_problems
from tests.plan.plans import read

_SERVING = "bench: {tool: sglang.bench_serving, num-prompts: 8}"


def plan(metric: str, recipe: str) -> str:
    head = f"---\ntitle: T\nmetric: {metric}\n---\n# T\n```yaml recipe\n{recipe}\n```\n"
    return f"{head}## 1A: One\n```yaml recipe\nenv: {{A: 1}}\n```\n"


def said(text: str) -> list[tuple[str, int, int, str, str | None]]:
    return [(p.severity, p.line, p.column, p.message, p.hint) for p in check(read(text))]


def test_a_metric_that_the_tool_does_not_give_is_warned_about_with_the_nearest() -> None:
    recipe = f"engine: sglang\n{_SERVING}"
    assert said(plan("output_throughputt", recipe)) == [
        (
            "warning",
            3,
            1,
            "the metric `output_throughputt` is none that `sglang.bench_serving` is known to give",
            "did you mean `output_throughput`?",
        )
    ]


def test_a_direction_against_the_metrics_name_is_warned_about() -> None:
    recipe = f"engine: sglang\n{_SERVING}"
    found = said(plan("{name: median_tpot_ms, better: higher}", recipe))
    assert [(severity, line) for severity, line, *_ in found] == [("warning", 3)]
    assert "`median_tpot_ms` is usually better lower" in found[0][3]
    assert said(plan("{name: median_tpot_ms, better: lower}", recipe)) == []


@pytest.mark.parametrize(
    "metric", ["output_throughput", "p99_ttft_ms", "p42_itl_ms", "gen_throughput", "mine", "twice"]
)
def test_metrics_of_tool_log_rules_and_derivations_are_known(metric: str) -> None:
    recipe = (
        f"engine: sglang\n{_SERVING}\nmetrics: {{mine: {{regex: 'x (.*)'}}}}\nderived: {{twice: 2 * mine}}"
    )
    assert said(plan(metric, recipe)) == []


def test_nothing_is_said_where_the_benchmark_is_shell_text_of_unknown_output() -> None:
    assert said(plan("anything", "bench: python bench.py")) == []


def test_metrics_of_several_benchmarks_have_the_benchmark_before_them() -> None:
    benches = "engine: vllm\nbench:\n  short: {tool: vllm.bench_serve}\n  long: {tool: vllm.bench_serve}"
    assert said(plan("short.mean_tpot_ms", benches)) == []
    assert "did you mean `long.mean_tpot_ms`?" in (said(plan("lnog.mean_tpot_ms", benches))[0][4] or "")


def test_a_derived_metric_that_cannot_be_read_is_an_error_with_its_place() -> None:
    found = said(plan("x", "bench: b\nderived:\n  x: 2 *\n  y: 3 * open('f')"))
    assert [(kind, line, column) for kind, line, column, _, _ in found] == [("error", 9, 3), ("error", 10, 3)]


def test_a_derived_metric_of_what_nothing_measures_is_warned_about() -> None:
    found = said(
        plan("output_throughput", f"engine: sglang\n{_SERVING}\nderived:\n  x: baseline.otput / p99_ttft_ms")
    )
    assert [(kind, line, text) for kind, line, _, text, _ in found] == [
        ("warning", 10, "derived metric `x`: nothing measures otput")
    ]


@pytest.mark.parametrize(
    ("recipe", "line", "words"),
    [
        ("engine: sglnag\nbench: b", 7, "unknown engine 'sglnag'"),
        ("engine: sglang\nbench:\n  tool: sglang.bench_servng", 9, "no benchmark 'sglang.bench_servng'"),
        ("bench:\n  command: b\n  parser: pyprf", 9, "unknown parser 'pyprf'"),
    ],
)
def test_an_engine_tool_or_parser_that_is_not_there_is_an_error(recipe: str, line: int, words: str) -> None:
    errors = [p for p in plan_problems(read(plan("mine", recipe)), "python3") if p.severity == "error"]
    assert [(p.line, words in p.message) for p in errors] == [(line, True)]


def test_what_an_engine_would_ignore_is_a_warning_at_its_key() -> None:
    found = plan_problems(read(plan("mine", "launch: x\nbench: b\nserver: {tp: 8}")), "python3")
    ignored = [(p.severity, p.line) for p in found if "means nothing to engine" in p.message]
    assert ignored == [("warning", 9)]

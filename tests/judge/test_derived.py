"""Derived metrics: the campaign's arithmetic, and nothing that isn't arithmetic."""

from __future__ import annotations

import pytest

from optrack.judge.derived import derive, expression_problem

OWN = {"output_throughput": 71.3, "verify_ms": 29.9, "accept_length": 2.0, "power_w": 2400.0}
BASELINE = {"output_throughput": 90.0}


def one(expression: str) -> float | None:
    return derive({"x": expression}, OWN, BASELINE)[0].value


def test_the_break_even_accepted_length_is_the_baselines_rate_times_the_cycle() -> None:
    assert one("baseline.output_throughput * verify_ms / 1000") == pytest.approx(2.69, abs=0.005)


def test_the_best_case_and_tokens_per_joule() -> None:
    assert one("accept_length / (12 / 1000)") == pytest.approx(166.7, abs=0.1)
    assert one("output_throughput / power_w") == pytest.approx(0.0297, abs=0.0001)


def test_a_later_metric_may_use_an_earlier_one() -> None:
    found = derive({"cycle_s": "verify_ms / 1000", "best": "max(accept_length, 3) / cycle_s"}, OWN, BASELINE)
    assert found[1].value == pytest.approx(100.33, abs=0.01)


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('true')",
        "().__class__",
        "baseline.__class__",
        "baseline._means",
        "open('x')",
        "[1 for x in range(9)]",
        "lambda: 1",
        "'a' * 3",
        "9 ** 9 ** 9",
        "x = 1",
        "1 +",
        "",
    ],
)
def test_what_is_not_arithmetic_has_a_problem_and_no_value(expression: str) -> None:
    found = derive({"x": expression}, OWN, BASELINE)[0]
    assert found.value is None
    assert found.problem


def test_what_has_no_finite_value_has_a_problem() -> None:
    for expression in ("1 / 0", "log(-1)", "missing_ms * 2", "baseline.missing", "exp(5000)", "sqrt(0 - 1)"):
        found = derive({"x": expression}, OWN, BASELINE)[0]
        assert found.value is None and found.problem, expression
    nan = derive({"x": "bad * 2"}, {"bad": float("nan")}, {})[0]
    assert nan.value is None and nan.problem


def test_what_was_not_measured_is_named() -> None:
    found = derive({"x": "verify_ms - baseline.verify_ms", "y": "a + b"}, OWN, BASELINE)
    assert [one.problem for one in found] == ["baseline.verify_ms has no value", "a and b have no value"]


def test_an_expression_is_checked_before_anything_was_measured() -> None:
    known = {"output_throughput", "verify_ms"}
    assert expression_problem("baseline.output_throughput * verify_ms / 1000", known) is None
    assert expression_problem("log(verify_ms - output_throughput)", known) is None
    assert expression_problem("verify_mss * 2", known) == "nothing measures verify_mss"
    assert expression_problem("2 *") == "'2 *' isn't an expression."
    assert expression_problem("system('x')") is not None

"""Guards: a faster server that is wrong, or slow elsewhere, is a regression."""

from __future__ import annotations

from typing import Any

import pytest

from optrack.judge.judging import judge
from optrack.model.judgement import Judgement
from optrack.model.recipe_parts import Check
from tests.judge.session import BASE, LATENCY, flat, rules, samples, scaled, side

GSM8K = {"gsm8k": Check(command="python eval.py", min=0.92)}
TTFT = {"latency": Check(metric="mean_itl_ms", worse=0.05)}
ITL = flat([12.0, 12.1, 11.9, 12.05, 11.95])


def guarded(guards: dict[str, Check], itl: float = 1.0, **more: Any) -> Judgement:
    slower = tuple(tuple(value * itl for value in values) for values in ITL)
    return judge(
        side("1B", (), samples=samples(scaled(1.1)) + samples(slower, LATENCY), **more),
        side("baseline", (), samples=samples(BASE) + samples(ITL, LATENCY)),
        rules(guards=guards, interleaved=True),
        comparison="fair",
        factors={"env.A": ("1", "2")},
    )


def test_a_kept_guard_leaves_the_verdict_and_is_named() -> None:
    judgement = guarded(GSM8K | TTFT, checks={"gsm8k": (0.94, 0.93)})
    assert judgement.verdict == "improvement"
    assert [guard.state for guard in judgement.guards] == ["kept", "kept"]
    assert any("gsm8k is 0.935" in reason for reason in judgement.reasons)


def test_a_quality_below_its_bound_is_a_regression_whatever_the_speed() -> None:
    judgement = guarded(GSM8K, checks={"gsm8k": (0.90,)})
    assert judgement.verdict == "regression"
    assert "gsm8k is broken" in judgement.reasons[0]
    assert any("below the 0.92" in reason for reason in judgement.reasons)


def test_a_latency_that_grew_too_much_is_a_regression() -> None:
    judgement = guarded(TTFT, itl=1.12)
    assert judgement.verdict == "regression"
    assert any("may not get worse by more than 5%" in reason for reason in judgement.reasons)


def test_a_latency_that_grew_within_its_bound_is_kept() -> None:
    assert guarded(TTFT, itl=1.02).verdict == "improvement"


def test_a_latency_that_fell_breaks_no_guard() -> None:
    assert guarded(TTFT, itl=0.7).verdict == "improvement"


def test_a_guard_without_a_number_allows_no_improvement() -> None:
    judgement = guarded(GSM8K)
    assert judgement.verdict == "inconclusive"
    assert judgement.guards[0].state == "missing"


def test_nan_keeps_no_guard() -> None:
    assert guarded(GSM8K, checks={"gsm8k": (float("nan"),)}).guards[0].state == "missing"


def test_a_metric_may_have_a_bound_of_its_own() -> None:
    bound = {"mean_itl_ms": Check(metric="mean_itl_ms", max=12.5)}
    assert guarded(bound).guards[0].state == "kept"
    judgement = guarded(bound, itl=1.1)
    assert (judgement.verdict, judgement.guards[0].state) == ("regression", "broken")


def test_too_noisy_a_guard_is_unclear_and_allows_no_improvement() -> None:
    noisy = flat([12.0, 15.5, 11.0, 14.9, 12.0])
    judgement = judge(
        side("1B", (), samples=samples(scaled(1.1)) + samples(noisy, LATENCY)),
        side("baseline", (), samples=samples(BASE) + samples(ITL, LATENCY)),
        rules(guards=TTFT),
        comparison="fair",
        factors={"env.A": ("1", "2")},
    )
    assert (judgement.verdict, judgement.guards[0].state) == ("inconclusive", "unclear")


def against(theirs: dict[str, Any], own: dict[str, Check], was: float, now: tuple[float, ...]) -> Judgement:
    """Return the judgement of a candidate that is 10% faster, against a baseline with checks of its own."""
    return judge(
        side("1B", (), samples=samples(scaled(1.1)) + samples(ITL, LATENCY), checks={"gsm8k": now}),
        side("baseline", BASE, recipe={"check": theirs}, checks={"gsm8k": (was,)}),
        rules(guards=own, interleaved=True),
        comparison="fair",
        factors={"env.A": ("1", "2")},
    )


EVAL = {"command": "python eval.py", "min": 0.92}


@pytest.mark.parametrize(
    ("theirs", "own", "was", "now", "verdict"),
    [
        ({"gsm8k": EVAL}, GSM8K, 0.95, (0.94,), "improvement"),
        ({"gsm8k": EVAL}, {}, 0.95, (), "inconclusive"),
        ({"gsm8k": EVAL}, GSM8K, 0.80, (0.81,), "inconclusive"),
        ({"gsm8k": EVAL}, GSM8K, 0.95, (0.80,), "regression"),
        ({"gsm8k": EVAL}, {"gsm8k": Check(command="python eval.py", min=0.5)}, 0.95, (0.80,), "regression"),
        ({"gsm8k": EVAL}, {"gsm8k": Check(command="echo 1", min=0.92)}, 0.95, (1.0,), "inconclusive"),
        ({"tail": {"metric": "mean_itl_ms", "max": 5}}, {}, 0.95, (), "regression"),
        ({}, GSM8K, 0.95, (0.94,), "improvement"),
    ],
)
def test_a_candidate_is_held_to_the_checks_of_the_baseline(
    theirs: dict[str, Any], own: dict[str, Check], was: float, now: tuple[float, ...], verdict: str
) -> None:
    assert against(theirs, own, was, now).verdict == verdict


def test_a_dropped_check_and_one_that_both_sides_break_are_told_as_such() -> None:
    assert any(
        "drops the baseline's check gsm8k" in r for r in against({"gsm8k": EVAL}, {}, 0.95, ()).reasons
    )
    both = against({"gsm8k": EVAL}, GSM8K, 0.80, (0.81,)).reasons
    assert any("the baseline breaks it, too" in reason for reason in both)
    assert len(both) == len(set(both))

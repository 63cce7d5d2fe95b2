"""The verdict on a fair comparison: what the numbers can carry, and no more."""

from __future__ import annotations

import math
from typing import Any

import pytest

from optrack.judge.evidence import History
from optrack.judge.judging import judge
from optrack.judge.verdict import verdict_of
from optrack.model.judgement import Effect, Judgement
from optrack.model.metrics import Metric, Sample
from tests.judge.session import BASE, LATENCY, SPEED, flat, rules, samples, scaled, side

FACTORS = {"env.NCCL_MAX_NCHANNELS": ("16", "2")}


def fair(by: float, launches: int = 5, **more: Any) -> Judgement:
    return judge(
        side("1B", scaled(by)[:launches]),
        side("baseline", BASE[:launches]),
        rules(**more),
        comparison="fair",
        factors=FACTORS,
    )


def test_a_clear_gain_is_an_improvement_credited_to_its_factor() -> None:
    judgement = fair(1.08)
    assert judgement.verdict == "improvement"
    assert judgement.effect is not None
    assert judgement.effect.low < 0.08 < judgement.effect.high
    assert judgement.attribution.factors == ("env.NCCL_MAX_NCHANNELS",)
    assert (judgement.method, judgement.launches) == ("paired", 5)


def test_a_clear_loss_is_a_regression() -> None:
    assert fair(0.93).verdict == "regression"


def test_two_sides_alike_show_no_change() -> None:
    assert fair(1.0).verdict == "no_change"


def test_a_small_but_certain_difference_is_no_change_and_said_to_be_there() -> None:
    judgement = fair(1.008)
    assert judgement.verdict == "no_change"
    assert "too small to matter" in judgement.reasons[0]


def test_less_of_a_latency_is_better() -> None:
    judgement = judge(
        side("1B", scaled(0.9), metric=LATENCY),
        side("baseline", BASE, metric=LATENCY),
        rules(metric=LATENCY),
        comparison="fair",
        factors=FACTORS,
    )
    assert judgement.verdict == "improvement"
    assert judgement.effect is not None and judgement.effect.relative < 0


@pytest.mark.parametrize(
    ("low", "estimate", "high", "verdict"),
    [
        (0.001, 0.03, 0.06, "improvement"),
        (0.001, 0.019, 0.04, "inconclusive"),
        (-0.001, 0.03, 0.06, "inconclusive"),
        (-0.019, 0.0, 0.019, "no_change"),
        (0.005, 0.01, 0.015, "no_change"),
        (-0.021, 0.0, 0.019, "inconclusive"),
        (-0.06, -0.03, -0.001, "regression"),
        (-0.03, -0.015, -0.001, "inconclusive"),
    ],
)
def test_where_the_interval_lies_decides(low: float, estimate: float, high: float, verdict: str) -> None:
    effect = Effect(relative=estimate, low=low, high=high, confidence=0.95)
    assert verdict_of(effect, "higher", 0.02) == verdict
    mirrored = Effect(relative=-estimate, low=-high, high=-low, confidence=0.95)
    assert verdict_of(mirrored, "lower", 0.02) == verdict


def test_one_launch_a_side_decides_nothing_however_often_it_is_repeated() -> None:
    judgement = fair(1.3, launches=1)
    assert judgement.verdict == "inconclusive"
    assert judgement.launches_needed == 3
    assert judgement.effect is None


def test_one_launch_a_side_is_judged_by_the_spread_of_earlier_runs_and_says_so() -> None:
    known = History(spread=0.006, freedom=12, runs=4)
    judgement = fair(1.08, launches=1, history=known)
    assert judgement.verdict == "improvement"
    assert judgement.method == "history"
    assert any("4 earlier runs" in reason and "0.6%" in reason for reason in judgement.reasons)
    assert fair(1.01, launches=1, history=known).verdict == "inconclusive"


def test_a_quiet_history_makes_no_noisy_run_certain() -> None:
    judgement = judge(
        side("1B", flat([97.0, 84.0, 95.0, 83.0, 90.0])),
        side("baseline", flat([80.0, 97.0, 84.0, 93.0, 88.0])),
        rules(history=History(spread=0.002, freedom=20, runs=5)),
        comparison="fair",
        factors=FACTORS,
    )
    assert judgement.effect is not None
    assert judgement.effect.high - judgement.effect.low > 0.1


def test_too_much_noise_is_inconclusive_and_says_how_many_launches_would_decide() -> None:
    judgement = judge(
        side("1B", flat([91.0, 95.0, 89.5, 94.0, 90.0])),
        side("baseline", flat([90.0, 87.0, 92.0, 88.0, 86.0])),
        rules(),
        comparison="fair",
        factors=FACTORS,
    )
    assert judgement.verdict == "inconclusive"
    assert judgement.launches_needed is not None and judgement.launches_needed > 5
    assert any(f"About {judgement.launches_needed} launches a side" in r for r in judgement.reasons)


def test_nan_and_failed_requests_are_never_numbers() -> None:
    good = samples(scaled(1.0))
    bad = (
        Sample(metric=SPEED, value=math.nan, launch=0, repetition=3),
        Sample(metric=SPEED, value=0.0, launch=1, repetition=3, invalid="all 64 requests failed"),
        Sample(metric=SPEED, value=900.0, launch=2, repetition=3, invalid="3 of 64 requests failed"),
    )
    judgement = judge(
        side("1B", scaled(1.0), samples=good + bad),
        side("baseline", BASE),
        rules(),
        comparison="fair",
        factors=FACTORS,
    )
    assert judgement.verdict == "no_change"
    assert any("all 64 requests failed" in reason for reason in judgement.reasons)
    assert any("not a number" in reason for reason in judgement.reasons)


def test_a_run_without_one_valid_repetition_has_failed() -> None:
    zeros = tuple(
        Sample(metric=SPEED, value=0.0, launch=k, repetition=0, invalid="no request completed")
        for k in range(3)
    )
    judgement = judge(
        side("1B", (), samples=zeros),
        side("baseline", BASE),
        rules(),
        comparison="fair",
        factors=FACTORS,
    )
    assert judgement.verdict == "failed"
    assert "No valid value of output_throughput" in judgement.reasons[0]


def test_a_zero_has_no_relative_difference() -> None:
    judgement = judge(
        side("1B", flat([0.0, 1.0, 2.0])),
        side("baseline", BASE[:3]),
        rules(),
        comparison="fair",
        factors=FACTORS,
    )
    assert judgement.verdict == "inconclusive"
    assert any("isn't above zero" in reason for reason in judgement.reasons)


def test_a_metric_without_direction_is_not_judged() -> None:
    odd = Metric(name="widgets")
    judgement = judge(
        side("1B", scaled(1.5), metric=odd),
        side("baseline", BASE, metric=odd),
        rules(metric=odd),
        comparison="fair",
        factors=FACTORS,
    )
    assert judgement.verdict == "inconclusive"
    assert any("no direction" in reason for reason in judgement.reasons)


def test_the_same_recipe_twice_is_never_an_improvement() -> None:
    judgement = judge(side("1C", scaled(1.2)), side("baseline", BASE), rules(), comparison="fair", factors={})
    assert judgement.verdict == "inconclusive"
    assert "baseline's own" in judgement.reasons[0]


def test_among_many_items_an_improvement_has_to_be_clearer() -> None:
    ours, theirs = flat([91.0, 93.5, 91.5, 93.0, 92.0]), flat([89.9, 89.0, 90.0, 88.5, 89.5])

    def among(family: int) -> Judgement:
        return judge(
            side("1B", ours),
            side("baseline", theirs),
            rules(family=family),
            comparison="fair",
            factors=FACTORS,
        )

    assert among(1).verdict == "improvement"
    assert among(400).verdict == "inconclusive"
    assert any("Bonferroni" in reason for reason in among(400).reasons)

"""Expected gains against measured ones."""

from __future__ import annotations

import pytest

from optrack.judge.calibration import Expectation, calibrate, expected_gain
from optrack.model.metrics import Metric
from optrack.model.plan import Quantity
from tests.judge.session import SPEED

LOW = Metric(name="latency", unit="", better="lower")


def gain(low: float, high: float, unit: str) -> Quantity:
    return Quantity(text="", low=low, high=high, unit=unit)


def test_a_percentage_and_a_factor_speak_of_the_metric() -> None:
    assert expected_gain(gain(15, 15, "%"), {}, SPEED) == (0.15, 0.15)
    assert expected_gain(gain(2, 2, "x"), {}, SPEED) == (1.0, 1.0)
    assert expected_gain(gain(2, 2, "x"), {}, LOW) == (0.5, 0.5)


def test_saved_milliseconds_are_related_to_the_time_they_are_saved_from() -> None:
    low, high = expected_gain(gain(5, 10, "ms"), {"verify_ms": 30.0}, SPEED) or (0.0, 0.0)
    assert low == pytest.approx(0.2)
    assert high == pytest.approx(0.5)
    assert expected_gain(gain(3, 3, "ms"), {"verify_ms": 30.0}, LOW) == (0.1, 0.1)


def test_saved_milliseconds_of_a_metric_that_is_a_time_are_related_to_the_metric_itself() -> None:
    means = {"median_tpot_ms": 4.0, "median_itl_ms": 3.0, "duration": 60.0}
    tpot = Metric(name="median_tpot_ms", unit="ms", better="lower")
    assert expected_gain(gain(1, 3, "ms"), means, tpot) == (0.25, 0.75)
    assert expected_gain(gain(1, 10, "ms"), means, tpot) is None
    seconds = Metric(name="duration", unit="s", better="lower")
    assert expected_gain(gain(600, 600, "ms"), means, seconds) == (0.01, 0.01)


def test_an_amount_in_the_metrics_own_unit_is_related_to_its_mean() -> None:
    assert expected_gain(gain(10, 20, "tokens/s"), {"output_throughput": 80.0}, SPEED) == (0.125, 0.25)
    points = Metric(name="score", unit="pt", better="higher")
    assert expected_gain(gain(3, 3, "pt"), {"score": 60.0}, points) == (0.05, 0.05)
    assert expected_gain(gain(3, 3, "req/s"), {"score": 60.0}, points) is None


def test_what_cannot_be_related_has_no_fraction() -> None:
    assert expected_gain(gain(5, 10, "ms"), {}, SPEED) is None
    assert expected_gain(gain(5, 10, "ms"), {"a_ms": 1.0, "b_ms": 2.0}, SPEED) is None
    assert expected_gain(gain(40, 40, "ms"), {"verify_ms": 30.0}, SPEED) is None
    assert expected_gain(Quantity(text="some"), {}, SPEED) is None


def test_a_plan_that_promised_too_much_is_told_by_how_much() -> None:
    items = [
        Expectation(item="1A", low=0.2, high=0.4, measured=0.0),
        Expectation(item="1B", low=0.1, high=0.26, measured=0.2),
    ]
    calibration = calibrate(items)
    assert calibration.ratio == pytest.approx(2.4)
    assert "2.4 times too high" in calibration.text
    assert [item.standing for item in items] == ["below", "within"]


def test_a_plan_that_gained_nothing_has_no_ratio() -> None:
    calibration = calibrate([Expectation(item="1A", low=0.1, high=0.1, measured=-0.05)])
    assert calibration.ratio is None
    assert "wasn't gained" in calibration.text


def test_a_plan_may_be_right_or_too_modest() -> None:
    assert "about right" in calibrate([Expectation(item="1", low=0.1, high=0.1, measured=0.1)]).text
    assert "2.0 times too low" in calibrate([Expectation(item="1", low=0.1, high=0.1, measured=0.2)]).text
    assert "No item" in calibrate([]).text


def test_a_minus_is_a_loss_of_what_should_be_high_and_a_gain_of_what_should_be_low() -> None:
    ninety = Quantity(text="-90%", low=90, high=90, unit="%")
    assert expected_gain(ninety, {}, SPEED) == (-0.9, -0.9)
    assert expected_gain(ninety, {}, LOW) == (0.9, 0.9)


def test_a_gain_lies_outside_the_expectation_only_where_its_whole_interval_does() -> None:
    wide = Expectation(item="1", low=0.05, high=0.1, measured=0.02, least=-0.02, most=0.06)
    below = Expectation(item="1", low=0.05, high=0.1, measured=0.02, least=0.01, most=0.03)
    above = Expectation(item="1", low=0.05, high=0.1, measured=0.2, least=0.15, most=0.25)
    assert [one.standing for one in (wide, below, above)] == ["within", "below", "above"]

"""Warm-up, drift, outliers and two modes are said, and the samples are kept."""

from __future__ import annotations

from collections.abc import Sequence

from optrack.judge.evidence import evidence_of
from optrack.judge.sample_shape import observations, two_modes
from tests.judge.session import BASE, flat, side


def said(ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]] = BASE) -> str:
    candidate, baseline = (
        evidence_of(side(name, launches), "output_throughput")
        for name, launches in (("1B", ours), ("baseline", theirs))
    )
    return " ".join(observations(candidate, baseline, "tok/s"))


def test_ordinary_samples_need_no_remark() -> None:
    assert said(BASE) == ""


def test_a_first_repetition_that_is_always_slow_is_a_warm_up() -> None:
    cold = tuple((values[0] * 0.9, *values[1:]) for values in BASE)
    assert "warm-up isn't over" in said(cold, cold)


def test_an_outlier_is_named_with_its_place_and_counted() -> None:
    odd = (BASE[0], (89.3, 41.2, 89.0), *BASE[2:])
    text = said(odd)
    assert "Launch 2 of the candidate has an outlier: repetition 2 is 41.2 tok/s" in text
    assert "it is counted" in text


def test_a_drifting_baseline_is_reported() -> None:
    assert "drift by −" in said(BASE, flat([100.0, 97.1, 94.0, 91.2, 88.1]))


def test_launches_in_two_states_are_reported() -> None:
    assert "two groups" in said(
        flat([100.0, 106.1, 100.2, 106.0, 99.9, 106.2]), flat([100.1, 106.2, 99.8, 106.1, 100.0, 105.9])
    )


def test_few_or_even_values_have_one_mode() -> None:
    assert two_modes([0.0, 0.1] * 4) is None
    assert two_modes([0.01 * k for k in range(20)]) is None
    assert two_modes([0.0] * 20) is None

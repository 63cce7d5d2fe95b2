"""Numbers as people read them: the same words in every exit."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optrack.model.judgement import Effect
from optrack.render import format as fmt


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (88.8, "88.8"),
        (1.5909, "1.591"),
        (48690, "48,690"),
        (45498.3, "45,498"),
        (0.00012, "0.00012"),
        (-3.2, "−3.2"),
        (math.nan, "nan"),
        (-math.inf, "−inf"),
    ],
)
def test_an_amount_has_all_its_digits_before_the_point(value: float, shown: str) -> None:
    assert fmt.amount(value, "tok/s") == f"{shown} tok/s"


@given(st.floats(-1e300, 1e300))
def test_a_number_is_near_what_it_stands_for_and_has_neither_an_exponent_nor_a_hyphen(value: float) -> None:
    for text in (fmt.number(value), fmt.percent(value), fmt.percent(value, signed=False), fmt.compact(value)):
        assert "e" not in text and "-" not in text
        assert len(text) < 26
    plain = fmt.number(value).replace("−", "-").replace(",", "").replace("×10^", "e")
    assert float(plain) == pytest.approx(value, rel=1e-3, abs=1e-300)


def test_a_narrow_place_gets_thousands_by_letter() -> None:
    assert [fmt.compact(v) for v in (48_690, 9_999.4, 999_960, 1.5e9)] == ["48.7k", "9,999", "1M", "1.5G"]
    assert fmt.compact(None) == "-"


def test_an_interval_without_an_upper_bound_says_so() -> None:
    wide = Effect(relative=0.1, low=-0.2, high=44.0, confidence=0.95)
    large = Effect(relative=15.0, low=14.0, high=16.0, confidence=0.95)
    assert fmt.effect(wide) == "+10.0% [−20.0%, >+1000%]"
    assert fmt.effect(large) == "+1,500% [+1,400%, +1,600%]"
    assert fmt.effect(None) == "-"


def test_what_rounds_to_nothing_has_no_minus() -> None:
    assert fmt.percent(-0.00001) == "+0.00%"
    assert fmt.fixed(-0.001, 1) == "0.0"


def test_times_and_sizes_have_a_unit() -> None:
    assert [fmt.span(s) for s in (0.4, 42, 720, 12600)] == ["0.4 s", "42 s", "12 min", "3.5 h"]
    assert [fmt.duration(s) for s in (42, 3723, None)] == ["0:42", "1:02:03", "-"]
    assert fmt.size(1_900_000_000) == "1.9 GB"


def test_marks_can_be_told_apart_without_colour() -> None:
    signs = [mark.sign for mark in (*fmt.VERDICT.values(), fmt.NO_VERDICT)]
    assert len(set(signs)) == len(signs)


def test_cut_text_is_never_longer_than_asked_for() -> None:
    assert fmt.cut("abcdef", 6) == "abcdef"
    assert fmt.cut("abcdefg", 6) == "abcde…"

"""The interval on the relative difference: what drift, order and lost launches do to it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from optrack.judge.evidence import Evidence, Launch, evidence_of
from optrack.judge.interval import Estimate, estimate
from optrack.model.metrics import Sample
from tests.judge.session import SPEED, flat, side


def both(ours: Sequence[float], theirs: Sequence[float]) -> tuple[Evidence, Evidence]:
    return (
        evidence_of(side("1B", flat(ours)), "output_throughput"),
        evidence_of(side("baseline", flat(theirs)), "output_throughput"),
    )


def found(sides: tuple[Evidence, Evidence], *, interleaved: bool = True) -> Estimate:
    result = estimate(*sides, interleaved=interleaved)
    assert result is not None
    return result


def test_the_effect_is_the_ratio_of_the_sides() -> None:
    assert found(both([110, 110.1, 110], [100, 100, 100.1])).relative == pytest.approx(0.1, abs=0.001)


def test_drift_falls_out_of_interleaved_launches() -> None:
    speeds = [100 * 0.98**k for k in range(10)]
    order = [0, 3, 4, 7, 8], [1, 2, 5, 6, 9]
    paired = found(both([speeds[k] for k in order[0]], [speeds[k] for k in order[1]])).effect(0.95)
    assert paired.low < 0 < paired.high
    assert paired.high - paired.low < 0.06


def test_a_line_in_time_falls_out_between_blocks_of_the_baseline() -> None:
    speeds = [100 * 0.99**k for k in range(10)]
    before, ours, after = speeds[:4], speeds[4:6], speeds[6:]
    sides = both(ours, before)
    bracketed = estimate(*sides, interleaved=False, after=both(after, before)[0], weight=0.5)
    assert bracketed is not None and bracketed.is_bracketed
    assert bracketed.relative == pytest.approx(0.0, abs=1e-9)
    effect = bracketed.effect(0.95)
    assert effect.low < -0.05 and effect.high > 0.05
    alone = estimate(*sides, interleaved=False)
    assert alone is not None and not alone.is_bracketed


def test_blocks_that_agree_show_what_lies_between_them() -> None:
    before, after = [100.0, 100.2, 99.9, 100.1], [100.1, 100.0, 99.9, 100.2]
    sides = both([110.0, 110.3], before)
    effect = estimate(*sides, interleaved=False, after=both(after, before)[0])
    assert effect is not None
    assert effect.effect(0.95).low > 0.05


def test_a_round_compares_with_the_mean_of_its_baselines() -> None:
    def launches(values: Sequence[float], rounds: Sequence[int]) -> Evidence:
        made = tuple(
            Launch(number=k, position=3 * k, round=r, values=(value,))
            for k, (value, r) in enumerate(zip(values, rounds, strict=True))
        )
        return Evidence(launches=made, invalid={})

    theirs = launches([99.0, 101.0, 198.0, 202.0, 97.0, 103.0], [0, 0, 1, 1, 2, 2])
    result = estimate(launches([110.0, 220.0, 110.1], [0, 1, 2]), theirs, interleaved=True)
    assert result is not None and (result.method, result.launches) == ("rounds", 3)
    assert result.relative == pytest.approx(0.1, abs=0.001)
    assert result.error < 0.001


def test_a_lost_launch_takes_its_neighbour_out_of_the_pairs_and_no_other() -> None:
    ours = side("1B", flat([110.0, 111.0, 110.5, 110.2]))
    lost = tuple(
        s.model_copy(update={"invalid": "no request completed"}) if s.launch == 1 else s for s in ours.samples
    )
    sides = (
        evidence_of(ours.model_copy(update={"samples": lost}), "output_throughput"),
        evidence_of(side("baseline", flat([100.0, 101.0, 100.5, 100.2])), "output_throughput"),
    )
    assert found(sides).launches == 3


def test_the_interval_is_never_narrower_than_the_repetitions_allow() -> None:
    noisy = (90.0, 100.0, 110.0), (110.0, 90.0, 100.0), (100.0, 110.0, 90.0)
    sides = tuple(evidence_of(side(name, noisy), "output_throughput") for name in ("1B", "baseline"))
    assert found((sides[0], sides[1])).error > 0.03


def test_a_warm_up_that_all_launches_share_is_not_noise() -> None:
    warming = tuple((80.0 * k, 100.0 * k, 100.0 * k) for k in (1.0, 1.001, 0.999))
    sides = tuple(evidence_of(side(name, warming), "output_throughput") for name in ("1B", "baseline"))
    assert found((sides[0], sides[1])).error < 0.005


def test_a_single_launch_has_no_interval() -> None:
    assert estimate(*both([110], [100]), interleaved=True) is None
    assert estimate(*both([110, 111], [100]), interleaved=False) is None


@pytest.mark.parametrize(("ours", "theirs"), [(16.0, 15.0), (3.0, 2.9), (0.031, 0.03)])
def test_values_that_never_vary_are_no_surer_than_their_last_digit(ours: float, theirs: float) -> None:
    result = found(both([ours] * 2, [theirs] * 2))
    low = result.effect(0.95).low
    assert low < 0 < result.relative


def test_a_launch_counts_as_the_mean_of_its_repetitions() -> None:
    launch = Launch(number=0, position=0, round=0, values=(90.0, 110.0))
    assert launch.level == pytest.approx(math.log(100.0))
    sample = Sample(metric=SPEED, value=1.0, launch=0, repetition=0)
    other = evidence_of(side("1B", (), samples=(sample,)), "mean_itl_ms")
    assert other.launches == ()

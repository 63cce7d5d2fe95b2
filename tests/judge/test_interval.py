"""The interval on the relative difference: what drift, order and lost launches do to it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from optrack.judge.baselines import history_of
from optrack.judge.evidence import Evidence, Launch, evidence_of
from optrack.judge.interval import Estimate, estimate, pairs_of
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


def test_drift_falls_out_of_interleaved_launches_and_widens_block_order() -> None:
    speeds = [100 * 0.98**k for k in range(10)]
    order = [0, 3, 4, 7, 8], [1, 2, 5, 6, 9]
    sides = both([speeds[k] for k in order[0]], [speeds[k] for k in order[1]])
    paired = found(sides).effect(0.95)
    assert paired.low < 0 < paired.high
    assert paired.high - paired.low < 0.06
    blocks = both(speeds[5:], speeds[:5])
    assert found(blocks, interleaved=False).effect(0.95).high > 0 > found(blocks, interleaved=False).relative


def test_drift_within_the_baseline_widens_what_a_single_launch_after_it_shows() -> None:
    speeds = [100 * 0.99**k for k in range(5)]
    sides = both(speeds[4:], speeds[:4])
    history = history_of({"baseline": [sides[1]]})
    effect = {}
    for interleaved in (True, False):
        result = estimate(*sides, interleaved=interleaved, history=history)
        assert result is not None and result.method == "history"
        effect[interleaved] = result.effect(0.95)
    assert effect[False].low < -0.05 and effect[False].high > 0
    assert effect[False].high - effect[False].low > 1.5 * (effect[True].high - effect[True].low)


def test_a_lost_launch_takes_its_neighbour_out_of_the_pairs_and_no_other() -> None:
    ours = side("1B", flat([110.0, 111.0, 110.5, 110.2]))
    lost = tuple(
        s.model_copy(update={"invalid": "no request completed"}) if s.launch == 1 else s for s in ours.samples
    )
    sides = (
        evidence_of(ours.model_copy(update={"samples": lost}), "output_throughput"),
        evidence_of(side("baseline", flat([100.0, 101.0, 100.5, 100.2])), "output_throughput"),
    )
    pairs = pairs_of(*sides)
    assert [(a.number, b.number) for a, b in pairs] == [(0, 0), (2, 2), (3, 3)]
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


def test_values_that_never_vary_give_an_interval_of_no_width() -> None:
    effect = found(both([110, 110, 110], [100, 100, 100])).effect(0.95)
    assert effect.low == pytest.approx(effect.high)


def test_a_launch_counts_as_the_mean_of_its_repetitions() -> None:
    launch = Launch(number=0, position=0, values=(90.0, 110.0))
    assert launch.level == pytest.approx(math.log(100.0))
    sample = Sample(metric=SPEED, value=1.0, launch=0, repetition=0)
    other = evidence_of(side("1B", (), samples=(sample,)), "mean_itl_ms")
    assert other.launches == ()

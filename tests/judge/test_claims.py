"""What a claim needs beside an interval: nothing lost, a baseline on both sides in time, its share of the error."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from optrack.judge.baselines import BaselineMeasurement, drift
from optrack.judge.evidence import History
from optrack.judge.guards import judge_guard
from optrack.judge.judging import judge
from optrack.judge.multiplicity import improvement_tail
from optrack.model.judgement import Judgement
from optrack.model.recipe_parts import Check
from tests.judge.session import LATENCY, flat, rules, side

LOST = float("nan")
FACTORS = {"env.A": ("1", "2")}
QUIET = History(spread=0.0016, freedom=2, runs=1)


def judged(ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]]) -> Judgement:
    return judge(side("1B", ours), side("baseline", theirs), rules(), comparison="fair", factors=FACTORS)


def in_blocks(ours: Sequence[float], *, after: Sequence[float] = (), history: History = QUIET) -> Judgement:
    """Judge a latency in block order, between two blocks of the baseline or after one."""
    block: dict[str, Any] = {"metric": LATENCY, "order": ()}
    before = side("baseline", flat([3.1379, 3.1364, 3.1436, 3.1338]), at=0.0, **block)
    return judge(
        side("1B", flat(ours), at=60.0, **block),
        before,
        rules(metric=LATENCY, interleaved=False, family=17, min_effect=0.03, history=history),
        comparison="fair",
        factors=FACTORS,
        after=side("baseline", flat(after), at=120.0, **block) if after else None,
    )


@pytest.mark.parametrize("launches", [[1.5134], [1.5134, 1.4916], [1.5134, 1.4916, 1.5021]])
def test_further_launches_take_no_great_improvement_back(launches: list[float]) -> None:
    assert in_blocks(launches, after=[3.142, 3.140]).verdict == "improvement"


def test_in_block_order_one_launch_of_the_baseline_afterwards_decides() -> None:
    before = in_blocks([1.5134, 1.4916])
    assert before.verdict == "inconclusive"
    assert "One launch of the baseline again" in before.reasons[1]
    assert in_blocks([1.5134, 1.4916], after=[3.142]).verdict == "improvement"


def test_a_step_that_the_baseline_took_as_well_is_no_effect() -> None:
    assert in_blocks([2.98, 2.985], after=[2.981, 2.979]).verdict == "inconclusive"


def test_what_survives_lost_passes_claims_nothing() -> None:
    ours = [[104, LOST, LOST, LOST], [104.2, LOST, LOST, LOST], [103.9, LOST, LOST, LOST]]
    found = judged(ours, [[100.0] * 4, [100.1] * 4, [99.9] * 4])
    assert (found.verdict, found.reasons[0][:35]) == ("inconclusive", "9 of 12 passes of the candidate fai")


def test_what_survives_lost_launches_claims_nothing() -> None:
    ours = flat([104, LOST, LOST, 104.1, LOST, 104.2])
    found = judged(ours, flat([100, 100.1, 99.9, 100, 100.1, 99.9]))
    assert found.verdict == "inconclusive"
    assert "3 of 6 launches of the candidate" in found.reasons[0]


def test_passes_that_both_sides_lose_alike_leave_a_fair_sample() -> None:
    ours, theirs = (
        [[v, v * 1.001, LOST, v] for v in (base, base * 1.002, base * 0.999)] for base in (110.0, 100.0)
    )
    assert judged(ours, theirs).verdict == "improvement"


def test_a_little_more_noise_never_throws_away_what_is_known() -> None:
    history = History(spread=0.015, freedom=12, runs=3)
    widths = []
    for spread in (0.0375, 0.0380):
        ours = side("1B", flat([110 * (1 + spread), 110 * (1 - spread)]))
        found = judge(
            ours,
            side("baseline", flat([100, 100])),
            rules(history=history),
            comparison="fair",
            factors=FACTORS,
        )
        assert found.effect is not None
        widths.append(found.effect.high - found.effect.low)
    assert widths[0] == pytest.approx(widths[1], rel=0.1)


def test_what_is_an_improvement_already_leaves_its_share_of_the_error_to_the_others() -> None:
    assert improvement_tail(0.95, 10) == pytest.approx(0.005)
    assert improvement_tail(0.95, 10, 5) == pytest.approx(0.01)
    assert improvement_tail(0.95, 10, 10) == improvement_tail(0.95, 1) == pytest.approx(0.025)


def test_an_improvement_says_what_only_its_estimate_shows() -> None:
    found = judged(flat([103.0, 104.4, 103.9]), flat([100.0, 101.4, 100.9]))
    assert found.verdict == "improvement"
    assert "clear of zero and of at least the minimum effect of 2%" in found.reasons[0]
    wide = judged(flat([103.0, 106.0, 104.0, 105.1]), flat([100.0, 102.5, 101.9, 101.0]))
    assert (wide.verdict, "by its estimate; the interval begins at" in wide.reasons[0]) == (
        "improvement",
        True,
    )


def test_a_regression_says_that_its_error_is_not_shared() -> None:
    found = judge(
        side("1B", flat([80.0, 80.2, 80.1])),
        side("baseline", flat([100.0, 100.2, 100.1])),
        rules(family=12),
        comparison="fair",
        factors=FACTORS,
    )
    assert found.verdict == "regression"
    assert any("each of the 12 comparisons" in reason for reason in found.reasons)


def test_a_guard_is_kept_only_where_the_interval_says_so() -> None:
    check = Check(metric="mean_itl_ms", worse=0.05)
    states = [
        judge_guard(
            "latency",
            check,
            side("1B", flat(ours), metric=LATENCY),
            side("baseline", flat([12.0, 12.05, 11.95][: len(ours)]), metric=LATENCY),
            rules(),
        ).state
        for ours in ([12.1, 12.15, 12.06], [12.5, 14.0, 11.0], [12.58])
    ]
    assert states == ["kept", "unclear", "unclear"]


def test_a_check_without_a_number_shifts_no_pair() -> None:
    check = Check(command="eval", worse=0.01)
    ours = side("1B", flat([1.0] * 4), checks={"acc": (LOST, 0.9, 0.8, 0.7)})
    theirs = side("baseline", flat([1.0] * 4), checks={"acc": (1.0, 0.9, 0.8, 0.7)})
    assert "0.0%" in judge_guard("acc", check, ours, theirs, rules()).text.split("(")[0]


def test_noise_alone_does_not_move_the_baseline() -> None:
    start = datetime(2026, 3, 2, tzinfo=UTC)
    means = (100.0, 103.0, 98.9, 101.2, 99.5)

    def told(error: float) -> str | None:
        measurements = [
            BaselineMeasurement(run=str(k), at=start + timedelta(hours=k), mean=mean, error=error, freedom=2)
            for k, mean in enumerate(means)
        ]
        return drift(measurements, "tok/s", 0.02)

    assert told(0.015) is None
    assert "The baseline moved by" in (told(0.002) or "")

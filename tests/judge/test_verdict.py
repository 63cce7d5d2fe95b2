"""The verdict on a fair comparison: what the numbers can carry, and no more."""

from __future__ import annotations

from optrack.core.judge import judge
from optrack.core.judgement import Judgement
from tests.judge.session import BASE, rules, scaled, side

FACTORS = {"env.NCCL_MAX_NCHANNELS": ("16", "2")}


def fair(by: float, launches: int = 5) -> Judgement:
    return judge(
        side("1B", scaled(by)[:launches]),
        side("baseline", BASE[:launches]),
        rules(),
        comparison="fair",
        factors=FACTORS,
    )


def test_a_clear_gain_is_an_improvement_credited_to_its_factor() -> None:
    judgement = fair(1.08)
    assert judgement.verdict == "improvement"
    assert judgement.effect is not None
    assert judgement.effect.low < 0.08 < judgement.effect.high
    assert judgement.attribution.factors == ("env.NCCL_MAX_NCHANNELS",)


def test_a_clear_loss_is_a_regression() -> None:
    assert fair(0.93).verdict == "regression"


def test_two_sides_alike_show_no_change() -> None:
    assert fair(1.0).verdict == "no_change"


def test_one_launch_a_side_decides_nothing_however_often_it_is_repeated() -> None:
    judgement = fair(1.3, launches=1)
    assert judgement.verdict == "inconclusive"
    assert judgement.launches_needed == 3

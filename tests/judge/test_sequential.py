"""Sequential sessions: the order of launches, the error that looks may spend, and when they end."""

from __future__ import annotations

import pytest

from optrack.judge.judging import judge
from optrack.judge.multiplicity import nominal_tails
from optrack.judge.sequential import next_step, round_order
from optrack.model.recipe_parts import Check
from tests.judge.session import BASE, flat, rules, scaled, side


def test_each_round_has_every_candidate_once_in_an_order_that_its_seed_gives() -> None:
    orders = [round_order(seed, number, 6) for seed in range(40) for number in range(4)]
    assert all(sorted(order) == [-1, -1, 0, 1, 2, 3, 4, 5] for order in orders)
    assert len(set(orders)) > 100
    assert orders == [round_order(seed, number, 6) for seed in range(40) for number in range(4)]


def test_pairs_come_in_random_order_after_the_candidate_was_started_once() -> None:
    firsts = [[round_order(seed, number, 1)[0] for seed in range(200)] for number in range(3)]
    assert set(firsts[0]) == {0}
    assert all(60 < sum(turn == 0 for turn in turns) < 140 for turns in firsts[1:])


@pytest.mark.parametrize(("tail", "first", "last"), [(0.025, 3, 16), (0.025, 2, 8), (0.004, 3, 12)])
def test_all_looks_together_spend_the_error_and_no_more(tail: float, first: int, last: int) -> None:
    import numpy as np
    from scipy.special import ndtri

    random = np.random.default_rng(7)
    sums = np.cumsum(random.standard_normal((200_000, last)), axis=1)
    bounds = -ndtri(np.array(nominal_tails(tail, first, last)))
    looks = np.arange(first, last + 1)
    crossed = (sums[:, first - 1 :] > bounds * np.sqrt(looks)).any(axis=1).mean()
    assert crossed == pytest.approx(tail, abs=4 * (tail / 200_000) ** 0.5)


def test_a_single_look_spends_all() -> None:
    assert nominal_tails(0.025, 5, 5) == pytest.approx((0.025,))


def step(ours: list[float], theirs: list[float], **more: object) -> str:
    return next_step(
        side("1B", flat(ours)),
        side("baseline", flat(theirs)),
        rules(**{"sequential": True, "max_launches": 12} | more),
    )


def test_a_large_effect_ends_a_session_at_the_first_look() -> None:
    assert step([120, 121], [100, 100.5]) == "more"
    assert step([120, 121, 120.4], [100, 100.5, 100.2]) == "settled"


def test_an_open_question_goes_on() -> None:
    assert step([103, 99, 104, 103], [100, 101, 100, 99]) == "more"


def test_a_hopeless_question_is_given_up_before_the_last_launch() -> None:
    ours, theirs = [90.0, 110.0, 94.0, 108.0, 100.0, 99.0], [110.0, 92.0, 107.0, 91.0, 101.0, 100.0]
    assert step(ours, theirs) == "settled"


def test_a_fixed_session_ends_with_its_last_launch_and_not_before() -> None:
    assert step([120, 121, 120.4], [100, 100.5, 100.2], sequential=False, max_launches=5) == "more"
    assert step([120] * 5, [100] * 5, sequential=False, max_launches=5) == "settled"


def test_a_launch_without_a_valid_repetition_counts_as_made() -> None:
    ours = side("1B", flat([100.0] * 3))
    invalid = tuple(s.model_copy(update={"invalid": "no request completed"}) for s in ours.samples)
    lost = ours.model_copy(update={"samples": invalid})
    assert next_step(lost, side("baseline", flat([100.0] * 3)), rules(max_launches=3)) == "settled"


def test_a_broken_check_ends_a_session() -> None:
    bound = {"gsm8k": Check(command="eval", min=0.92)}
    ours = side("1B", flat([120.0]), checks={"gsm8k": (0.81,)})
    assert next_step(ours, side("baseline", flat([100.0])), rules(guards=bound)) == "settled"


def test_the_interval_of_a_sequential_session_is_wider_and_says_why() -> None:
    sides = side("1B", scaled(1.05)), side("baseline", BASE)
    once, peeked = (
        judge(*sides, rules(sequential=sequential), comparison="fair", factors={"env.A": ("1", "2")})
        for sequential in (False, True)
    )
    assert once.effect is not None and peeked.effect is not None
    assert peeked.effect.low < once.effect.low
    assert any("looked after every pair" in reason for reason in peeked.reasons)


def test_a_sequential_session_cut_short_claims_nothing() -> None:
    judgement = judge(
        side("1B", scaled(1.3)[:2]),
        side("baseline", BASE[:2]),
        rules(sequential=True),
        comparison="fair",
        factors={"env.A": ("1", "2")},
    )
    assert judgement.verdict == "inconclusive"
    assert "fewer than can be judged" in judgement.reasons[0]

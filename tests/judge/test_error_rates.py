"""A short run of the simulation: false claims and detections stay where the long run puts them."""

from __future__ import annotations

import pytest

from tests.judge.simulate import ALONE, MIXED, NOISES, TOGETHER, Design, main, promised, simulate, whole

SESSIONS = 60
ALARM = 10
"""Of 60 sessions; a true rate of 5% reaches it less than once in a thousand times."""


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("design", ALONE, ids=lambda design: design.name)
def test_identical_sides_are_seldom_called_different(design: Design, noise: str) -> None:
    tally = simulate(design, NOISES[noise], 0.0, SESSIONS)
    assert SESSIONS * tally.share("improvement", "regression") / 100 < ALARM


@pytest.mark.parametrize("noise", ["2 of 12 noisier", "period of 4"])
@pytest.mark.parametrize("design", TOGETHER[1:4:2], ids=lambda design: design.name)
def test_few_campaigns_have_any_false_improvement(design: Design, noise: str) -> None:
    assert whole(design, NOISES[noise], 25).false <= 24


def test_five_launches_find_a_gain_of_five_percent() -> None:
    assert simulate(ALONE[1], NOISES["normal"], 0.05, SESSIONS).share("improvement") >= 75


def test_rounds_find_five_percent_with_six_launches_an_item() -> None:
    found = whole(TOGETHER[3], NOISES["normal"], 25, MIXED)
    assert found.launches <= 6
    assert found.found >= 68


def test_a_sequential_session_needs_fewer_launches_the_larger_the_effect() -> None:
    means = [simulate(ALONE[2], NOISES["normal"], effect, 40).mean_launches for effect in (0.03, 0.05, 0.1)]
    assert means[0] > means[1] > means[2]


def test_the_number_of_launches_promised_decides_about_as_often_as_it_says() -> None:
    assert 65 <= promised(3, 200) <= 95


def test_the_simulation_prints_its_tables(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--sessions", "4", "--only", "step"])
    printed = capsys.readouterr().out
    assert "false claims" in printed and "step" in printed and "launches an item" in printed

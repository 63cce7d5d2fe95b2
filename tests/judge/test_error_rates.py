"""A short run of the simulation: false claims and detections stay where the long run puts them."""

from __future__ import annotations

import pytest

from tests.judge.simulate import DESIGNS, NOISES, Design, main, simulate, two_level

SESSIONS = 100
ALARM = 13
"""Of 100 sessions; a true rate of 5% exceeds it less than once in a thousand times."""


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_identical_sides_are_seldom_called_different(design: Design, noise: str) -> None:
    tally = simulate(design, NOISES[noise], 0.0, SESSIONS)
    assert tally.improvement + tally.regression <= ALARM


def test_five_launches_find_a_gain_of_five_percent() -> None:
    tally = simulate(Design("", 5), two_level, 0.05, SESSIONS)
    assert tally.share(tally.improvement) >= 80


def test_a_sequential_session_needs_fewer_launches_the_larger_the_effect() -> None:
    sequential = Design("", 16, sequential=True)
    means = [simulate(sequential, two_level, effect, 60).mean_launches for effect in (0.03, 0.05, 0.1)]
    assert means[0] > means[1] > means[2]
    assert means[1] < 8


def test_the_simulation_prints_its_tables(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--sessions", "4"])
    printed = capsys.readouterr().out
    assert "False claims" in printed and "drift: step" in printed and "mean" in printed

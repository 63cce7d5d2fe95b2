"""A few rounds of the torture that `tests.process.torture` does by the hundred."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.process.torture import contention, kills


@pytest.mark.slow
def test_a_killed_runner_or_follower_leaves_nothing_and_loses_nothing(tmp_path: Path) -> None:
    assert kills(tmp_path / "project", times=3, seed=5) == []


@pytest.mark.slow
def test_callers_at_once_never_share_an_item(tmp_path: Path) -> None:
    assert contention(tmp_path / "project", times=1, seed=5) == []

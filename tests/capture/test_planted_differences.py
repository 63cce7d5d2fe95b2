"""Every planted difference shows in the field that is meant for it, and nothing else is flagged."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from optrack.judge.difference import comparison, differences
from optrack.model.judgement import Difference
from tests.capture.planted import PLANTED, Planted
from tests.capture.world import World

GROUPS = 9
"""Differences are planted several at a time, since each capture starts a server; `tests.capture.planted`
plants each alone."""


def shows(found: tuple[Difference, ...], planted: Planted) -> bool:
    return any(
        fnmatchcase(d.field, planted.field) and (d.cls, d.severity) == (planted.cls, planted.severity)
        for d in found
    )


def test_there_are_at_least_forty_kinds() -> None:
    assert len({planted.field for planted in PLANTED}) >= 40


@pytest.mark.parametrize("group", range(GROUPS))
def test_planted_differences_are_all_shown_with_a_sentence(group: int, tmp_path: Path) -> None:
    world = World(tmp_path / "world")
    baseline = world.capture()
    for planted in PLANTED[group::GROUPS]:
        planted.plant(world)
    candidate = world.capture()
    found = differences(candidate, baseline, declared={})
    assert [planted.name for planted in PLANTED[group::GROUPS] if not shows(found, planted)] == []
    assert comparison(found) == "unfair"
    for difference in found:
        assert difference.meaning.endswith(".")
        assert len(difference.meaning) < 500

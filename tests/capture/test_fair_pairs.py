"""Two captures of the same thing differ in nothing, whatever else went on in the world between them."""

from __future__ import annotations

import pytest

from optrack.judge.difference import comparison, differences
from tests.capture.fair import HAPPENED, flagged
from tests.capture.world import World


def test_nothing_is_flagged_between_over_twenty_fair_pairs(world: World) -> None:
    assert len(HAPPENED) >= 20
    assert flagged(world, batch=4) == {}


def test_the_pairs_would_be_flagged_if_something_mattered(world: World) -> None:
    world.reported["max_total_num_tokens"] = 100_000
    baseline = world.capture()
    for happen in HAPPENED.values():
        happen(world)
    world.set(NCCL_PROTO=None)
    assert [d.field for d in differences(world.capture(), baseline, declared={})] == ["env.server.NCCL_PROTO"]


@pytest.mark.parametrize("accepted", ["env.server.NCCL_PROTO", "env.server", "env.*", "env.server.NCCL_*"])
def test_what_somebody_accepted_is_a_note(accepted: str, world: World) -> None:
    baseline = world.capture()
    world.set(NCCL_PROTO=None)
    found = differences(world.capture(), baseline, declared={}, accepted=[accepted])
    assert [(d.field, d.severity) for d in found] == [("env.server.NCCL_PROTO", "note")]
    assert comparison(found) == "fair"

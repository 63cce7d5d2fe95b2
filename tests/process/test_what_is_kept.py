"""Which launches of an interrupted run may be kept."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from optrack.model.hardware import CpuLoad, Hardware, Load
from optrack.model.metrics import Metric, Sample
from optrack.model.run import Run
from optrack.model.snapshot import Environment, Snapshot
from optrack.runner.resume import (
    Earlier,
    Wanted,
    changed_since,
    complete_launches,
    earlier_of,
    interrupted_since,
    kept_samples,
)

WANTED = Wanted(
    item="1", recipe="r", baseline="b", host="h", launches={"fixed": 3, "sequential": 9}, repetitions=2
)


def run_of(launches: int, repetitions: int = 2, **fields: Any) -> Run:
    """A run with so many launches of so many repetitions, and the number of a guard in the first."""
    places = [(launch, repetition) for launch in range(launches) for repetition in range(repetitions)]
    samples = [Sample(metric=Metric(name="score"), value=5, launch=la, repetition=re) for la, re in places]
    samples.append(Sample(metric=Metric(name="check.gsm8k"), value=0.9, launch=0, repetition=0))
    known = {"id": "x", "plan": "p", "item": "1", "host": "h", "started_at": datetime.now(UTC)}
    how = {"outcome": "interrupted", "recipe_digest": "r", "samples": tuple(samples)}
    return Run.model_validate({**known, **how, **fields})


def beside(launches: int, repetitions: int = 2, **fields: Any) -> Run:
    return run_of(
        launches, repetitions, **{"item": "baseline", "recipe_digest": "b", "beside": "x", **fields}
    )


def test_only_launches_with_every_repetition_on_both_sides_are_complete() -> None:
    assert complete_launches([run_of(2), run_of(2)], 2) == (0, 1)
    assert complete_launches([run_of(2), run_of(1)], 2) == (0,)
    assert complete_launches([run_of(2), run_of(2, repetitions=1)], 2) == ()
    assert complete_launches([run_of(0)], 1) == ()


def test_what_guards_printed_is_not_kept() -> None:
    assert {s.metric.name for s in kept_samples(run_of(2), (0, 1))} == {"score"}
    assert {s.launch for s in kept_samples(run_of(3), (0, 2))} == {0, 2}


def test_the_latest_run_with_complete_pairs_is_gone_on_with() -> None:
    found = [(run_of(0, id="late"), beside(0)), (run_of(2, id="early"), beside(1))]
    earlier = earlier_of(found, WANTED)
    assert isinstance(earlier, Earlier) and earlier.candidate.id == "early" and earlier.pairs == (0,)


def test_one_pair_is_always_measured_again() -> None:
    fixed = earlier_of([(run_of(3), beside(3))], WANTED)
    assert isinstance(fixed, Earlier) and fixed.pairs == (0, 1)
    sequential = earlier_of([(run_of(3, recipe={"stop": "sequential"}), beside(3))], WANTED)
    assert isinstance(sequential, Earlier) and sequential.pairs == (0, 1, 2)


@pytest.mark.parametrize(
    ("candidate", "baseline", "why"),
    [
        (run_of(2, recipe_digest="other"), beside(2), "the recipe was edited"),
        (run_of(2), beside(2, recipe_digest="other"), "the baseline's recipe was edited"),
        (run_of(2, host="elsewhere"), beside(2), "it ran on elsewhere"),
        (run_of(2), None, "in another order"),
        (run_of(1), beside(0), "no complete pair"),
    ],
)
def test_a_run_that_was_something_else_is_not_gone_on_with(candidate: Run, baseline: Run, why: str) -> None:
    assert why in str(earlier_of([(candidate, baseline)], WANTED))


def test_runs_from_before_a_result_are_not_gone_on_with() -> None:
    runs = [run_of(1, id="c"), beside(1), run_of(1, id="b", outcome="succeeded"), run_of(1, id="a")]
    assert [run.id for run in interrupted_since(runs)] == ["c"]
    assert "no run of 1 was interrupted" in str(earlier_of([], WANTED))


def test_a_difference_that_matters_or_that_one_side_cannot_see_keeps_nothing() -> None:
    ring = Environment(server={"NCCL_ALGO": "Ring"}, observed_in="workers")
    then = Snapshot(git={}, hardware=Hardware(), env=ring, load=Load(cpu=CpuLoad(busy_cores=0.5)))
    assert changed_since(then.model_copy(update={"load": None}), then) == ()
    now = then.model_copy(update={"env": ring.model_copy(update={"server": {"NCCL_ALGO": "Tree"}})})
    assert [d.field for d in changed_since(now, then)] == ["env.server.NCCL_ALGO"]
    assert changed_since(now, then, accepted=["env.server.NCCL_ALGO"]) == ()
    assert changed_since(then.model_copy(update={"hardware": None}), then) != ()

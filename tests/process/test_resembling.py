"""A recipe that changes what made another one fail is warned of."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from optrack.judge.failures import plain_failure
from optrack.model.run import Outcome, Run
from optrack.plan.added import resembling

BASE: dict[str, Any] = {"launch": "serve", "env": {"NCCL_ALGO": "Ring"}}
TREE = {"launch": "serve", "env": {"NCCL_ALGO": "Tree"}}
TREE_AND_MORE = {"launch": "serve", "env": {"NCCL_ALGO": "Tree", "NCCL_PROTO": "LL"}}


def a_run(
    recipe: Mapping[str, Any], outcome: Outcome = "failed", *, kind: str = "nccl", number: int = 0
) -> Run:
    return Run(
        id=f"r{number}",
        plan="p",
        item=f"{number}A",
        host="h",
        started_at=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=number),
        outcome=outcome,
        failure=None if outcome == "succeeded" else plain_failure(kind, "Capture cuda graph failed"),
        recipe=recipe,
    )


def test_the_same_recipe_is_warned_of() -> None:
    (found,) = resembling(TREE, BASE, [a_run(TREE)])
    assert found.same and found.factors == ("env.NCCL_ALGO=Tree",)
    assert "this very recipe failed before (item 0A, run r0): Capture cuda graph failed" in found.text


def test_a_recipe_that_adds_to_one_that_failed_is_warned_of_and_one_with_less_is_not() -> None:
    (found,) = resembling(TREE_AND_MORE, BASE, [a_run(TREE)])
    assert not found.same and "NCCL_ALGO=Tree" in found.text
    assert resembling(TREE, BASE, [a_run(TREE_AND_MORE)]) == ()
    assert resembling(BASE, BASE, [a_run(TREE)]) == ()


def test_a_failure_that_recurs_is_told_once_by_its_latest_run() -> None:
    (found,) = resembling(TREE, BASE, [a_run(TREE), a_run(TREE, number=3), a_run(TREE, number=2)])
    assert found.run == "r3"


def test_a_later_success_takes_the_failure_back_and_an_earlier_one_does_not() -> None:
    failed, after = a_run(TREE, number=1), a_run(TREE, "succeeded", number=2)
    assert resembling(TREE, BASE, [failed, after]) == ()
    assert resembling(TREE, BASE, [failed, a_run(TREE, "succeeded")]) != ()


def test_failures_of_the_host_and_the_baselines_own_say_nothing() -> None:
    assert resembling(TREE, BASE, [a_run(TREE, kind="port_in_use")]) == ()
    assert resembling(TREE, BASE, [a_run(TREE, "interrupted", kind="interrupted")]) == ()
    assert resembling(TREE, BASE, [a_run(BASE)]) == ()

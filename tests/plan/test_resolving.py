"""Layers merge key by key, combined treatments go in, and the factors are what differs from the baseline."""

from __future__ import annotations

import pytest

from optrack.errors import PlanError
from optrack.model.treatment import leaves, overlay
from optrack.plan.resolve import resolve
from tests.plan.plans import CAMPAIGN, read


def test_maps_merge_all_else_replaces_and_null_removes() -> None:
    base = {"env": {"A": "1", "B": "2"}, "server": {"tp": 8}, "launch": "x", "watch": ["a", "b"]}
    layer = {"env": {"B": None, "C": "3"}, "server": {"tp": None}, "launch": None, "watch": ["c"]}
    assert overlay(base, layer) == {"env": {"A": "1", "B": None, "C": "3"}, "server": {}, "watch": ["c"]}


def test_a_treatment_is_what_differs_from_the_baseline() -> None:
    plan = read(CAMPAIGN)
    resolved = resolve(plan, plan.item("1A"))
    assert resolved.factors == {"env.NCCL_ALGO": ("Ring", "Tree")}
    assert resolved.recipe.launch == "python server.py --port $PORT"
    assert resolve(plan, plan.item("baseline")).factors == {}


def test_how_much_is_measured_is_no_factor() -> None:
    plan = read(
        "# P\n```yaml recipe\nbench: x\n```\n## 1A: One\n```yaml recipe\nlaunches: 9\nready: {timeout: 1h}\n"
        "check: {a: {metric: m, min: 1}}\nenv: {A: 1}\n```\n"
    )
    assert set(resolve(plan, plan.item("1A")).factors) == {"env.A"}


def test_only_what_was_an_improvement_is_combined() -> None:
    plan = read(CAMPAIGN)
    resolved = resolve(plan, plan.item("1C"), {"1B"})
    assert resolved.combined == ("1B",)
    assert resolved.factors == {"env.NCCL_MAX_NCHANNELS": ("16", "2")}


def test_all_improvements_are_combined() -> None:
    plan = read(CAMPAIGN)
    assert set(resolve(plan, plan.item("1C"), {"1A", "1B"}).factors) == {
        "env.NCCL_ALGO",
        "env.NCCL_MAX_NCHANNELS",
    }


def test_of_two_that_set_the_same_the_later_in_rank_wins_and_is_named() -> None:
    plan = read(
        """
        # P
        ```yaml recipe
        env: {A: 0}
        bench: x
        ```
        ## 1A: One
        ```yaml recipe
        env: {A: 1}
        ```
        ## 1B: Two
        ```yaml recipe
        env: {A: 2}
        ```
        ## 1C: Both
        ```yaml recipe
        combine: [1B, 1A]
        env: {X: 1}
        ```
        """
    )
    resolved = resolve(plan, plan.item("1C"), ["1A", "1B"])
    assert leaves(resolved.data)["env.A"] == "2"
    assert leaves(resolved.data)["env.X"] == "1"
    assert resolved.notes == ("1A and 1B both change `env.A`; 1B's value is used, the later of them",)


def test_a_combined_treatment_can_take_a_key_away() -> None:
    plan = read(
        "# P\n```yaml recipe\nserver: {a: 1, b: 2}\nbench: x\n```\n## 1A: One\n```yaml recipe\nserver: {a: null}\n```\n"
        "## 1B: Both\n```yaml recipe\ncombine: 1A\n```\n"
    )
    assert resolve(plan, plan.item("1B"), ["1A"]).data["server"] == {"b": 2}


@pytest.mark.parametrize(
    ("combine", "said"),
    [
        ("[1A]", "none of `1A` was an improvement"),
        ("[9Z]", "`9Z`, which is no item"),
        ("[1B]", "leads back to itself"),
    ],
)
def test_a_combination_that_cannot_be_says_why_and_where(combine: str, said: str) -> None:
    plan = read(
        f"# P\n```yaml recipe\nbench: x\n```\n## 1A: One\n```yaml recipe\nenv: {{A: 1}}\n```\n"
        f"## 1B: Two\n```yaml recipe\ncombine: {combine}\n```\n"
    )
    with pytest.raises(PlanError) as caught:
        resolve(plan, plan.item("1B"), ["1B"])
    assert said in caught.value.message
    assert caught.value.where == "plan.md:11"


def test_another_item_can_be_the_baseline() -> None:
    plan = read(CAMPAIGN)
    resolved = resolve(plan, plan.item("1B"), baseline=plan.item("1A"))
    assert resolved.factors == {"env.NCCL_ALGO": ("Tree", "Ring"), "env.NCCL_MAX_NCHANNELS": ("16", "2")}

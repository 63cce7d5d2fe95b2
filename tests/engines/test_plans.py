"""The plans for real hosts: they are understood without a complaint, and every item has its commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from optrack.app.plan_check import check
from optrack.engines.protocol import Place
from optrack.engines.registry import engine_named
from optrack.model.plan import Plan
from optrack.model.recipe import Recipe
from optrack.plan.read import parse_plan
from optrack.plan.resolve import resolve

PLANS = Path(__file__).parents[2] / "plans"
NAMES = ("eagle-fast-verify", "h200-sglang", "nccl-allreduce")
TUNED = {
    "NCCL_PROTO": "LL",
    "NCCL_ALGO": "Ring",
    "NCCL_P2P_LEVEL": "SYS",
    "NCCL_MAX_NCHANNELS": "16",
    "NCCL_BUFFSIZE": "16777216",
    "NCCL_NTHREADS": "512",
}


def _plan(name: str) -> Plan:
    path = PLANS / f"{name}.md"
    return parse_plan(path.read_bytes(), name=name, path=str(path))


def _recipe(plan: Plan, item: str) -> Recipe:
    return resolve(plan, plan.item(item), improved=("1B",)).recipe


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_is_understood_without_a_complaint(name: str) -> None:
    plan = _plan(name)
    assert [problem.located(name) for problem in plan.problems] == []
    assert [problem.located(name) for problem in check(plan) if problem.severity == "error"] == []
    assert plan.items[0].id == "baseline"


@pytest.mark.parametrize("name", NAMES)
def test_every_item_has_a_server_and_a_benchmark(name: str, tmp_path: Path) -> None:
    plan, engine = _plan(name), engine_named("sglang")
    place = Place(run="R1", item="x", launch=0, run_dir=tmp_path, port=31999)
    for item in plan.items:
        recipe = _recipe(plan, item.id)
        server = engine.server(recipe, place)
        assert server is not None and "--port 31999" in server.shell, item.id
        assert "sglang.bench_serving" in engine.bench(recipe, recipe.bench[0], place).shell, item.id


@pytest.mark.parametrize("name", NAMES)
def test_an_item_that_changes_several_things_names_them_as_one_factor(name: str) -> None:
    plan = _plan(name)
    for item in plan.items:
        resolved = resolve(plan, item, improved=("1B",))
        if item.recipe is not None and len(resolved.factors) > 1 and not resolved.recipe.combine:
            assert resolved.recipe.factor, item.id


def test_the_campaign_has_its_seven_priorities_with_what_they_may_save_and_cost() -> None:
    plan = _plan("eagle-fast-verify")
    gains = {i.id: i.gain.text for i in plan.items if i.gain is not None}
    assert gains == {
        "1": "5-10 ms",
        "2": "2-8 ms",
        "3": "10-18 ms",
        "4": "10-15 ms",
        "5": "5-10 ms",
        "6": "0-8 ms",
    }
    top = [item for item in plan.items if item.parent is None]
    assert [item.id for item in top[:8]] == ["baseline", "1", "2", "3", "4", "5", "6", "7"]
    assert all(item.effort is not None for item in top[1:8])


def test_the_campaigns_baseline_has_the_tuned_variables_and_looks_for_them() -> None:
    recipe = _recipe(_plan("eagle-fast-verify"), "baseline")
    assert {k: v for k, v in recipe.env.items() if k.startswith("NCCL_")} == TUNED
    assert set(recipe.expect["env"]) <= set(TUNED)
    assert (recipe.gpus, recipe.server["tp-size"]) == (8, 8)


def test_speculation_computes_its_break_even_and_its_best_case() -> None:
    plan = _plan("eagle-fast-verify")
    for item in ("8", "8A", "8B", "8C", "8D"):
        derived = _recipe(plan, item).derived
        assert derived["break_even_accept"] == "baseline.output_throughput * verify_ms / 1000"
        assert derived["best_case_tok_s"] == "1000 * accept_length / 12"


def test_the_plan_for_several_gpus_needs_no_change_for_their_number() -> None:
    recipe = _recipe(_plan("nccl-allreduce"), "baseline")
    assert recipe.gpus == "all"
    assert str(recipe.server["tp-size"]).startswith("$(")
    assert not any("NVLS" in name or "MULTICAST" in name for name in recipe.env)


def test_the_patch_of_the_campaign_is_there_and_changes_two_lines() -> None:
    [patch] = _recipe(_plan("eagle-fast-verify"), "2").patch
    lines = (PLANS.parent / patch).read_text().splitlines()
    assert len([line for line in lines if line.startswith("+") and not line.startswith("+++")]) == 2

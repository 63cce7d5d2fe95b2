"""`plan check` says what is wrong with its place, and a new plan has nothing wrong with it."""

from __future__ import annotations

import pytest

from optrack.app.plan_check import check, has_errors
from optrack.plan.scaffold import new_plan
from tests.plan.plans import CAMPAIGN, read


def said(text: str) -> list[tuple[str, int, str]]:
    return [(p.severity, p.line, p.message) for p in check(read(text))]


@pytest.mark.parametrize("title", ["Verify faster", "Tune: [x] 'y' #1", "", "100%", "`{}`", "日本語"])
def test_a_new_plan_passes(title: str) -> None:
    plan = read(new_plan(title))
    (unwritten,) = check(plan)
    assert unwritten.severity == "warning" and "`2` has no recipe" in unwritten.message
    assert [item.id for item in plan.items] == ["baseline", "1", "1A", "1B", "1C", "2"]


def test_the_campaign_passes() -> None:
    assert check(read(CAMPAIGN)) == ()


def test_a_duplicate_id_names_both_lines_and_keeps_both_items() -> None:
    plan = read("# P\n## 1A: One\n## 1B: Two\n## 1A: Three\n")
    errors = [p for p in check(plan) if p.severity == "error"]
    assert "on line 2 (One) and on line 4 (Three)" in errors[0].message
    assert [item.title for item in plan.items] == ["One", "Two", "Three"]
    assert len({item.id for item in plan.items}) == 3


def test_items_that_wait_for_one_another_are_named() -> None:
    found = said("# P\n## 1A: One\n- Needs: 1B\n## 1B: Two\n- Needs: 1A\n")
    assert found == [("error", 2, "these wait for one another: 1A → 1B → 1A")]


def test_a_need_that_is_no_item_is_an_error_in_a_plan_that_runs() -> None:
    text = "# P\n```yaml recipe\nbench: x\n```\n## 1A: One\n- Needs: 7Q\n```yaml recipe\nenv: {A: 1}\n```\n"
    assert ("error", 6, "needs `7Q`, which is no item of this plan") in said(text)


def test_needs_in_prose_are_left_alone() -> None:
    assert said("# P\n## 1A: One\n- **Dependencies**: a second GPU + NVLink\n") == []


def test_a_need_that_is_cancelled_cannot_be_reached() -> None:
    found = said("# P\n## 1A: ~~One~~\n## 1B: Two\n- Needs: 1A\n")
    assert found == [("warning", 3, "`1B` can't be reached: it needs `1A`, which is cancelled")]


def test_what_the_parent_already_sets_is_said() -> None:
    text = "# P\n```yaml recipe\nenv: {A: 1}\nbench: x\n```\n## 1A: One\n```yaml recipe\nenv: {A: 1, B: 2}\n```\n"
    assert said(text) == [("warning", 8, "`env.A` is already '1' in the recipe above")]


def test_an_item_without_a_recipe_is_said_where_others_run() -> None:
    text = "# P\n```yaml recipe\nbench: x\n```\n## 1A: One\n## 1B: Two\n```yaml recipe\nenv: {A: 1}\n```\n"
    assert said(text) == [("warning", 5, "`1A` has no recipe, so it is marked by hand")]


def test_a_plan_that_measures_nothing_is_an_error() -> None:
    assert said("# P\n## 1A: One\n```yaml recipe\nenv: {A: 1}\n```\n")[0][0] == "error"


def test_a_metric_that_nothing_gives_has_the_nearest_as_hint() -> None:
    plan = read("---\nmetric: output_throughputt\n---\n# P\n```yaml recipe\nbench: x\n```\n")
    problem = next(
        p for p in check(plan, metrics=["output_throughput", "mean_itl_ms"]) if p.severity == "error"
    )
    assert (problem.line, problem.hint) == (2, "did you mean `output_throughput`?")
    assert not has_errors(check(plan))


def test_a_document_without_items_says_so() -> None:
    assert [p[2] for p in said("# Words\n\nand more\n")] == ["no items were found"]


def test_a_recipe_outside_any_item_is_an_error() -> None:
    block = "```yaml recipe\nenv: {A: 1}\n```\n"
    found = said(f"# P\n```yaml recipe\nbench: x\n```\n## 1A: One\n{block}\n## Notes\n{block}")
    assert [(kind, line) for kind, line, text in found if "outside any item" in text] == [("error", 11)]


def test_a_condition_that_cannot_be_evaluated_is_said() -> None:
    assert "can't be evaluated" in said("# P\n## 1A: One\n- Skip if: it rains\n")[0][2]


def test_a_block_that_only_looks_like_a_recipe_is_said() -> None:
    found = said("# P\n## 1A: One\n```yaml\nbench: x\nenv: {A: 1}\n```\n")
    assert found[0][2] == "this block looks like a recipe but isn't marked as one"


def test_a_problem_prints_as_path_line_column() -> None:
    plan = read("# P\n## 1A: One\n```yaml recipe\nbench: x\nlanch: y\n```\n")
    assert check(plan)[0].located("p.md") == (
        "p.md:5:1: error: recipe: unknown key `lanch` (did you mean `launch`?)"
    )


def test_what_is_nested_too_deeply_is_pointed_out_and_not_dropped_silently() -> None:
    deep = "\n".join("  " * level + f"- [ ] level {level}" for level in range(40))
    plan = read(f"# Plan\n\n{deep}\n")
    assert len(plan.items) == 29
    assert said(f"# Plan\n\n{deep}\n") == [
        ("warning", 32, "what stands here is nested too deeply and isn't read")
    ]


def test_an_item_may_need_the_one_above_it_if_that_runs_by_itself() -> None:
    base = "# P\n```yaml recipe\nbench: echo score = 3\n```\n## Baseline\n"
    below = "### 1A: Deeper\n- **Needs**: 1\n```yaml recipe\nenv: {A: 2}\n```\n"
    runs = f"{base}## Priority 1: Wide\n```yaml recipe\nenv: {{A: 1}}\n```\n{below}"
    assert [p.message for p in check(read(runs)) if p.severity == "error"] == []
    group = f"{base}## Priority 1: Wide\n{below}"
    errors = [p.message for p in check(read(group)) if p.severity == "error"]
    assert "`1A` needs `1`, which is done only when all that it holds is" in errors

"""Recipe blocks keep their text, find their item, and every mistake in them has its place."""

from __future__ import annotations

import json

import pytest

from optrack.errors import PlanError
from optrack.model.plan import Plan
from optrack.model.recipe import Recipe, recipe_schema
from optrack.model.written import keys_of
from optrack.plan.resolve import resolve
from tests.plan.plans import CAMPAIGN, read


def recipe_plan(body: str) -> Plan:
    return read(f"# Plan\n\n```yaml recipe\n{body}\n```\n\n## 1A: One\n```yaml recipe\nenv: {{A: 1}}\n```\n")


def test_the_text_of_a_recipe_is_the_fence_content_byte_for_byte() -> None:
    body = "env:   {A: 1}   # why\n\n# x\nlaunch: |\n  a\tb\n"
    plan = read(f"# Plan\n\n~~~yaml recipe\n{body}~~~\n")
    assert plan.recipe is not None
    assert plan.recipe.text == body
    assert plan.recipe.lines["env.A"] == 4


def test_a_recipe_before_the_first_item_is_the_base_and_makes_a_baseline() -> None:
    plan = read(CAMPAIGN)
    assert plan.recipe is not None
    assert (plan.items[0].id, plan.items[0].title, plan.items[0].rank) == ("baseline", "Baseline", 0)
    assert [item.rank for item in plan.items] == list(range(6))


def test_environment_values_stay_as_written() -> None:
    plan = recipe_plan("env: {A: 1e3, B: 0777, C: no, D: true, E: 1.10, F: null, G: 8}\nbench: x")
    env = resolve(plan, None).recipe.env
    assert env == {"A": "1e3", "B": "0777", "C": "no", "D": "true", "E": "1.10", "F": None, "G": "8"}


def test_every_key_of_the_language_resolves() -> None:
    plan = recipe_plan(
        """engine: sglang
server: {model-path: m, tp: 8, mem-fraction-static: 0.88, flag: true}
ready: {http: /health, timeout: 20m, silence: 90s}
warmup: 2
bench: {tool: sglang.bench_serving, num-prompts: 64}
metrics:
  verify_ms: {log: 'verify: ([\\d.]+) ms', better: lower}
  score: {json: a.b, unit: pts}
derived: {x: 'baseline.output_throughput * verify_ms / 1000'}
check: {gsm8k: {command: run it, min: 0.90}, speed: {metric: ttft, worse: 5%}}
patch: [a.diff, b.diff]
setup: make
launches: 3
repetitions: 5
order: block
stop: sequential
timeout: {setup: 30m, bench: 1h30m}
expect: {env: {A: 1}}
watch: /x
gpus: [0, 1]
port: 30000
log_limit: 1GB
factor: fusion"""
    )
    assert plan.problems == ()
    recipe = resolve(plan, None).recipe
    assert (recipe.ready.timeout_s, recipe.timeout.bench_s, recipe.timeout.setup_s) == (1200, 5400, 1800)
    assert [b.tool for b in recipe.warmup] == ["sglang.bench_serving"] * 2
    assert recipe.bench[0].args == {"num-prompts": 64}
    assert (recipe.check["gsm8k"].min, recipe.check["speed"].worse) == (0.9, 0.05)
    assert (recipe.patch, recipe.gpus, recipe.log_limit_bytes) == (("a.diff", "b.diff"), (0, 1), 2**30)
    assert recipe.expect == {"env": {"A": "1"}}


def test_named_benches_keep_their_names() -> None:
    recipe = resolve(recipe_plan("bench: {short: run a, long: {tool: t, n: 1}}"), None).recipe
    assert [(b.name, b.command, b.tool) for b in recipe.bench] == [
        ("short", "run a", None),
        ("long", None, "t"),
    ]


@pytest.mark.parametrize(
    ("body", "line", "column", "said", "hint"),
    [
        ("launch: x\nlanch: y", 5, 1, "unknown key `lanch`", "`launch`"),
        ("ready: {htp: /x}", 4, 9, "unknown key `htp`", "`http`"),
        ("launches: three", 4, 1, "whole number", None),
        ("timeout: {bench: soon}", 4, 11, "duration", None),
        ("order: blok", 4, 1, "or `rounds` or `block`", "`block`"),
        ("metrics: {a: {regex: '('}}", 4, 15, "regular expression", None),
        ("a: 1\na: 2", 5, 1, "twice", "keep one"),
        ("env:\n\tA: 1", 5, 1, "tab", "spaces"),
        ("- 1", 4, 1, "must be a map", None),
    ],
)
def test_a_mistake_has_its_line_column_and_hint(
    body: str, line: int, column: int, said: str, hint: str | None
) -> None:
    problem = recipe_plan(body).problems[0]
    assert (problem.severity, problem.line, problem.column) == ("error", line, column)
    assert said in problem.message
    assert hint is None or (problem.hint is not None and hint in problem.hint)


NEVER_RAN = [
    "gpus: some",
    "gpus: true",
    "gpus: -1",
    "gpus: []",
    "gpus: [a]",
    "gpus: '1e3'",
    "log_limit: " + "9" * 400 + "GB",
    "timeout: {bench: 1000000000000}",
    "ready: {timeout: " + "9" * 30 + "h}",
    "ready: {tcp: x}",
    "ready: {log: [a]}",
    "check: {a: {metric: m, min: 1e999}}",
    "env: {'A=B': x}",
    "env: {'': x}",
    'launch: "a\\0b"',
    'env: {A: "\\ud800"}',
    'env: {"\\ud800": a}',
    'server: {a: {b: "\\0"}}',
    "warmup: -1",
]


@pytest.mark.parametrize("body", NEVER_RAN)
def test_a_value_with_which_nothing_could_run_is_an_error_of_its_line(body: str) -> None:
    problem = recipe_plan(f"bench: x\n{body}").problems[0]
    assert (problem.severity, problem.line) == ("error", 5)
    assert problem.message.startswith("recipe: ")
    assert problem.hint is not None or "must be" in problem.message


@pytest.mark.parametrize("metric", ["{name: null}", "{name: 5, unit: 1}", "{unit: ms}", "7"])
def test_a_metric_of_the_front_matter_is_text_or_a_map_of_texts(metric: str) -> None:
    plan = read(f"---\nmetric: {metric}\n---\n# x\n")
    assert plan.problems == ()
    assert isinstance(plan.metric.name, str)


def test_a_variable_that_must_not_be_there_is_expected_as_null() -> None:
    recipe = resolve(recipe_plan("bench: x\nexpect: {env: {A: null, B: 1}}"), None).recipe
    assert recipe.expect == {"env": {"A": None, "B": "1"}}


def test_what_only_the_merged_recipe_shows_names_the_line_that_set_it() -> None:
    plan = read(
        "# Plan\n```yaml recipe\nbench: {tool: t, n: 1}\n```\n## 1A: One\n```yaml recipe\nbench:\n  command: x\n```\n"
    )
    with pytest.raises(PlanError) as caught:
        resolve(plan, plan.item("1A"))
    assert caught.value.where == "plan.md:8"
    assert "both `tool` and `command`" in caught.value.message


def test_two_recipes_in_one_item_are_an_error() -> None:
    block = "```yaml recipe\nenv: {A: 1}\n```\n"
    plan = read(f"# Plan\n## 1A: One\n{block}\n{block}")
    assert "second recipe" in plan.problems[0].message


def test_front_matter_with_an_unknown_key_says_the_nearest_one() -> None:
    plan = read("---\ntitle: T\nmin_efect: 2%\n---\n# x\n")
    problem = plan.problems[0]
    assert (plan.title, problem.line, problem.hint) == ("T", 3, "did you mean `min_effect`?")


def test_front_matter_is_read() -> None:
    plan = read(
        "---\nmetric: {name: itl_ms, unit: ms, better: lower}\nmin_effect: 3%\nadopt: auto\n---\n# x\n"
    )
    assert (plan.metric.name, plan.metric.better, plan.min_effect, plan.adopt) == (
        "itl_ms",
        "lower",
        0.03,
        "auto",
    )


def test_the_schema_knows_every_key() -> None:
    schema = recipe_schema()
    assert set(schema["properties"]) == set(keys_of(Recipe))
    assert json.loads(json.dumps(schema)) == schema


def test_the_schema_says_what_each_key_is_for_and_lets_null_remove_it() -> None:
    properties = recipe_schema()["properties"]
    assert all({"type": "null"} in key["anyOf"] for key in properties.values())
    assert "GPUs" in properties["gpus"]["description"]
    assert {"type": "integer", "minimum": 0} in properties["gpus"]["anyOf"]

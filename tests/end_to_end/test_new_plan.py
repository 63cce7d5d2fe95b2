"""A new plan: a commented one, or one made from a working pair of commands; never over a file that is there."""

from __future__ import annotations

import pytest

from tests.end_to_end.project import Project

SERVER = "NCCL_ALGO=Ring python3 -m sglang.launch_server --model-path m/x --tp 8 --port 30000"
BENCH = "python3 -m sglang.bench_serving --backend sglang --num-prompts 64"


@pytest.mark.parametrize(
    "options", [(), ("--from-command", f"{SERVER} && {BENCH}")], ids=["commented", "from"]
)
def test_a_new_plan_passes_its_check_and_can_be_run(project: Project, options: tuple[str, ...]) -> None:
    assert project.optrack("plan", "new", "plans/fresh.md", *options).code == 0
    checked = project.optrack("plan", "check", "plans/fresh.md", "--json")
    messages = [p["message"] for p in checked.document["problems"]]
    meant = ("isn't installed here", "`2` has no recipe")
    assert checked.code == 0
    assert [m for m in messages if not any(part in m for part in meant)] == []
    assert project.optrack("next", "--dry-run").code == 0


def test_two_commands_become_the_recipe_of_the_baseline(project: Project) -> None:
    answer = project.optrack("plan", "new", "--from-command", SERVER, "--from-command", BENCH, "--json")
    text = answer.document["text"]
    assert "engine: sglang\nenv:\n  NCCL_ALGO: Ring\nserver:\n  model-path: m/x\n  tp: 8\n" in text
    assert "  tool: sglang.bench_serving\n" in text


@pytest.mark.parametrize("commands", [SERVER, f'{SERVER} && bench "unclosed', "a; b; c"])
def test_what_is_no_pair_of_commands_is_said(project: Project, commands: str) -> None:
    answer = project.optrack("plan", "new", "--from-command", commands, "--json")
    assert (answer.code, answer.error["code"]) == (2, "usage")
    assert answer.error["hint"]


def test_a_plan_that_is_there_is_left_alone(project: Project) -> None:
    path = project.write_plan("# mine\n")
    answer = project.optrack("plan", "new", str(path))
    assert answer.code == 2
    assert "is there already" in answer.err
    assert path.read_text(encoding="utf-8") == "# mine\n"

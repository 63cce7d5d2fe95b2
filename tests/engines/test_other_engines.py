"""The engines for vLLM and for any other server, and where packages are looked for."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from optrack.engines.protocol import Place
from optrack.engines.registry import engine_named
from optrack.engines.server import package_folder
from optrack.errors import PlanError
from optrack.model.recipe import Recipe
from optrack.model.recipe_parts import Bench, Ready

VLLM = engine_named("vllm")
COMMAND = engine_named("command")


def _place(tmp_path: Path) -> Place:
    return Place(run="R1", item="1A", launch=0, run_dir=tmp_path, port=31999)


def _vllm(**changes: Any) -> Recipe:
    return Recipe.model_validate({"engine": "vllm", "server": {"model": "models/m"}} | changes)


def test_vllm_serves_the_model_with_arguments_by_name(tmp_path: Path) -> None:
    server = {"model": "models/m", "tensor-parallel-size": 2, "enforce-eager": True}
    command = VLLM.server(_vllm(server=server), _place(tmp_path))
    assert command is not None
    words = shlex.split(command.shell)
    assert words[:4] == ["exec", "vllm", "serve", "models/m"]
    assert "--model" not in words
    assert words[words.index("--port") + 1] == "31999"


def test_vllm_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"needs `server\.model`"):
        VLLM.server(_vllm(server={}), _place(tmp_path))
    assert VLLM.problems(_vllm(server={})) != ()


def test_vllm_is_ready_when_it_has_generated_a_token() -> None:
    ready = VLLM.ready(_vllm())
    assert ready.http == "/health"
    assert ready.command is not None and "/v1/" in ready.command
    compile(shlex.split(ready.command)[2], "ready", "exec")


def test_vllms_benchmark_appends_its_result_to_one_file(tmp_path: Path) -> None:
    bench = Bench(tool="vllm.bench_serve", args={"num-prompts": 20, "random-input-len": 64})
    command = VLLM.bench(_vllm(), bench, _place(tmp_path))
    words = shlex.split(command.shell)
    assert words[:3] == ["vllm", "bench", "serve"]
    assert {"--save-result", "--append-result"} <= set(words)
    assert command.output == tmp_path / words[words.index("--result-filename") + 1]
    assert command.requests == 20


def test_vllms_offline_benchmarks_take_the_servers_arguments(tmp_path: Path) -> None:
    recipe = _vllm(bench=(Bench(tool="vllm.bench_latency", args={"batch-size": 1}),))
    assert VLLM.server(recipe, _place(tmp_path)) is None
    words = shlex.split(VLLM.bench(recipe, recipe.bench[0], _place(tmp_path)).shell)
    assert words[:3] == ["vllm", "bench", "latency"]
    assert words[words.index("--model") + 1] == "models/m"


def test_any_command_is_run_as_it_is_written(tmp_path: Path) -> None:
    recipe = Recipe(
        launch="python server.py --port $PORT", bench=(Bench(command="./bench | tee out", output="b.jsonl"),)
    )
    server = COMMAND.server(recipe, _place(tmp_path))
    assert server is not None and server.shell == recipe.launch
    command = COMMAND.bench(recipe, recipe.bench[0], _place(tmp_path))
    assert (command.shell, command.parser, command.output) == (
        "./bench | tee out",
        "auto",
        tmp_path / "b.jsonl",
    )
    assert COMMAND.ready(recipe).tcp is True
    assert COMMAND.ready(Recipe(launch="x", ready=Ready(log="up"))).tcp is None
    assert COMMAND.server(Recipe(), _place(tmp_path)) is None


def test_a_tool_or_arguments_by_name_need_an_engine_that_knows_them(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="engine 'command' doesn't know"):
        COMMAND.bench(Recipe(), Bench(tool="sglang.bench_serving"), _place(tmp_path))
    assert COMMAND.problems(Recipe(server={"tp": 2})) != ()


def test_a_package_is_found_on_the_path_beside_the_interpreter_and_through_pth_files(tmp_path: Path) -> None:
    root = tmp_path / "venv"
    packages = root / "lib" / "python3.12" / "site-packages"
    packages.mkdir(parents=True)
    (root / "bin").mkdir()
    (root / "bin" / "python3").touch(mode=0o755)
    env: dict[str, str | None] = {"PATH": str(root / "bin"), "PYTHONPATH": "", "HOME": str(tmp_path / "home")}
    assert package_folder("sglang", env) is None
    checkout = tmp_path / "checkout" / "python"
    (checkout / "sglang" / "srt").mkdir(parents=True)
    (packages / "editable.pth").write_text(f"import something\n{checkout}\n")
    assert package_folder("sglang", env) == checkout / "sglang"
    (packages / "sglang").mkdir()
    (packages / "sglang" / "__init__.py").touch()
    (packages / "sglang-0.5.15.dist-info").mkdir()
    found = package_folder("sglang", env)
    assert found == packages / "sglang"
    assert package_folder("sglang", env | {"PYTHONPATH": str(checkout)}) == checkout / "sglang"

"""A plan from a working pair of commands."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from ruamel.yaml import YAML

from optrack.errors import UsageError
from optrack.plan.scaffold import plan_from_commands, split_commands


def _recipe(plan: str) -> dict[str, Any]:
    block = plan.split("```yaml recipe\n", 1)[1].split("```", 1)[0]
    loaded: dict[str, Any] = YAML(typ="safe", pure=True).load(StringIO(block))
    return loaded


def test_a_server_of_sglang_becomes_arguments_by_name() -> None:
    plan = plan_from_commands(
        "NCCL_ALGO=Ring NCCL_NTHREADS=512 \\\n  python3 -m sglang.launch_server --model-path org/m --tp 8 "
        "--port 30000 --host 0.0.0.0 --disable-radix-cache --cuda-graph-bs 1 2 4 --mem-fraction-static=0.88",
        "python3 -m sglang.bench_serving --backend sglang --port 30000 --num-prompts 64 --output-file x.jsonl",
    )
    recipe = _recipe(plan)
    assert recipe["engine"] == "sglang"
    assert recipe["env"] == {"NCCL_ALGO": "Ring", "NCCL_NTHREADS": "512"}
    assert recipe["server"] == {
        "model-path": "org/m",
        "tp": 8,
        "disable-radix-cache": True,
        "cuda-graph-bs": [1, 2, 4],
        "mem-fraction-static": 0.88,
    }
    assert recipe["bench"] == {"tool": "sglang.bench_serving", "backend": "sglang", "num-prompts": 64}
    assert "launch" not in recipe


def test_another_interpreter_or_wrapper_is_kept() -> None:
    plan = plan_from_commands(
        "numactl -N 0 /opt/py/bin/python -m sglang.launch_server --model-path m",
        "python3 -m sglang.bench_serving",
    )
    assert _recipe(plan)["launch"] == "exec numactl -N 0 /opt/py/bin/python -m sglang.launch_server"


def test_a_server_of_vllm_keeps_its_model_and_short_options() -> None:
    recipe = _recipe(
        plan_from_commands("vllm serve org/m -tp 2 --port 8000", "vllm bench serve --num-prompts 10")
    )
    assert recipe["server"] == {"model": "org/m", "tensor-parallel-size": 2}
    assert recipe["bench"] == {"tool": "vllm.bench_serve", "num-prompts": 10}


def test_any_other_pair_stays_shell_text_with_the_port_replaced() -> None:
    recipe = _recipe(
        plan_from_commands(
            "A='x y' ./server --port 8080 --n 18080 &", "./bench http://localhost:8080/ | tee out"
        )
    )
    assert recipe["env"] == {"A": "x y"}
    assert recipe["launch"] == "./server --port $PORT --n 18080"
    assert recipe["bench"] == "./bench http://localhost:$PORT/ | tee out"


def test_a_known_server_with_a_benchmark_of_ones_own_gets_the_usual_port_replaced() -> None:
    plan = plan_from_commands(
        "python -m sglang.launch_server --model-path m", "./bench --url http://127.0.0.1:30000"
    )
    assert _recipe(plan)["bench"] == "./bench --url http://127.0.0.1:$PORT"


@pytest.mark.parametrize(
    "text",
    [
        "server --a\nbench --b",
        "server --a && bench --b",
        "server --a &\nbench --b",
        "server \\\n --a; bench --b",
    ],
)
def test_two_commands_are_told_apart(text: str) -> None:
    server, bench = split_commands(text)
    assert (server.split(), bench.split()) == (["server", "--a"], ["bench", "--b"])


def test_commands_that_cannot_be_read_are_refused() -> None:
    with pytest.raises(UsageError, match="found 1"):
        split_commands("server --a")
    with pytest.raises(UsageError, match="can't be read"):
        plan_from_commands("server 'a", "bench")
    with pytest.raises(UsageError, match="is empty"):
        plan_from_commands("", "bench")

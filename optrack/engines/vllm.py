"""The engine for vLLM: `vllm serve` with arguments by name, its readiness, its benchmarks."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from optrack.engines.command import CommandEngine
from optrack.engines.protocol import (
    BenchCommand,
    Place,
    ServerCommand,
    flag,
    given,
    prompts,
    quoted,
    without,
    words,
)
from optrack.engines.server import call, call_json
from optrack.errors import PlanError
from optrack.model.recipe import Recipe
from optrack.model.recipe_parts import Bench
from optrack.model.written import Scalar

SERVE = "vllm.bench_serve"
THROUGHPUT = "vllm.bench_throughput"
LATENCY = "vllm.bench_latency"
TOOLS = (SERVE, THROUGHPUT, LATENCY)
_MODEL = ("model", "model-path", "model-tag")
_ASK = (
    "import json, os, urllib.request as r; o = r.build_opener(r.ProxyHandler({})); "
    "u = f\"http://127.0.0.1:{os.environ['PORT']}/v1/\"; "
    "m = json.load(o.open(u + 'models', timeout=10))['data'][0]['id']; "
    "b = json.dumps({'model': m, 'prompt': 'a', 'max_tokens': 1}).encode(); "
    "o.open(r.Request(u + 'completions', b, {'content-type': 'application/json'}), timeout=60).read()"
)
"""Generates one token: vLLM's health endpoint answers without asking the model."""


class VllmEngine(CommandEngine):
    """vLLM's server (vllm-project/vllm: entrypoints/cli/serve.py, benchmarks/serve.py)."""

    name = "vllm"

    def __init__(self, program: str = "vllm", python: str = "python3") -> None:
        self.program = program
        self.python = python

    def server(self, recipe: Recipe, place: Place) -> ServerCommand | None:
        """Return `vllm serve MODEL` (or `launch`) with the arguments; None if all benchmarks are offline."""
        if recipe.bench and all(bench.tool in (THROUGHPUT, LATENCY) for bench in recipe.bench):
            return None
        model = given(recipe.server, *_MODEL)
        if recipe.launch is None and (model is None or isinstance(model, list)):
            raise PlanError("engine 'vllm' needs `server.model`", hint="server: {model: NAME_OR_FOLDER}")
        program = recipe.launch.strip() if recipe.launch else f"exec {self.program} serve {_word(model)}"
        rest = without(recipe.server, _MODEL) if recipe.launch is None else dict(recipe.server)
        added: dict[str, Scalar | list[Scalar]] = {"host": place.host, "port": place.port, "seed": 1}
        said = {flag(name) for name in rest} | set(program.split())
        rest |= {name: value for name, value in added.items() if flag(name) not in said}
        local = place.host in ("127.0.0.1", "localhost", "::1")
        env = {"VLLM_SERVER_DEV_MODE": "1"} if local and "VLLM_SERVER_DEV_MODE" not in recipe.env else {}
        return ServerCommand(shell=" ".join([program, *words(rest)]), env=env)

    def conditions(self, recipe: Recipe) -> dict[str, Any]:
        """Return that `/health` answers 200 and one token can be generated."""
        return {"http": "/health", "command": f"{self.python} -c {shlex.quote(_ASK)}"}

    def bench(self, recipe: Recipe, bench: Bench, place: Place) -> BenchCommand:
        """Return the command of one pass: vLLM's own tool with its arguments, or the recipe's shell text."""
        if bench.command or not bench.tool:
            return super().bench(recipe, bench, place)
        if bench.tool not in TOOLS:
            raise PlanError(
                f"engine 'vllm' has no benchmark '{bench.tool}'", hint=f"known: {', '.join(TOOLS)}"
            )
        output = place.run_dir / f"{bench.name}-{place.launch}.json"
        model = given(recipe.server, *_MODEL)
        if bench.tool == SERVE:
            filled: dict[str, Scalar | list[Scalar]] = {
                "model": model,
                "host": place.host,
                "port": place.port,
                "dataset-name": "random",
                "seed": 1,
                "ignore-eos": True,
                "save-result": True,
                "append-result": True,
                "result-dir": str(place.run_dir),
                "result-filename": output.name,
            }
        else:
            filled = {**without(recipe.server, _MODEL), "model": model, "output-json": str(output)}
        kind = bench.tool.removeprefix("vllm.bench_")
        shell = " ".join([self.program, "bench", kind, *words({**without(filled, bench.args), **bench.args})])
        return BenchCommand(
            shell=shell,
            parser=bench.tool,
            output=output,
            requests=prompts(bench.args),
            asks_server=bench.tool == SERVE,
        )

    def report(self, recipe: Recipe, place: Place) -> Mapping[str, Any] | None:
        """Return version, served models, and the configuration that development mode shows."""
        version = call_json(place, "/version")
        if not isinstance(version, dict):
            return None
        models = call_json(place, "/v1/models")
        served = models.get("data") if isinstance(models, dict) else None
        names = [m.get("id") for m in served if isinstance(m, dict)] if isinstance(served, list) else []
        config = call_json(place, "/server_info?config_format=json", "/server_info")
        return {"version": version.get("version"), "models": names, "config": config}

    def settle(self, recipe: Recipe, place: Place) -> str | None:
        """Empty the prefix cache; return why it couldn't be, or None."""
        status, body = call(place, "/reset_prefix_cache", method="POST", timeout_s=30.0)
        if status == 200:
            return None
        said = body[:200].decode(errors="replace").strip()
        return f"the server's prefix cache wasn't emptied (status {status}): {said}"

    def problems(self, recipe: Recipe) -> tuple[str, ...]:
        """Return what is wrong with the server's arguments: a model is needed."""
        if recipe.launch is None and given(recipe.server, *_MODEL) is None:
            return ("engine 'vllm' needs `server.model`",)
        return ()


def _word(model: Scalar | list[Scalar]) -> str:
    return quoted(model) if not isinstance(model, list) else ""

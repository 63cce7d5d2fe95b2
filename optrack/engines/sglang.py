"""The engine for SGLang: server, readiness, benchmarks."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from optrack.engines.command import CommandEngine
from optrack.engines.protocol import (
    Arguments,
    BenchCommand,
    Place,
    ServerCommand,
    flag,
    given,
    prompts,
    without,
    words,
)
from optrack.engines.server import call, call_json, package_folder, report_of
from optrack.engines.sglang_arguments import canonical, known_to, problems
from optrack.errors import PlanError
from optrack.model.recipe import Recipe
from optrack.model.recipe_parts import Bench
from optrack.model.written import Scalar

SERVING = "sglang.bench_serving"
ONE_BATCH_SERVER = "sglang.bench_one_batch_server"
ONE_BATCH = "sglang.bench_one_batch"
OFFLINE = "sglang.bench_offline_throughput"
TOOLS = (SERVING, ONE_BATCH_SERVER, ONE_BATCH, OFFLINE)
WITHOUT_SERVER = (ONE_BATCH, OFFLINE)
_MOVED = {
    SERVING: "sglang.benchmark.serving",
    ONE_BATCH_SERVER: "sglang.benchmark.one_batch_server",
    ONE_BATCH: "sglang.benchmark.one_batch",
    OFFLINE: "sglang.benchmark.offline_throughput",
}
"""Where the tools live since 0.5.12; the old names are gone for some of them in 0.5.23."""


def bench_command(
    recipe: Recipe, bench: Bench, place: Place, *, before: str, python: str, package: Path | None
) -> BenchCommand:
    """Return the command of one pass of `bench.tool`; what the recipe doesn't say is filled in.

    Filled in are the server's address, the model's tokenizer, `random-ids` as dataset (the others need a
    download), flushing of the cache after the tool's own warm-up, a fixed seed, and the file for the result.
    `before` is shell text that comes first, such as `cd "$REPO/python" && `.
    """
    tool = bench.tool or ""
    if tool not in TOOLS:
        raise PlanError(f"engine 'sglang' has no benchmark '{tool}'", hint=f"known: {', '.join(TOOLS)}")
    output = place.run_dir / f"{bench.name}-{place.launch}.jsonl"
    filled = _FILLED[tool](recipe, bench.args, place, output)
    arguments = words({**filled, **bench.args})
    shell = before + " ".join([python, "-m", _module(tool, package, python), *arguments])
    requests = prompts(bench.args) if tool == SERVING else None
    asks = tool not in WITHOUT_SERVER
    return BenchCommand(shell=shell, parser=tool, output=output, requests=requests, asks_server=asks)


def _module(tool: str, package: Path | None, python: str) -> str:
    """Return the module to run: known where the package is, else found by the shell, without importing it."""
    moved = _MOVED[tool]
    file = "/".join(moved.split(".")[1:]) + ".py"
    if package is not None:
        return moved if (package / file).is_file() else tool
    code = (
        "import importlib.util as u, os; s = u.find_spec('sglang'); "
        "d = (list(s.submodule_search_locations) if s else [''])[0]; "
        f"print('{moved}' if os.path.exists(os.path.join(d, '{file}')) else '{tool}')"
    )
    return f'"$({python} -c "{code}")"'


def _serving(recipe: Recipe, args: Arguments, place: Place, output: Path) -> dict[str, Scalar | list[Scalar]]:
    filled: dict[str, Scalar | list[Scalar]] = {"backend": "sglang", **_address(args, place)}
    if given(args, "dataset-name", "dataset-path") is None:
        filled["dataset-name"] = "random-ids"
    if given(args, "tokenizer", "model") is None:
        filled["tokenizer"] = given(recipe.server, "tokenizer-path", "tokenizer", "model-path", "model")
    filled |= {"flush-cache": True, "seed": 1, "output-file": str(output)}
    return without(filled, args)


def _one_batch_server(
    recipe: Recipe, args: Arguments, place: Place, output: Path
) -> dict[str, Scalar | list[Scalar]]:
    filled: dict[str, Scalar | list[Scalar]] = {
        "model": "None",
        "base-url": f"http://{place.host}:{place.port}",
        "dataset-name": "random-ids",
        "seed": 1,
        "result-filename": str(output),
        "no-append-to-github-summary": True,
    }
    return without(filled, args)


def _in_process(
    recipe: Recipe, args: Arguments, place: Place, output: Path
) -> dict[str, Scalar | list[Scalar]]:
    """Return the server's arguments, since these tools load the model themselves, and the file."""
    filled: dict[str, Scalar | list[Scalar]] = {"random-seed": 1, "result-filename": str(output)}
    return without({**filled, **recipe.server}, args)


def _address(args: Arguments, place: Place) -> dict[str, Scalar | list[Scalar]]:
    return {} if given(args, "base-url") else {"host": place.host, "port": place.port}


_FILLED = {
    SERVING: _serving,
    ONE_BATCH_SERVER: _one_batch_server,
    ONE_BATCH: _in_process,
    OFFLINE: _in_process,
}


READY_LINE = r"The server is fired up and ready to roll!"
_FLUSH_TRIES = 5
_PAUSE_S = 0.5
_LAUNCH = re.compile(r"^(?P<before>.*(?:&&|;)\s*)?.*?(?P<python>\S*python[\d.]*)\s+-m\s+sglang\.", re.DOTALL)


class SglangEngine(CommandEngine):
    """SGLang's server, versions 0.4 to 0.5.23 (sgl-project/sglang: srt/server_args.py, http_server.py)."""

    name = "sglang"

    def __init__(self, python: str = "python3") -> None:
        self.python = python

    def server(self, recipe: Recipe, place: Place) -> ServerCommand | None:
        """Return `python3 -m sglang.launch_server` (or the recipe's `launch`) with the server's arguments.

        Host, port, a fixed random seed and a served name of this launch alone are added unless given. None
        if all benchmarks load the model themselves.
        """
        if recipe.bench and all(bench.tool in WITHOUT_SERVER for bench in recipe.bench):
            return None
        _refuse_repeated(recipe)
        program = recipe.launch.strip() if recipe.launch else f"exec {self.python} -m sglang.launch_server"
        added: dict[str, Scalar | list[Scalar]] = {
            "host": place.host,
            "port": place.port,
            "random-seed": 1,
            "served-model-name": served_name(place),
        }
        said = {flag(field) for field in canonical(recipe.server).values()}
        missing = {k: v for k, v in added.items() if flag(k) not in said and flag(k) not in program.split()}
        shell = " ".join([program, *words({**recipe.server, **missing})])
        return ServerCommand(shell=shell, env=server_variables(recipe))

    def conditions(self, recipe: Recipe) -> dict[str, Any]:
        """Return that the log says so, and that a token can be generated.

        `/health_generate` answers 200 only once a request went through the scheduler and came back.
        """
        quiet = str(given(recipe.server, "log-level") or "info").casefold() not in ("info", "debug")
        return {"http": "/health_generate", "log": None if quiet else READY_LINE}

    def bench(self, recipe: Recipe, bench: Bench, place: Place) -> BenchCommand:
        """Return the command of one pass: a tool of SGLang's with its arguments, or shell text."""
        if bench.command or not bench.tool:
            return super().bench(recipe, bench, place)
        before, python = self._interpreter(recipe)
        return bench_command(
            recipe, bench, place, before=before, python=python, package=self._package(recipe)
        )

    def stop_signal(self) -> int:
        """Return SIGINT: on SIGTERM the server waits for running requests without a limit."""
        return signal.SIGINT

    def report(self, recipe: Recipe, place: Place) -> Mapping[str, Any] | None:
        """Return what the running server applied, against what was asked, with memory and accepted length.

        Secrets are replaced. `ours` is False if the server that answers isn't the one of this launch.
        """
        info = call_json(place, "/server_info", "/get_server_info")
        if not isinstance(info, dict):
            return None
        fields = canonical(recipe.server, known_to(self._package(recipe)))
        asked = {fields[name]: value for name, value in recipe.server.items() if "$" not in str(value)}
        return report_of(info, asked=asked, served=served_name(place))

    def settle(self, recipe: Recipe, place: Place) -> str | None:
        """Flush the server's cache, which also resets its averages; return why it couldn't be, or None."""
        body = b""
        for attempt in range(_FLUSH_TRIES):
            status, body = call(place, "/flush_cache", method="POST", timeout_s=30.0)
            if status == 200:
                return None
            if attempt + 1 < _FLUSH_TRIES:
                time.sleep(_PAUSE_S)
        return f"the server's cache wasn't flushed: {body[:200].decode(errors='replace').strip()}"

    def problems(self, recipe: Recipe) -> tuple[str, ...]:
        """Return what the installed SGLang would refuse or ignore, or that there is none to check against."""
        package = self._package(recipe)
        known = known_to(package)
        found = problems(recipe.server, recipe.env, known)
        if not known.options:
            return (*found, "SGLang isn't installed here, so its server arguments weren't checked")
        return found

    def _interpreter(self, recipe: Recipe) -> tuple[str, str]:
        """Return what the recipe's `launch` does first, and its interpreter: benchmarks run the same way."""
        match = _LAUNCH.search(recipe.launch) if recipe.launch else None
        return (match["before"] or "", match["python"]) if match else ("", self.python)

    def _package(self, recipe: Recipe) -> Path | None:
        """Return where SGLang is installed for the recipe's interpreter; None where its shell text decides."""
        before, python = self._interpreter(recipe)
        return None if before else package_folder("sglang", recipe.env, python)


def served_name(place: Place) -> str:
    """Return the name under which the server of this launch serves its model: no other server has it."""
    return f"optrack-{place.run}-{place.launch}"


def server_variables(recipe: Recipe) -> dict[str, str]:
    """Return variables that keep the server's processes visible and its crashes short.

    SPT_NOENV leaves the environment of renamed processes readable; the other two spare a minute of waiting
    for dumps after a crash. Those that the recipe or the shell sets are left alone.
    """
    wanted = {
        "SPT_NOENV": "1",
        "SGLANG_CUDA_COREDUMP_BEFORE_CRASH": "0",
        "SGLANG_PYSPY_DUMP_BEFORE_CRASH": "0",
    }
    return {k: v for k, v in wanted.items() if k not in recipe.env and k not in os.environ}


def _refuse_repeated(recipe: Recipe) -> None:
    fields = canonical(recipe.server)
    for field in dict.fromkeys(fields.values()):
        spellings = [name for name, of in fields.items() if of == field]
        values = {json.dumps(recipe.server[name]) for name in spellings}
        if len(values) > 1:
            raise PlanError(
                f"server arguments {' and '.join(spellings)} are the same one and have different values",
                hint=f"use one spelling throughout the plan, such as {field.replace('_', '-')}",
            )

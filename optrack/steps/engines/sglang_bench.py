"""The commands of SGLang's own benchmarks, by the name of the tool and with its arguments by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from optrack.core.recipes.recipe import Bench, Recipe, Scalar
from optrack.errors import PlanError
from optrack.steps.engines.arguments import Arguments, flag, given, prompts, words
from optrack.steps.engines.protocol import BenchCommand, Place

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
    return BenchCommand(shell=shell, parser=tool, output=output, requests=requests)


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
    return _unless_given(filled, args)


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
    return _unless_given(filled, args)


def _in_process(
    recipe: Recipe, args: Arguments, place: Place, output: Path
) -> dict[str, Scalar | list[Scalar]]:
    """Return the server's arguments, since these tools load the model themselves, and the file."""
    filled: dict[str, Scalar | list[Scalar]] = {"random-seed": 1, "result-filename": str(output)}
    return _unless_given({**filled, **recipe.server}, args)


def _address(args: Arguments, place: Place) -> dict[str, Scalar | list[Scalar]]:
    return {} if given(args, "base-url") else {"host": place.host, "port": place.port}


def _unless_given(
    filled: Mapping[str, Scalar | list[Scalar]], args: Arguments
) -> dict[str, Scalar | list[Scalar]]:
    said = {flag(name) for name in args}
    return {name: value for name, value in filled.items() if flag(name) not in said}


_FILLED = {
    SERVING: _serving,
    ONE_BATCH_SERVER: _one_batch_server,
    ONE_BATCH: _in_process,
    OFFLINE: _in_process,
}

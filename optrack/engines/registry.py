"""The engines by name: how each kind of server is launched, benchmarked and asked."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from optrack.engines.command import CommandEngine
from optrack.engines.protocol import Engine
from optrack.engines.sglang import SglangEngine
from optrack.engines.vllm import VllmEngine
from optrack.errors import PlanError
from optrack.model.text import nearest

GROUP = "optrack.engines"
PYTHON = "python3"


@cache
def engines(python: str = PYTHON) -> dict[str, Engine]:
    """Return the engines by name: optrack's own, and those that other packages offer as `optrack.engines`.

    `python` is the interpreter that has the servers' packages; programs are looked for beside it if it is a path.
    An entry point names a class or function that is called without arguments and returns an engine.
    """
    from importlib.metadata import entry_points

    vllm = str(Path(python).with_name("vllm")) if "/" in python else "vllm"
    own: list[Engine] = [CommandEngine(), SglangEngine(python), VllmEngine(vllm, python)]
    added: list[Engine] = [entry.load()() for entry in entry_points(group=GROUP)]
    return {engine.name: engine for engine in (*own, *added)}


def engine_named(name: str, python: str = PYTHON) -> Engine:
    """Return the engine called `name`, which starts servers with `python`.

    Raises PlanError, with the nearest name, if there is none.
    """
    known = engines(python)
    if name in known:
        return known[name]
    near = nearest(name, known, cutoff=0.5)
    hint = f"did you mean '{near}'?" if near else f"known engines: {', '.join(known)}"
    raise PlanError(f"unknown engine '{name}'", hint=hint)

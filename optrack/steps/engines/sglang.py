"""The engine for SGLang: its server's arguments by name, its readiness, its benchmarks, what it applied."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from optrack.core.recipes.recipe import Bench, Ready, Recipe, Scalar
from optrack.errors import PlanError
from optrack.steps.engines.arguments import flag, given, words
from optrack.steps.engines.command import own_command
from optrack.steps.engines.http import call, call_json
from optrack.steps.engines.installed import package_folder
from optrack.steps.engines.protocol import BenchCommand, Place, ServerCommand
from optrack.steps.engines.server_info import report_of
from optrack.steps.engines.sglang_arguments import canonical, known_to, problems
from optrack.steps.engines.sglang_bench import WITHOUT_SERVER, bench_command

READY_LINE = r"The server is fired up and ready to roll!"
_FLUSH_TRIES = 5
_PAUSE_S = 0.5
_LAUNCH = re.compile(r"^(?P<before>.*(?:&&|;)\s*)?.*?(?P<python>\S*python[\d.]*)\s+-m\s+sglang\.", re.DOTALL)


class SglangEngine:
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

    def ready(self, recipe: Recipe) -> Ready:
        """Return the recipe's own conditions, or: the log says so, and a token can be generated.

        `/health_generate` answers 200 only once a request went through the scheduler and came back.
        """
        own = recipe.ready
        if own.http or own.tcp or own.log or own.command:
            return own
        quiet = str(given(recipe.server, "log-level") or "info").casefold() not in ("info", "debug")
        return own.model_copy(update={"http": "/health_generate", "log": None if quiet else READY_LINE})

    def bench(self, recipe: Recipe, bench: Bench, place: Place) -> BenchCommand:
        """Return the command of one pass: a tool of SGLang's with its arguments, or shell text."""
        if bench.command or not bench.tool:
            return own_command(bench, place)
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

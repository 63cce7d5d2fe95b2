"""The engine for every other server: its command, its readiness and its benchmarks are the recipe's own."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from optrack.engines.protocol import BenchCommand, Place, ServerCommand
from optrack.errors import PlanError
from optrack.model.recipe import Recipe
from optrack.model.recipe_parts import Bench, Ready


class CommandEngine:
    """Runs the recipe's own shell text; a benchmark that names a tool needs an engine that knows it."""

    name = "command"

    def server(self, recipe: Recipe, place: Place) -> ServerCommand | None:
        """Return the recipe's `launch` text, or None where there is no server to start."""
        return ServerCommand(shell=recipe.launch) if recipe.launch else None

    def ready(self, recipe: Recipe) -> Ready:
        """Return the recipe's conditions; without any, the engine's own."""
        given = recipe.ready
        if given.http or given.tcp or given.log or given.command:
            return given
        return given.model_copy(update=self.conditions(recipe))

    def conditions(self, recipe: Recipe) -> dict[str, Any]:
        """Return when the server counts as ready if the recipe doesn't say it: its port accepts connections."""
        return {"tcp": True} if recipe.launch else {}

    def bench(self, recipe: Recipe, bench: Bench, place: Place) -> BenchCommand:
        """Return the benchmark's own command, with the file that it appends its result to, if it says one."""
        return own_command(bench, place)

    def stop_signal(self) -> int:
        """Return SIGTERM."""
        return signal.SIGTERM

    def report(self, recipe: Recipe, place: Place) -> Mapping[str, Any] | None:
        """Return None: nothing is known of how to ask."""
        return None

    def settle(self, recipe: Recipe, place: Place) -> str | None:
        """Do nothing: nothing is known of caches."""
        return None

    def problems(self, recipe: Recipe) -> tuple[str, ...]:
        """Return what this engine would ignore: arguments by name mean nothing to shell text."""
        if recipe.server:
            return ("`server` means nothing to engine 'command': write the arguments into `launch`",)
        return ()


def own_command(bench: Bench, place: Place) -> BenchCommand:
    """Return the command of a benchmark that is shell text; raises PlanError if it names a tool instead."""
    if not bench.command:
        what = (
            f"benchmark '{bench.name}' names the tool '{bench.tool}'"
            if bench.tool
            else "there is no benchmark"
        )
        raise PlanError(
            f"{what}, which engine 'command' doesn't know",
            hint="write the benchmark as shell text, or name an engine",
        )
    output = Path(bench.output) if bench.output else None
    if output is not None and not output.is_absolute():
        output = place.run_dir / output
    return BenchCommand(shell=bench.command, parser=bench.parser, output=output)

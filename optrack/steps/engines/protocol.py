"""What an engine is: how a kind of server is launched, known to be ready, benchmarked and asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from optrack.core.frozen import Frozen
from optrack.core.recipes.recipe import Bench, Ready, Recipe


class Place(Frozen):
    """Where one launch happens: its folder for raw files, its port, and what its commands may know."""

    run: str
    item: str
    launch: int
    run_dir: Path
    port: int
    host: str = "127.0.0.1"


class ServerCommand(Frozen):
    """A server to start: shell text for bash, and variables the engine itself needs beside the recipe's."""

    shell: str
    env: Mapping[str, str] = {}


class BenchCommand(Frozen):
    """A benchmark to run: shell text for bash, who reads its output, and the file it writes, if any.

    Without `output` the parser reads what the command prints; with it, what this pass appended to that file.
    `requests` is how many requests must be completed, where the recipe says it.
    """

    shell: str
    parser: str
    output: Path | None = None
    requests: int | None = None
    env: Mapping[str, str] = {}


class Engine(Protocol):
    """One kind of inference server."""

    name: str

    def server(self, recipe: Recipe, place: Place) -> ServerCommand | None:
        """Return the command that starts the server, or None where the recipe has no server."""

    def ready(self, recipe: Recipe) -> Ready:
        """Return when the server counts as ready: the recipe's conditions, or the engine's own."""

    def bench(self, recipe: Recipe, bench: Bench, place: Place) -> BenchCommand:
        """Return the command of one benchmark pass."""

    def stop_signal(self) -> int:
        """Return the signal on which this server shuts down by itself."""

    def report(self, recipe: Recipe, place: Place) -> Mapping[str, Any] | None:
        """Return what the running server says of its own configuration, or None if it says nothing."""

    def settle(self, recipe: Recipe, place: Place) -> str | None:
        """Bring the running server to the same state before each benchmark pass (flush its caches).

        Returns why that couldn't be done, in a sentence for the record, or None.
        """

    def problems(self, recipe: Recipe) -> tuple[str, ...]:
        """Return what is probably not meant in the recipe's server arguments and variables, in sentences."""

"""What an engine is, and arguments by name as the words of a command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from optrack.model.recipe import Recipe
from optrack.model.recipe_parts import Bench, Ready
from optrack.model.value import Frozen
from optrack.model.written import Scalar


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
    `requests` is how many requests must be completed, where the recipe says it. One that loads the model itself
    doesn't ask the server.
    """

    shell: str
    parser: str
    output: Path | None = None
    requests: int | None = None
    env: Mapping[str, str] = {}
    asks_server: bool = True


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


Arguments: TypeAlias = Mapping[str, "Scalar | list[Scalar]"]


def flag(name: str) -> str:
    """Return the option for an argument's name: `--mem-fraction-static` for `mem_fraction_static` too."""
    return "--" + name.lstrip("-").replace("_", "-")


def words(arguments: Arguments) -> list[str]:
    """Return the arguments as words for a shell.

    True is the option alone, False and None leave it out, a list is the option followed by each value.
    A value with a `$` is left to the shell to expand, so `$MODEL` works; everything else is literal.
    """
    found: list[str] = []
    for name, value in arguments.items():
        if value is None or value is False:
            continue
        found.append(flag(name))
        if value is not True:
            found += [quoted(v) for v in (value if isinstance(value, list) else [value]) if v is not None]
    return found


def quoted(value: Scalar) -> str:
    """Return one value as a shell word."""
    text = _text(value)
    if "$" not in text:
        return shlex.quote(text)
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("`", "\\`")
    return f'"{escaped}"'


def prompts(arguments: Arguments) -> int | None:
    """Return the number of prompts that a benchmark's arguments ask for, if they say it."""
    count = given(arguments, "num-prompts")
    return count if isinstance(count, int) and not isinstance(count, bool) else None


def _text(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def without(arguments: Arguments, names: Iterable[str]) -> dict[str, Scalar | list[Scalar]]:
    """Return the arguments without those called any of `names`, with dashes or underscores."""
    left_out = {flag(name) for name in names}
    return {name: value for name, value in arguments.items() if flag(name) not in left_out}


def given(arguments: Arguments, *names: str) -> Scalar | list[Scalar]:
    """Return the value of the first of `names` that is among the arguments, or None."""
    by_flag = {flag(name): value for name, value in arguments.items()}
    return next((by_flag[flag(name)] for name in names if flag(name) in by_flag), None)

"""Recipe blocks: fences marked `yaml recipe`, read to layers whose every problem has its line."""

from __future__ import annotations

from typing import Any

from optrack.core.parse.document import Fence
from optrack.core.parse.yaml_text import YamlError, load_yaml
from optrack.core.plan import Problem, RecipeLayer
from optrack.core.recipes.schema import RECIPE, stays_text


def is_recipe(fence: Fence) -> bool:
    """Whether the fence's info string is `yaml recipe`."""
    words = fence.info.lower().split()
    return len(words) >= 2 and words[0] in ("yaml", "yml") and words[1] == "recipe"


def looks_like_recipe(fence: Fence) -> bool:
    """Whether a fence that isn't marked as one holds what only a recipe would: `bench:` and another key."""
    words = fence.info.lower().split()
    if words == ["recipe"]:
        return True
    if words not in (["yaml"], ["yml"]):
        return False
    keys = {line.split(":", 1)[0] for line in fence.content.split("\n") if ":" in line and line[:1].isalpha()}
    return "bench" in keys and bool(keys & {"env", "server", "launch", "engine", "repetitions", "launches"})


def read_recipe(fence: Fence) -> tuple[RecipeLayer | None, list[Problem]]:
    """Return the layer in a recipe block and its problems; None where it can't be read at all."""
    problems: list[Problem] = []
    if not fence.closed:
        problems.append(unclosed(fence))
    try:
        loaded = load_yaml(fence.content, as_text=stays_text)
    except YamlError as problem:
        problems.append(_problem(fence, problem.message, (problem.line, problem.column), problem.hint))
        return None, problems
    data: Any = {} if loaded.data is None else loaded.data
    for fault in RECIPE.faults(data, ()):
        path = fault.path
        while path and path not in loaded.places:
            path = path[:-1]
        problems.append(_problem(fence, fault.message, loaded.places.get(path, (1, 1)), fault.hint))
    if not isinstance(data, dict):
        return None, problems
    lines = {".".join(path): fence.line + line for path, (line, _) in loaded.places.items()}
    columns = {".".join(path): fence.indent + column for path, (_, column) in loaded.places.items()}
    layer = RecipeLayer(data=data, text=fence.content, line=fence.line, lines=lines, columns=columns)
    return layer, problems


def unclosed(fence: Fence) -> Problem:
    """Return the warning that a fence runs on to the end of what holds it."""
    return Problem(
        severity="warning",
        message="this code fence isn't closed, so all that follows belongs to it",
        line=fence.line,
        column=fence.indent + 1,
        hint="end it with a line of the same sign",
    )


def _problem(fence: Fence, message: str, place: tuple[int, int], hint: str | None) -> Problem:
    line, column = place
    return Problem(
        severity="error",
        message=f"recipe: {message}",
        line=fence.line + line,
        column=fence.indent + column,
        hint=hint,
    )

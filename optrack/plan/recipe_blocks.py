"""Recipe blocks (`yaml recipe`): read to layers, each given to the item that it stands in."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from optrack.model.plan import Problem, RecipeLayer
from optrack.model.recipe import layer_faults, stays_text
from optrack.plan.parts import Candidate, Fence, error_at, warning_at
from optrack.plan.yaml_text import YamlError, load_yaml


def recipe_fences(fences: list[Fence], problems: list[Problem]) -> list[Fence]:
    """Return the recipe blocks among fences; those that don't end or seem meant as one become problems."""
    for fence in fences:
        if not fence.closed:
            message = "this code fence isn't closed, so all that follows belongs to it"
            hint = "end it with a line of the same sign"
            problems.append(warning_at(fence.line, message, hint, column=fence.indent + 1))
        if not fence.is_recipe and _looks_like_recipe(fence):
            message = "this block looks like a recipe but isn't marked as one"
            problems.append(warning_at(fence.line, message, "write ```yaml recipe", column=fence.indent + 1))
    return [fence for fence in fences if fence.is_recipe]


def place_recipes(items: list[Candidate], fences: list[Fence], problems: list[Problem]) -> RecipeLayer | None:
    """Give each item the recipe that stands in it; return the base recipe, the one before the first item.

    `items` are in document order, as are `fences`.
    """
    starts = [item.line for item in items]
    base: RecipeLayer | None = None
    for fence in fences:
        layer, faults = _read_recipe(fence)
        problems += faults
        at = bisect_right(starts, fence.line) - 1
        owner = items[at] if at >= 0 else None
        while owner is not None and fence.line > owner.end:
            owner = owner.parent
        message, hint = "", "write both as one block"
        if owner is not None and owner.recipe is None:
            owner.recipe = layer
        elif owner is not None and owner.recipe is not None:
            message = f"a second recipe in `{owner.title}`; the first is on line {owner.recipe.line}"
        elif at >= 0:
            message = "this recipe stands outside any item"
            hint = "put it under a labelled heading, or before the first item as the base recipe"
        elif base is not None:
            message = f"a second base recipe; the first is on line {base.line}"
            hint = "write both as one block, or put this one under an item"
        else:
            base = layer
        if message:
            problems.append(error_at(fence.line, message, hint, column=fence.indent + 1))
    return base


def _looks_like_recipe(fence: Fence) -> bool:
    """Whether a fence that isn't marked as one holds what only a recipe would: `bench:` and another key."""
    words = fence.info.lower().split()
    if words not in (["yaml"], ["yml"]):
        return words == ["recipe"]
    keys = {line.split(":", 1)[0] for line in fence.content.split("\n") if ":" in line and line[:1].isalpha()}
    return "bench" in keys and bool(keys & {"env", "server", "launch", "engine", "repetitions", "launches"})


def _read_recipe(fence: Fence) -> tuple[RecipeLayer | None, list[Problem]]:
    """Return the layer in a recipe block and its problems; None where it can't be read at all."""
    problems: list[Problem] = []

    def add(message: str, place: tuple[int, int], hint: str | None) -> None:
        line, column = fence.line + place[0], fence.indent + place[1]
        problems.append(error_at(line, f"recipe: {message}", hint, column=column))

    try:
        loaded = load_yaml(fence.content, as_text=stays_text)
    except YamlError as problem:
        add(problem.message, (problem.line, problem.column), problem.hint)
        return None, problems
    data: Any = {} if loaded.data is None else loaded.data
    for fault in layer_faults(data):
        path = fault.path
        while path and path not in loaded.places:
            path = path[:-1]
        add(fault.message, loaded.places.get(path, (1, 1)), fault.hint)
    if not isinstance(data, dict):
        return None, problems
    lines = {".".join(path): fence.line + line for path, (line, _) in loaded.places.items()}
    columns = {".".join(path): fence.indent + column for path, (_, column) in loaded.places.items()}
    return RecipeLayer(data=data, text=fence.content, line=fence.line, lines=lines, columns=columns), problems

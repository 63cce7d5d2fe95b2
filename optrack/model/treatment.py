"""Recipes as plain data: their layers laid over one another, and what two of them run differently."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from optrack.model.plan import Item, Plan, RecipeLayer

HOW_MEASURED = frozenset(
    {
        *("launches", "repetitions", "order", "stop", "timeout", "watch", "expect", "factor", "combine"),
        *("derived", "metrics", "check", "ready", "log_limit", "port", "subject", "process", "stop_command"),
    }
)
"""Keys that say how much is measured or checked, not what runs: they are no factors."""


def overlay(base: Mapping[str, Any], layer: Mapping[str, Any]) -> dict[str, Any]:
    """Lay `layer` over `base`: maps merge key by key, everything else replaces, None removes.

    Inside `env`, and in `env` alone, None stays: it unsets a variable that the shell would pass on.
    """
    return _overlay(base, layer, keep_none=False)


def _overlay(base: Mapping[str, Any], layer: Mapping[str, Any], *, keep_none: bool) -> dict[str, Any]:
    merged = dict(base)
    for key, value in layer.items():
        below = merged.get(key)
        if value is None and not keep_none:
            merged.pop(key, None)
        elif isinstance(value, Mapping):
            merged[key] = _overlay(below if isinstance(below, Mapping) else {}, value, keep_none=key == "env")
        else:
            merged[key] = value
    return merged


def layers_of(plan: Plan, item: Item | None) -> list[RecipeLayer]:
    """Return the recipe layers that apply to `item`, outermost first; the plan's own layer alone for None."""
    chain: list[RecipeLayer] = []
    while item is not None:
        if item.recipe is not None:
            chain.append(item.recipe)
            if item.recipe.over == "baseline":
                return [*layers_of(plan, plan.item(plan.baseline)), item.recipe]
        item = plan.item(item.parent) if item.parent else None
    if plan.recipe is not None:
        chain.append(plan.recipe)
    return chain[::-1]


def leaves(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the leaves of plain recipe data by dotted key, `{"env.NCCL_ALGO": "Tree"}`."""
    return {".".join(path): value for path, value in leaf_paths(data).items()}


def leaf_paths(data: Mapping[str, Any], above: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    """Return the leaves of plain recipe data by their path of keys."""
    found: dict[tuple[str, ...], Any] = {}
    for key, value in data.items():
        if isinstance(value, Mapping):
            found |= leaf_paths(value, (*above, key))
        else:
            found[(*above, key)] = value
    return found


def treatment(candidate: Mapping[str, Any], baseline: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the factors between two resolved recipes: leaf -> (baseline's value, candidate's)."""
    changed = changes(candidate, baseline)
    ours, theirs = leaf_paths(candidate), leaf_paths(baseline)
    return {".".join(path): (theirs.get(path), ours.get(path)) for path in changed}


def factor_names(factors: Collection[str]) -> tuple[str, ...]:
    """Return the names under which leaves that differ count, sorted: `repo` with a `patch` is one choice of code."""
    return tuple(sorted(name for name in factors if name != "repo" or "patch" not in factors))


def changes(candidate: Mapping[str, Any], baseline: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the paths of keys at which two resolved recipes run something different, sorted.

    A variable that is unset (null in `env`) differs from one that is merely not mentioned.
    """
    ours, theirs = leaf_paths(candidate), leaf_paths(baseline)
    return sorted(
        path
        for path in ours.keys() | theirs.keys()
        if path[0] not in HOW_MEASURED
        and (ours.get(path) != theirs.get(path) or (path in ours) != (path in theirs))
    )

"""An item's recipe resolved: its layers laid over one another, treatments combined, factors named."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import Field

from optrack.errors import PlanError
from optrack.model.plan import Item, Plan
from optrack.model.recipe import Recipe, RecipeError, recipe_from
from optrack.model.treatment import HOW_MEASURED, changes, layers_of, leaf_paths, overlay, treatment
from optrack.model.value import Frozen, recipe_digest

Path = tuple[str, ...]


class Resolved(Frozen):
    """A recipe ready to run: plain data, the typed recipe, and its factors against the baseline's.

    `factors` maps a dotted leaf to (baseline's value, candidate's). `combined` names the items whose treatments
    went in; `notes` says in sentences what a reader should know of how it came about. `digest` is that of the
    recipe as the plan has it, without what was adopted: it changes when the plan is edited, and only then.
    """

    data: Mapping[str, Any]
    recipe: Recipe
    factors: Mapping[str, tuple[Any, Any]] = Field(default_factory=dict)
    combined: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    digest: str = ""


def resolve(
    plan: Plan,
    item: Item | None,
    improved: Collection[str] = (),
    *,
    baseline: Item | None = None,
    adopted: Sequence[Item] = (),
) -> Resolved:
    """Resolve the recipe of `item`, or the plan's base recipe for None.

    `improved` are the ids of items that were an improvement: of those that `combine` lists, the treatments are
    merged; where two set the same leaf, the one later in rank wins and a note says so. `baseline` is the item
    to compare with (the plan's own by default). The treatments of `adopted` items, in the order of their
    adoption, are part of the base that everything stands on, the baseline included. Raises PlanError with file
    and line for a recipe that doesn't fit, a `combine` that names no item or itself, and one of which nothing
    was an improvement.
    """
    base = baseline if baseline is not None else plan.item(plan.baseline)
    original = _layered(plan, base)
    notes: list[str] = []
    data, combined = _data(plan, item, improved, original, notes, ())
    written = recipe_digest(data)
    base_data = original
    for part in adopted:
        base_data = _moved(_data(plan, part, improved, original, notes, ())[0], original, base_data)
    if adopted:
        data = _moved(data, original, base_data)
    try:
        recipe = recipe_from(data)
    except RecipeError as fault:
        raise _located(plan, item, fault.path, fault.message, fault.hint) from None
    return Resolved(
        data=data,
        recipe=recipe,
        factors=treatment(data, base_data),
        combined=combined,
        notes=tuple(notes),
        digest=written,
    )


def _moved(data: Mapping[str, Any], base: Mapping[str, Any], onto: Mapping[str, Any]) -> dict[str, Any]:
    """Return `onto` with all that `data` changes against `base`, and measured as `data` says."""
    values = leaf_paths(data)
    moved = {key: value for key, value in onto.items() if key not in HOW_MEASURED}
    moved |= {key: value for key, value in data.items() if key in HOW_MEASURED}
    for path in changes(data, base):
        moved = _with(moved, path, values)
    return moved


def combined_ids(plan: Plan, item: Item) -> tuple[str, ...]:
    """Return the ids that the item's own recipe combines, as written."""
    listed = item.recipe.data.get("combine") if item.recipe is not None else None
    entries = listed if isinstance(listed, list) else [listed]
    return tuple(str(entry) for entry in entries if entry is not None)


def _layered(plan: Plan, item: Item | None) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for layer in layers_of(plan, item):
        merged = overlay(merged, layer.data)
    return merged


def _data(
    plan: Plan,
    item: Item | None,
    improved: Collection[str],
    base: Mapping[str, Any],
    notes: list[str],
    above: tuple[str, ...],
) -> tuple[dict[str, Any], tuple[str, ...]]:
    if item is None or not combined_ids(plan, item):
        return _layered(plan, item), ()
    if item.id in above:
        raise _located(
            plan, item, ("combine",), f"`combine` of `{item.id}` leads back to itself", "break the circle"
        )
    parts = _parts(plan, item)
    used = [part for part in parts if part.id in improved]
    if not used:
        named = ", ".join(f"`{part.id}`" for part in parts)
        raise _located(
            plan,
            item,
            ("combine",),
            f"nothing to combine: none of {named} was an improvement",
            "run those first",
        )
    parent = plan.item(item.parent) if item.parent else None
    data = _layered(plan, parent)
    setter: dict[Path, str] = {}
    for part in used:
        theirs, _ = _data(plan, part, improved, base, notes, (*above, item.id))
        values = leaf_paths(theirs)
        for path in changes(theirs, base):
            before = setter.get(path)
            if before is not None and leaf_paths(data).get(path) != values.get(path):
                notes.append(
                    f"{before} and {part.id} both change `{'.'.join(path)}`; "
                    f"{part.id}'s value is used, the later of them"
                )
            setter[path] = part.id
            data = _with(data, path, values)
    own = item.recipe.data if item.recipe is not None else {}
    return overlay(data, dict(own.items())), tuple(part.id for part in used)


def _parts(plan: Plan, item: Item) -> list[Item]:
    found: list[Item] = []
    for name in combined_ids(plan, item):
        part = plan.item(name)
        if part is None:
            raise _located(
                plan, item, ("combine",), f"`combine` names `{name}`, which is no item", "use an item's id"
            )
        found.append(part)
    return sorted(found, key=lambda part: part.rank)


def _with(data: Mapping[str, Any], path: Path, values: Mapping[Path, Any]) -> dict[str, Any]:
    """The data with the leaf at `path` set to its value there, or taken out where it has none."""
    copy = dict(data)
    if len(path) == 1:
        copy.pop(path[0], None)
        if path in values:
            copy[path[0]] = values[path]
        return copy
    below = copy.get(path[0])
    inner = {tail[1:]: value for tail, value in values.items() if tail[0] == path[0] and len(tail) > 1}
    copy[path[0]] = _with(below if isinstance(below, Mapping) else {}, path[1:], inner)
    return copy


def _located(plan: Plan, item: Item | None, path: Path, message: str, hint: str | None) -> PlanError:
    """An error at the line of the innermost layer that sets `path` or what holds it."""
    line = item.line if item is not None else 1
    for end in range(len(path), 0, -1):
        name = ".".join(path[:end])
        found = next((la.lines[name] for la in reversed(layers_of(plan, item)) if name in la.lines), None)
        if found is not None:
            line = found
            break
    return PlanError(message, hint=hint, where=f"{plan.path}:{line}")

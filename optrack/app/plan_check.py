"""All that is wrong, or probably not meant, in a plan: what parsing found, and what the whole shows."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Iterator, Mapping
from itertools import groupby
from typing import Any

from optrack.app.check_metrics import metric_problems
from optrack.errors import PlanError
from optrack.model.plan import Item, Plan, Problem, RecipeLayer
from optrack.model.text import nearest
from optrack.model.treatment import layers_of, leaf_paths, overlay
from optrack.plan.resolve import combined_ids, resolve
from optrack.plan.schedule import children_of, is_runnable
from optrack.plan.skip import read_condition


def check(plan: Plan, *, metrics: Collection[str] | None = None) -> tuple[Problem, ...]:
    """Return every problem of the plan, sorted by line.

    `metrics` are the names that the parsers of the plan's benchmarks give, where they are known: a metric
    that nothing gives is then an error. Without them, what is known of the plan's tools gives warnings.
    """
    found = list(plan.problems)
    found += _cycles(plan)
    found += _unreachable(plan)
    for item in plan.items:
        found += _of_item(plan, item)
    found += _recipes(plan)
    found += _bare(plan)
    found += _left(plan)
    found += metric_problems(plan) if metrics is None else ()
    if metrics is not None:
        found += _metrics(plan, metrics)
    if not plan.items:
        found.append(
            _warning(
                1,
                "no items were found",
                "write headings like `## Priority 1: …`, task boxes, or a ranked table",
            )
        )
    unique = {(p.line, p.column, p.message): p for p in found}
    return tuple(sorted(unique.values(), key=lambda p: (p.line, p.column, p.message)))


def has_errors(problems: Collection[Problem]) -> bool:
    """Whether any problem keeps the plan from being run."""
    return any(problem.severity == "error" for problem in problems)


def _edges(plan: Plan) -> dict[str, tuple[str, ...]]:
    """What each item waits for: its needs, what it combines, and for a group its children."""
    edges: dict[str, tuple[str, ...]] = {}
    children = children_of(plan)
    ids = {item.id: item.id for item in plan.items} | {item.id.casefold(): item.id for item in plan.items}
    for item in plan.items:
        combined = tuple(ids[c.casefold()] for c in combined_ids(plan, item) if c.casefold() in ids)
        below = () if is_runnable(plan, item) else tuple(child.id for child in children.get(item.id, ()))
        edges[item.id] = (*item.needs, *combined, *below)
    return edges


def _cycles(plan: Plan) -> Iterator[Problem]:
    """Circles of waiting, each once, found by depth-first search without recursion."""
    edges = _edges(plan)
    lines = {item.id: item.line for item in plan.items}
    done: set[str] = set()
    for start in edges:
        if start in done:
            continue
        path: list[str] = []
        on_path: dict[str, int] = {}
        stack: list[tuple[str, bool]] = [(start, False)]
        while stack:
            name, leaving = stack.pop()
            if leaving:
                path.pop()
                del on_path[name]
                done.add(name)
                continue
            if name in on_path:
                circle = [*path[on_path[name] :], name]
                yield _error(
                    lines.get(name, 1),
                    f"these wait for one another: {' → '.join(circle)}",
                    "take one of the needs away",
                )
                continue
            if name in done or name not in edges:
                continue
            on_path[name] = len(path)
            path.append(name)
            stack.append((name, True))
            stack.extend((other, False) for other in edges[name])


def _unreachable(plan: Plan) -> Iterator[Problem]:
    status = {item.id: item.status for item in plan.items}
    for item in plan.items:
        for need in item.needs:
            if status.get(need) == "cancelled":
                yield _warning(
                    item.line,
                    f"`{item.id}` can't be reached: it needs `{need}`, which is cancelled",
                    "drop that need",
                )
        above = plan.item(item.parent) if item.parent is not None else None
        if above is not None and above.id in item.needs and not is_runnable(plan, above):
            message = f"`{item.id}` needs `{above.id}`, which is done only when all that it holds is"
            yield _error(item.line, message, "drop that need")


def _of_item(plan: Plan, item: Item) -> Iterator[Problem]:
    for name in combined_ids(plan, item):
        if plan.item(name) is None:
            line = item.recipe.lines.get("combine", item.line) if item.recipe is not None else item.line
            near = nearest(name, [i.id for i in plan.items][:500])
            yield _error(
                line,
                f"`combine` names `{name}`, which is no item",
                f"did you mean `{near}`?" if near else None,
            )
    if item.skip_if and read_condition(item.skip_if, plan) is None:
        yield _warning(
            item.line,
            f"`Skip if: {item.skip_if[:60]}` can't be evaluated, so `{item.id}` is never skipped",
            "write it like `1B is an improvement` or `1A failed`",
        )


def _left(plan: Plan) -> Iterator[Problem]:
    """What may have been meant as an item and wasn't read as one; neighbours of one kind and reason are one problem."""
    lines = sorted(item.line for item in plan.items)
    doubtful = [left for left in plan.left_out if left.doubtful]
    for _, group in groupby(doubtful, lambda left: (left.kind, left.reason, bisect(lines, left.line))):
        first, *others = group
        more = f" and {len(others)} more like it" if others else ""
        yield _warning(
            first.line,
            f"`{first.text[:80]}`{more} isn't read as an item: {first.reason}",
            "write {#id} behind it to take it, or {.note} if it is none",
        )


def _bare(plan: Plan) -> Iterator[Problem]:
    """Items without a recipe in a plan that has some: they can only be marked by hand."""
    children = children_of(plan)
    if plan.recipe is None and not any(item.recipe is not None for item in plan.items):
        return
    for item in plan.items:
        if not is_runnable(plan, item) and not children.get(item.id) and item.status == "pending":
            yield _warning(
                item.line, f"`{item.id}` has no recipe, so it is marked by hand", "add a block ```yaml recipe"
            )


def _recipes(plan: Plan) -> Iterator[Problem]:
    """Recipes that don't resolve, set what already holds, or lack what a run needs."""
    broken = {p.line for p in plan.problems if p.severity == "error"}
    for item in plan.items:
        if item.recipe is None and item.id != plan.baseline:
            continue
        layers = layers_of(plan, item)
        if not layers:
            continue
        if item.recipe is not None and len(layers) > 1:
            yield from _repeats(item.recipe, layers[:-1])
        problem = _unresolved(plan, item)
        if problem is not None and problem.line not in broken:
            yield problem


def _unresolved(plan: Plan, item: Item) -> Problem | None:
    parts = [part.id for name in combined_ids(plan, item) if (part := plan.item(name)) is not None]
    if len(parts) != len(combined_ids(plan, item)):
        return None
    try:
        recipe = resolve(plan, item, parts).recipe
    except PlanError as error:
        where = (error.where or "").rsplit(":", 1)[-1]
        return _error(int(where) if where.isdigit() else item.line, f"recipe: {error.message}", error.hint)
    if not recipe.bench:
        return _error(
            item.line,
            f"`{item.id}` has no `bench`, so nothing would be measured",
            "add `bench:` to the base recipe",
        )
    if recipe.launch is None and recipe.engine == "command" and recipe.ready.http is not None:
        return _error(
            item.line,
            f"`{item.id}` waits for a server that nothing launches",
            "add `launch:`, or drop `ready`",
        )
    return None


def _repeats(own: RecipeLayer, above: list[RecipeLayer]) -> Iterator[Problem]:
    merged: dict[str, Any] = {}
    for layer in above:
        merged = overlay(merged, layer.data)
    below: Mapping[tuple[str, ...], Any] = leaf_paths(merged)
    for path, value in leaf_paths(own.data).items():
        name = ".".join(path)
        if path in below and below[path] == value and value is not None:
            yield _at(own, name, f"`{name}` is already {value!r} in the recipe above")
        elif value is None and path not in below and path[0] != "env":
            yield _at(own, name, f"`{name}` removes what isn't there")


def _at(own: RecipeLayer, name: str, message: str) -> Problem:
    warning = _warning(own.lines.get(name, own.line), message, "leave it out")
    return warning.model_copy(update={"column": own.columns.get(name, 1)})


def _metrics(plan: Plan, known: Collection[str]) -> Iterator[Problem]:
    given = set(known)
    for item in (None, *plan.items):
        for layer in (
            layers_of(plan, item) if (item is not None and item.recipe is not None) or item is None else ()
        ):
            given.update(layer.data.get("metrics") or {})
            given.update(layer.data.get("derived") or {})
    if plan.metric.name not in given:
        near = nearest(plan.metric.name, sorted(given))
        line = next((n for n, text in enumerate(plan.text.split("\n"), 1) if text.startswith("metric")), 1)
        hint = f"did you mean `{near}`?" if near else "add it under `metrics:`"
        yield _error(line, f"no benchmark of this plan gives the metric `{plan.metric.name}`", hint)


def _error(line: int, message: str, hint: str | None) -> Problem:
    return Problem(severity="error", message=message, line=line, hint=hint)


def _warning(line: int, message: str, hint: str | None) -> Problem:
    return Problem(severity="warning", message=message, line=line, hint=hint)

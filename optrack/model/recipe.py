"""Recipes: how an item is launched and benchmarked, as layers of plain data and as one resolved value."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

from pydantic import Field

from optrack.model.metrics import Better
from optrack.model.plan import Item, Plan, RecipeLayer
from optrack.model.value import Frozen

Scalar = bool | int | float | str | None


class Ready(Frozen):
    """When the server counts as ready: each given condition holds. `http` is a path or a URL, `tcp` a port
    or True for the server's own, `log` a regular expression, `command` shell text that must exit 0."""

    http: str | None = None
    tcp: int | bool | None = None
    log: str | None = None
    command: str | None = None
    timeout_s: float = 1200.0
    silence_s: float | None = None


class Bench(Frozen):
    """One benchmark: a known tool with arguments by name, or shell text; `parser` reads its output."""

    name: str = "bench"
    tool: str | None = None
    command: str | None = None
    args: Mapping[str, Scalar | list[Scalar]] = Field(default_factory=dict)
    parser: str = "auto"
    output: str | None = None


class MetricRule(Frozen):
    """A metric beside those of the tool's parser: where it is found, and its direction."""

    regex: str | None = None
    json_path: str | None = Field(default=None, alias="json")
    csv: str | None = None
    log: str | None = None
    unit: str = ""
    better: Better | None = None
    file: str | None = None


class Check(Frozen):
    """A guard: a command whose number must lie within bounds, or a metric with a bound on how much worse."""

    command: str | None = None
    metric: str | None = None
    min: float | None = None
    max: float | None = None
    worse: float | None = None


class Timeouts(Frozen):
    """Limits per stage, in seconds."""

    setup_s: float = 1800.0
    bench_s: float = 1800.0
    check_s: float = 1800.0
    teardown_s: float = 60.0
    grace_s: float = 30.0


class Recipe(Frozen):
    """A resolved recipe. In `env` a None unsets an inherited variable; all values are text as written."""

    engine: str = "command"
    env: Mapping[str, str | None] = Field(default_factory=dict)
    server: Mapping[str, Scalar | list[Scalar]] = Field(default_factory=dict)
    launch: str | None = None
    cwd: str | None = None
    repo: str | None = None
    patch: tuple[str, ...] = ()
    setup: str | None = None
    port: int | None = None
    ready: Ready = Ready()
    warmup: tuple[Bench, ...] = ()
    bench: tuple[Bench, ...] = ()
    metrics: Mapping[str, MetricRule] = Field(default_factory=dict)
    derived: Mapping[str, str] = Field(default_factory=dict)
    check: Mapping[str, Check] = Field(default_factory=dict)
    launches: int = Field(default=1, ge=1)
    repetitions: int = Field(default=1, ge=1)
    order: Literal["interleaved", "block"] = "interleaved"
    stop: Literal["fixed", "sequential"] = "fixed"
    timeout: Timeouts = Timeouts()
    expect: Mapping[str, Mapping[str, str | None]] = Field(default_factory=dict)
    watch: tuple[str, ...] = ()
    combine: tuple[str, ...] = ()
    factor: str | None = None
    gpus: str | int | tuple[int, ...] | None = None
    log_limit_bytes: int = 20 * 2**30


HOW_MEASURED = frozenset(
    {
        *("launches", "repetitions", "order", "stop", "timeout", "watch", "expect", "factor", "combine"),
        *("derived", "metrics", "check", "ready", "log_limit", "port"),
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


def merged_layers(plan: Plan, item: Item | None) -> dict[str, Any]:
    """Return the item's recipe as plain data: all its layers laid over one another."""
    merged: dict[str, Any] = {}
    for layer in layers_of(plan, item):
        merged = overlay(merged, layer.data)
    return merged


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

"""Taking a treatment apart: the items that measure each factor alone, and everything but it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from optrack.core.frozen import Frozen
from optrack.core.recipe import treatment


class Ablation(Frozen):
    """An item that resolves part of a confounded treatment, to be put under the item it takes apart.

    `layer` is its recipe block, laid over that item's: it takes the other factors back to the baseline.
    """

    id: str
    title: str
    kind: Literal["single", "leave_one_out"]
    factor: str
    keeps: tuple[str, ...]
    layer: Mapping[str, Any]


def ablation(item: str, candidate: Mapping[str, Any], baseline: Mapping[str, Any]) -> tuple[Ablation, ...]:
    """Return the items that would resolve which factor of `candidate` (a resolved recipe) did what.

    First each factor alone, then, from three factors on, all but one; with two these are the same. Empty for
    a treatment of fewer than two factors.
    """
    factors = tuple(treatment(candidate, baseline))
    if len(factors) < 2:
        return ()
    plans: list[tuple[Literal["single", "leave_one_out"], str, tuple[str, ...]]] = [
        ("single", factor, (factor,)) for factor in factors
    ]
    if len(factors) > 2:
        plans += [
            ("leave_one_out", factor, tuple(other for other in factors if other != factor))
            for factor in factors
        ]
    return tuple(
        Ablation(
            id=f"{item}.{'only' if kind == 'single' else 'without'}-{_short(factor, factors)}",
            title=f"{item} {'with only' if kind == 'single' else 'without'} {factor}",
            kind=kind,
            factor=factor,
            keeps=keeps,
            layer=_back(candidate, baseline, frozenset(factors) - frozenset(keeps), ""),
        )
        for kind, factor, keeps in plans
    )


def _short(factor: str, factors: tuple[str, ...]) -> str:
    """Return the last part of a factor's name, or all of it where two factors end alike."""
    last = factor.rsplit(".", 1)[-1]
    alone = sum(other.rsplit(".", 1)[-1] == last for other in factors) == 1
    return last if alone else factor.replace(".", "-")


def _back(
    candidate: Mapping[str, Any], baseline: Mapping[str, Any], undo: frozenset[str], prefix: str
) -> dict[str, Any]:
    """Return the layer that takes the leaves `undo` (dotted) back to the baseline's values."""
    layer: dict[str, Any] = {}
    for key in [*candidate, *(key for key in baseline if key not in candidate)]:
        ours, theirs = candidate.get(key), baseline.get(key)
        if f"{prefix}{key}" in undo:
            layer[key] = theirs
        elif isinstance(ours, Mapping) or isinstance(theirs, Mapping):
            inner = _back(
                ours if isinstance(ours, Mapping) else {},
                theirs if isinstance(theirs, Mapping) else {},
                undo,
                f"{prefix}{key}.",
            )
            if inner:
                layer[key] = inner
    return layer

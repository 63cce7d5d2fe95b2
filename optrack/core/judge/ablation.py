"""Taking a treatment apart: the items that measure each factor alone, and everything but it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from optrack.core.frozen import Frozen
from optrack.core.recipes.recipe import changes, factor_names, leaf_paths, treatment


class Ablation(Frozen):
    """An item that resolves part of a confounded treatment, to be put under the item it takes apart.

    `layer` is its recipe block, laid over the baseline's recipe: it has the factors in `keeps` and no other.
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
    factors = factor_names(treatment(candidate, baseline))
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
            layer=_kept(candidate, baseline, frozenset(keeps)),
        )
        for kind, factor, keeps in plans
    )


def _short(factor: str, factors: tuple[str, ...]) -> str:
    """Return the last part of a factor's name, or all of it where two factors end alike."""
    last = factor.rsplit(".", 1)[-1]
    alone = sum(other.rsplit(".", 1)[-1] == last for other in factors) == 1
    return last if alone else factor.replace(".", "-")


def _kept(candidate: Mapping[str, Any], baseline: Mapping[str, Any], keeps: frozenset[str]) -> dict[str, Any]:
    """Return the layer over `baseline` that has the leaves `keeps` (dotted) as `candidate` has them."""
    ours = leaf_paths(candidate)
    layer: dict[str, Any] = {}
    for path in changes(candidate, baseline):
        if ".".join(path) in keeps or (path == ("repo",) and "patch" in keeps):
            place = layer
            for step in path[:-1]:
                place = place.setdefault(step, {})
            place[path[-1]] = ours.get(path)
    return layer

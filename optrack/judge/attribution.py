"""Whether what was measured can be credited to one factor, and the items that would take it apart."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

from optrack.model.judgement import Attribution
from optrack.model.treatment import changes, factor_names, leaf_paths, treatment
from optrack.model.value import Frozen
from optrack.model.wording import listed

_INSTRUMENTS = (
    "PROFILE",
    "TRACE",
    "DEBUG",
    "NSYS",
    "NVTX",
    "LAUNCH_BLOCKING",
    "TORCH_LOGS",
    "LOG_LEVEL",
    "SANITIZ",
    "DUMP",
)


def is_instrument(factor: str) -> bool:
    """Whether a factor observes the server (a profiler, a debug variable): observing costs time."""
    return any(word in factor.upper().replace("-", "_") for word in _INSTRUMENTS)


def attribute(
    factors: Mapping[str, tuple[Any, Any]],
    *,
    named: str | None = None,
    seen_alone: Collection[Collection[str]] = (),
) -> tuple[Attribution, tuple[str, ...]]:
    """Return the attribution of a treatment with `factors`, and the sentences that explain it.

    `named` is the recipe's `factor:`, under which all of them count as one. `seen_alone` has the treatments
    that were judged fairly against the same baseline: when each factor, or all but one of each, stands among
    them, the combination is resolved.
    """
    names = factor_names(factors)
    reasons = [
        f"{name} is an instrument: what it costs is part of the effect."
        for name in names
        if is_instrument(name)
    ]
    if named and len(names) > 1:
        reasons.append(f"{listed(names)} count as the one factor {named!r}, as the recipe says.")
        return Attribution(status="single", factors=(named,)), tuple(reasons)
    if len(names) <= 1:
        return Attribution(status="single", factors=names), tuple(reasons)
    judged = {frozenset(factor_names(treatment)) for treatment in seen_alone}
    everything = frozenset(names)
    missing = [
        name for name in names if frozenset({name}) not in judged and everything - {name} not in judged
    ]
    if not missing:
        reasons.append(f"Each of {listed(names)} was judged by itself against this baseline.")
        return Attribution(status="single", factors=names), tuple(reasons)
    each = "each of them" if len(missing) == len(names) else listed(missing)
    reasons.append(
        f"{len(names)} factors changed together ({listed(names)}), so the effect belongs to their "
        f"combination and can't be credited to any one of them; measuring {each} alone, "
        "or everything but it, would resolve it (`optrack ablate`)."
    )
    return Attribution(status="confounded", factors=names), tuple(reasons)


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

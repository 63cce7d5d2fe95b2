"""Whether what was measured can be credited to one factor, and what would resolve it where it can't."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from optrack.core.judge.wording import listed
from optrack.core.judgement import Attribution
from optrack.core.recipes.recipe import factor_names

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

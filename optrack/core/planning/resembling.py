"""Whether a recipe resembles one that has failed before: a warning worth minutes of a server's start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from optrack.core.frozen import Frozen
from optrack.core.recipes.recipe import treatment
from optrack.core.run import Failure, Run

NOT_THE_RECIPES = frozenset(
    {
        "port_in_use",
        "disk_full",
        "interrupted",
        "runner_died",
        "runner_error",
        "baseline_failed",
        "not_started",
    }
)
"""Kinds of failure that say nothing of the recipe."""


class Resemblance(Frozen):
    """A run that failed, and the factors that this recipe shares with it; `same` if it is the same recipe."""

    item: str
    run: str
    failure: Failure
    factors: tuple[str, ...]
    same: bool = False

    @property
    def text(self) -> str:
        """The warning, in one line."""
        shared = "this very recipe" if self.same else f"a recipe with {', '.join(self.factors)}"
        return f"{shared} failed before (item {self.item}, run {self.run}): {self.failure.message}"


def resembling(
    recipe: Mapping[str, Any], baseline: Mapping[str, Any], runs: Sequence[Run]
) -> tuple[Resemblance, ...]:
    """Return the failures that this recipe risks, the latest of `runs` first, each fingerprint once.

    A recipe resembles one that failed if it changes against the baseline all that the failed one changed, to
    the same values. A later success of the same recipe takes a failure back.
    """
    ours = treatment(recipe, baseline)
    found: dict[str, Resemblance] = {}
    succeeded: list[Mapping[str, Any]] = []
    for run in sorted(runs, key=lambda run: run.started_at, reverse=True):
        if run.outcome == "succeeded":
            succeeded.append(run.recipe)
        if run.failure is None or run.outcome not in ("failed", "timed_out"):
            continue
        if run.failure.kind in NOT_THE_RECIPES or run.recipe in succeeded:
            continue
        theirs = treatment(run.recipe, baseline)
        if not theirs or any(ours.get(key) != values for key, values in theirs.items()):
            continue
        factors = tuple(f"{key}={values[1]}" for key, values in theirs.items())
        resemblance = Resemblance(
            item=run.item, run=run.id, failure=run.failure, factors=factors, same=len(theirs) == len(ours)
        )
        found.setdefault(run.failure.fingerprint, resemblance)
    return tuple(found.values())

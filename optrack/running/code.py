"""The code that a side's server runs: the recipe's repository, or a patched copy of it."""

from __future__ import annotations

from pathlib import Path

from optrack.core.failures.classify import plain_failure
from optrack.running.session import Side
from optrack.steps.patching import PatchError, patched_copy
from optrack.steps.stage import StageFailed


def code_of(side: Side, project: Path) -> Path | None:
    """Return the repository that the server's code comes from, None where the recipe names none.

    Raises StageFailed (`preflight`) where a patch has nothing to apply to, or doesn't apply.
    """
    recipe = side.recipe
    if recipe.repo is None:
        if recipe.patch:
            why = "the recipe has a `patch` but no `repo` to apply it to"
            raise StageFailed("preflight", "failed", plain_failure("patch", why))
        return None
    if not recipe.patch:
        return project / recipe.repo
    try:
        return patched_copy(
            project / recipe.repo, [project / patch for patch in recipe.patch], side.folder / "repo"
        )
    except PatchError as error:
        raise StageFailed("preflight", "failed", plain_failure("patch", str(error))) from error

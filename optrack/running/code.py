"""The code that a side's server runs: the recipe's repository, or a patched copy of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from optrack.core.failures.classify import plain_failure
from optrack.running.session import Side
from optrack.steps.patching import CopyError, CopyStoppedError, PatchError, patched_copy, repository_of
from optrack.steps.stage import StageFailed


def code_of(side: Side, project: Path, should_stop: Callable[[], bool]) -> Path | None:
    """Return the folder of the server's code, patched where the recipe says so; None where the recipe names none.

    Raises StageFailed (`preflight`): `failed` where a patch doesn't apply, which is the item's fault, and
    `interrupted` where there is nothing to patch or the host doesn't let it be copied.
    """
    recipe = side.recipe
    source = repository_of(recipe, project)
    if source is not None and not source.is_dir():
        why = plain_failure("not_copied", f"there is no folder {source}, which `repo` names")
        raise StageFailed("preflight", "interrupted", why)
    if source is None or not recipe.patch:
        return source
    patches = [project / patch for patch in recipe.patch]
    try:
        return patched_copy(source, patches, side.folder / "repo", should_stop)
    except PatchError as error:
        raise StageFailed("preflight", "failed", plain_failure("patch", str(error))) from error
    except CopyError as error:
        kind = "disk_full" if error.is_full else "not_copied"
        raise StageFailed("preflight", "interrupted", plain_failure(kind, str(error))) from error
    except CopyStoppedError as error:
        why = plain_failure("interrupted", "stopped on request")
        raise StageFailed("preflight", "interrupted", why) from error

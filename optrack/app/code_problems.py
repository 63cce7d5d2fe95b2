"""What stands in the way of the code that a recipe names: its repository and its patches, as they are now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from optrack.errors import PlanError
from optrack.host.patching import CopyError, repository_of, why_not_applied, working_tree
from optrack.model.recipe import Recipe


class CodeProblem(NamedTuple):
    """One problem: how grave, at which key of the recipe, what, and what to do."""

    severity: Literal["error", "warning"]
    key: str
    message: str
    hint: str | None


def code_problems(recipe: Recipe, project: Path) -> Iterator[CodeProblem]:
    """Yield what is wrong with the repository and the patches of a recipe.

    Of several patches only the first is tried: the others apply to what it makes.
    """
    folder = repository_of(recipe, project)
    if folder is None:
        return
    if not recipe.patch:
        if not folder.is_dir():
            yield CodeProblem(
                "error", "repo", f"there is no folder {folder}", "`repo` names a folder with code"
            )
        return
    try:
        top = working_tree(folder)
    except CopyError as error:
        yield CodeProblem("error", "repo" if recipe.repo else "patch", str(error), _HINT)
        return
    if (why := why_not_applied(top, project / recipe.patch[0])) is not None:
        yield CodeProblem(
            "warning", "patch", why, "the run would fail: write the patch against the files there"
        )
    missing = [project / patch for patch in recipe.patch[1:] if not (project / patch).is_file()]
    for patch in missing:
        yield CodeProblem("warning", "patch", f"there is no patch {patch}", None)
    if not _uses_the_copy(recipe):
        yield CodeProblem(
            "warning",
            "patch",
            "no command names $REPO, the folder of the patched copy: what runs may be the unpatched code",
            'start the server from there, `launch: cd "$REPO" && …`',
        )


_HINT = "a patch needs a git repository with a commit: name it with `repo`, or leave `repo` out for the project's own"


def require_code(recipe: Recipe, project: Path, where: str) -> None:
    """Raise PlanError where a run couldn't even begin: no such repository, or no such patch."""
    for problem in code_problems(recipe, project):
        if problem.severity == "error" or problem.message.startswith("there is no patch"):
            raise PlanError(problem.message, hint=problem.hint, where=where)


def _uses_the_copy(recipe: Recipe) -> bool:
    commands = [recipe.launch, recipe.setup, recipe.cwd, *recipe.env.values()]
    commands += [bench.command for bench in (*recipe.bench, *recipe.warmup)]
    return any("REPO" in text for text in commands if text)

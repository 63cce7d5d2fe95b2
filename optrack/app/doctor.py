"""An examination of project and host: what stands in the way of a measurement."""

from __future__ import annotations

import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from optrack.app.answers.plans import Check
from optrack.errors import OptrackError
from optrack.host.fitness import check_host
from optrack.host.locks import lock_host

if TYPE_CHECKING:
    from optrack.app.project import Project

PROGRAMS = ("bash", "git")


def examine(project: Project) -> tuple[Check, ...]:
    """Return what was found of plan, database, programs and host; nothing is changed but the database made."""
    return (*_project(project), *_programs(), *_code(project), *_host(project))


def _project(project: Project) -> tuple[Check, ...]:
    found = [Check(name="project", ok=True, text=str(project.settings.project))]
    try:
        plan = project.written
        warnings = [problem for problem in plan.problems if problem.severity == "warning"]
        text = f"{plan.path}: {len(plan.items)} items, {len(warnings)} warnings"
        found.append(Check(name="plan", ok=True, text=text))
        project.campaign()
        found.append(Check(name="database", ok=True, text=project.settings.database))
    except OptrackError as error:
        where = f"{error.where}: " if error.where else ""
        found.append(Check(name=error.code, ok=False, text=f"{where}{error.message}"))
    return tuple(found)


def _programs() -> tuple[Check, ...]:
    found = []
    for name in PROGRAMS:
        path = shutil.which(name)
        found.append(Check(name=name, ok=path is not None, text=path or f"there is no {name} in PATH"))
    return tuple(found)


def _code(project: Project) -> tuple[Check, ...]:
    """Whether git reads the repository of the project, and those of the plan's recipes."""
    from optrack.host.git import unreadable

    folders = [project.settings.project]
    with suppress(OptrackError):
        campaign = project.campaign()
        recipes = [campaign.resolved(item).recipe for item in campaign.plan.items if item.recipe is not None]
        folders += [project.settings.project / recipe.repo for recipe in recipes if recipe.repo]
    return tuple(
        Check(name="repository", ok=False, text=f"{folder}: {why}; no comparison can be shown to be fair")
        for folder in dict.fromkeys(folders)
        if (why := unreadable(folder)) is not None
    )


def _host(project: Project) -> tuple[Check, ...]:
    settings = project.settings
    try:
        lock_host("doctor", project=settings.project, folder=settings.locks).release()
    except OptrackError as error:
        return (Check(name="host", ok=False, text=error.message),)
    share = settings.cpu_share if settings.cpu_share < 1 else None
    problems = check_host(folders=[settings.project], cpu_share=share)
    if not problems:
        cpus = "idle" if share is not None else "free (the CPUs aren't looked at: cpu_share = 1)"
        return (Check(name="host", ok=True, text=f"{cpus}, with room on the disk"),)
    return tuple(Check(name="host", ok=False, text=problem.message) for problem in problems)

"""An examination of project and host: what stands in the way of a measurement."""

from __future__ import annotations

import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from optrack.errors import OptrackError
from optrack.host.fitness import check_host
from optrack.host.locks import lock_host
from optrack.model.value import Frozen

if TYPE_CHECKING:
    from optrack.app.campaign import Campaign

PROGRAMS = ("bash", "git")


class Finding(Frozen):
    """What one check found."""

    name: str
    ok: bool
    text: str


def examine(campaign: Campaign) -> tuple[Finding, ...]:
    """Return what was found of plan, database, programs and host; nothing is changed but the database made."""
    return (*_project(campaign), *_programs(), *_code(campaign), *_host(campaign))


def _project(campaign: Campaign) -> tuple[Finding, ...]:
    found = [Finding(name="project", ok=True, text=str(campaign.settings.project))]
    try:
        plan = campaign.written
        warnings = [problem for problem in plan.problems if problem.severity == "warning"]
        text = f"{plan.path}: {len(plan.items)} items, {len(warnings)} warnings"
        found.append(Finding(name="plan", ok=True, text=text))
        campaign.sync()
        found.append(Finding(name="database", ok=True, text=campaign.settings.database))
    except OptrackError as error:
        where = f"{error.where}: " if error.where else ""
        found.append(Finding(name=error.code, ok=False, text=f"{where}{error.message}"))
    return tuple(found)


def _programs() -> tuple[Finding, ...]:
    found = []
    for name in PROGRAMS:
        path = shutil.which(name)
        found.append(Finding(name=name, ok=path is not None, text=path or f"there is no {name} in PATH"))
    return tuple(found)


def _code(campaign: Campaign) -> tuple[Finding, ...]:
    """Whether git reads the repository of the project, and those of the plan's recipes."""
    from optrack.host.git import unreadable

    folders = [campaign.settings.project]
    with suppress(OptrackError):
        recipes = [campaign.resolved(item).recipe for item in campaign.plan.items if item.recipe is not None]
        folders += [campaign.settings.project / recipe.repo for recipe in recipes if recipe.repo]
    return tuple(
        Finding(name="repository", ok=False, text=f"{folder}: {why}; no comparison can be shown to be fair")
        for folder in dict.fromkeys(folders)
        if (why := unreadable(folder)) is not None
    )


def _host(campaign: Campaign) -> tuple[Finding, ...]:
    settings = campaign.settings
    try:
        lock_host("doctor", project=settings.project, folder=settings.locks).release()
    except OptrackError as error:
        return (Finding(name="host", ok=False, text=error.message),)
    share = settings.cpu_share if settings.cpu_share < 1 else None
    problems = check_host(folders=[settings.project], cpu_share=share)
    if not problems:
        cpus = "idle" if share is not None else "free (the CPUs aren't looked at: cpu_share = 1)"
        return (Finding(name="host", ok=True, text=f"{cpus}, with room on the disk"),)
    return tuple(Finding(name="host", ok=False, text=problem.message) for problem in problems)

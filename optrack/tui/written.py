"""How the files that a campaign consists of stand on the disk: whether they changed, and what is wrong in them."""

from __future__ import annotations

from pathlib import Path

from optrack.app.project import read_plan
from optrack.errors import PlanError, StoreError
from optrack.model.plan import Problem


def problems(path: Path, error: PlanError) -> tuple[Problem, ...]:
    """Return what is wrong with a plan that was edited."""
    try:
        return tuple(p for p in read_plan(path).problems if p.severity == "error")
    except PlanError:
        return (Problem(severity="error", message=error.message, line=1),)


def stamp(path: Path) -> int:
    """Return a number that changes with the file; 0 if there is none."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def identity(path: Path) -> int:
    """Return which file this path names now; raises StoreError if it names none."""
    try:
        return path.stat().st_ino
    except OSError as error:
        hint = "what is shown is what it held; `optrack status` begins a new one"
        raise StoreError(f"{path} is gone", hint=hint) from error

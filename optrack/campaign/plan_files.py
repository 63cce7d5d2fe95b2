"""Plan files: which one is meant, and its text as a plan."""

from __future__ import annotations

from pathlib import Path

from optrack.core.plan import Plan
from optrack.errors import PlanError, UsageError
from optrack.plan import parse_plan
from optrack.settings import Settings, private_state
from optrack.steps.regular import read_regular, reason


def find_plan(settings: Settings, asked: Path | None) -> Path:
    """Return the plan file that was asked for, or chosen with `optrack use`, or is the only one in `plans/`."""
    if asked is not None:
        return asked
    chosen = settings.state / "plan"
    if settings.plan is not None:
        return settings.plan
    if chosen.is_file():
        return settings.project / chosen.read_text(encoding="utf-8").strip()
    there = sorted(settings.plans.glob("*.md")) if settings.plans.is_dir() else []
    if len(there) == 1:
        return there[0]
    if not there:
        raise UsageError(
            f"there is no plan in {settings.plans}",
            hint="`optrack plan new plans/NAME.md` writes one; `--plan FILE` names one elsewhere",
        )
    names = ", ".join(path.stem for path in there)
    raise UsageError(
        f"there are {len(there)} plans: {names}", hint="`optrack use NAME` chooses one, or give `--plan FILE`"
    )


def choose_plan(settings: Settings, path: Path) -> None:
    """Remember a plan as the one to work on in this project."""
    resolved = path.resolve()
    known = resolved.relative_to(settings.project) if resolved.is_relative_to(settings.project) else resolved
    try:
        private_state(settings.state)
        (settings.state / "plan").write_text(f"{known}\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the choice can't be kept in {settings.state}: {reason(error)}") from error


def read_plan(path: Path) -> Plan:
    """Return the plan in this file, its problems included; raises PlanError if it can't be read at all."""
    try:
        data = read_regular(path)
    except FileNotFoundError as error:
        raise PlanError(
            "there is no such plan", where=str(path), hint="check the path given with --plan"
        ) from error
    except OSError as error:
        raise PlanError(f"the plan can't be read: {reason(error)}", where=str(path)) from error
    return parse_plan(data, name=path.stem, path=str(path))

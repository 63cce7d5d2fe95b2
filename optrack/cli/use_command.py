"""`optrack use`: chooses the plan to work on."""

from __future__ import annotations

from pathlib import Path

import click

from optrack.cli import output
from optrack.cli.call import Call, standard
from optrack.errors import UsageError


@click.command("use")
@click.argument("plan_name", metavar="PLAN")
@standard
def command(call: Call, plan_name: str) -> None:
    """Choose the plan that commands work on: a name from the plans folder, or a file."""
    from optrack.app.project import choose_plan
    from optrack.settings import load_settings

    settings = load_settings(Path.cwd())
    named = settings.plans / f"{plan_name}.md"
    path = named if named.is_file() else Path(plan_name)
    if not path.is_file():
        there = ", ".join(sorted(p.stem for p in settings.plans.glob("*.md"))) or "none"
        raise UsageError(f"there is no plan {plan_name!r}", hint=f"plans here: {there}")
    chosen = settings.state / "plan"
    before = chosen.read_text(encoding="utf-8").strip() if chosen.is_file() else ""
    choose_plan(settings, path)
    is_same = before == chosen.read_text(encoding="utf-8").strip()
    text = f"using {path} already: nothing changes" if is_same else f"using {path}"
    output.data({"plan": str(path)}) if call.as_json else output.text(text)

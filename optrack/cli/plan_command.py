"""`optrack plan`: checks a plan, shows what was understood of it and what wasn't, writes a new one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from optrack.cli import output
from optrack.errors import UsageError

if TYPE_CHECKING:
    from optrack.model.plan import Plan

_JSON = click.option("--json", "as_json", is_flag=True, help="answer with one JSON document on stdout")
_FILE = click.argument("file", required=False, type=click.Path(path_type=Path))


@click.group("plan")
def command() -> None:
    """Check a plan, show what was understood of it, or write a new one."""


@command.command("check")
@_FILE
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    help="the document that the plan was written from: say what it names that is no item, and the other way round",
)
@_JSON
def check_command(file: Path | None, source: Path | None, as_json: bool) -> int:
    """Say what is wrong in a plan, and what is probably not meant, a line each; exit code 2 with errors."""
    from optrack.app.plan_check import has_errors
    from optrack.app.plan_problems import plan_problems
    from optrack.app.project import read_plan
    from optrack.plan.convert import source_problems
    from optrack.render.documents import problem_document
    from optrack.settings import load_settings

    plan = _plan(file)
    settings = load_settings(Path.cwd())
    problems = plan_problems(plan, settings.python, settings.project)
    if source is not None:
        problems = (*problems, *source_problems(plan, read_plan(source)))
    errors = sum(problem.severity == "error" for problem in problems)
    if as_json:
        found = [problem_document(problem) for problem in problems]
        output.data(
            {
                "plan": plan.path,
                "items": len(plan.items),
                "errors": errors,
                "warnings": len(problems) - errors,
                "problems": found,
            }
        )
    else:
        output.text([problem.located(plan.path) for problem in problems]) if problems else None
        counts = {"item": len(plan.items), "error": errors, "warning": len(problems) - errors}
        output.say(", ".join(f"{count} {what}{'' if count == 1 else 's'}" for what, count in counts.items()))
    return 2 if has_errors(problems) else 0


@command.command("show")
@_FILE
@click.option(
    "--left-out", "left_out", is_flag=True, help="list what wasn't read as items, with line and reason"
)
@_JSON
def show_command(file: Path | None, left_out: bool, as_json: bool) -> None:
    """Show what was understood of a plan: its items with rank, expectations and resolved recipes."""
    from optrack.errors import PlanError
    from optrack.plan.resolve import resolve
    from optrack.render.documents import plan_document, problem_document

    plan = _plan(file)
    recipes: dict[str, dict[str, Any] | None] = {}
    for item in plan.items:
        try:
            runs = item.recipe is not None or item.id == plan.baseline
            recipes[item.id] = dict(resolve(plan, item).data) if runs else None
        except PlanError:
            recipes[item.id] = None
    if as_json:
        problems = [problem_document(problem) for problem in plan.problems]
        left = [entry.model_dump() for entry in plan.left_out]
        output.data({"plan": plan_document(plan, recipes), "problems": problems, "left_out": left})
        return
    _print_plan(plan)
    _print_left_out(plan, listed=left_out)
    for problem in plan.problems:
        output.say(problem.located(plan.path))


@command.command("convert")
@click.argument("file", type=click.Path(path_type=Path))
@_JSON
def convert_command(file: Path, as_json: bool) -> None:
    """Print one page with all that an agent needs to write FILE as a plan; `plan check --from FILE` tells how well."""
    from optrack.app.project import read_plan
    from optrack.model.recipe import recipe_schema
    from optrack.plan.convert import conversion_page

    page = conversion_page(read_plan(file), list(recipe_schema()["properties"]))
    output.data({"text": page}) if as_json else output.text(page)


@command.command("new")
@_FILE
@click.option("--title", default=None, help="the plan's title; by default made from the file's name")
@click.option(
    "--from-command",
    "commands",
    multiple=True,
    metavar="TEXT",
    help="a working server's command and benchmark's, joined by && or given one after the other",
)
@_JSON
def new_command(file: Path | None, title: str | None, commands: tuple[str, ...], as_json: bool) -> None:
    """Write a new, commented plan to FILE, or print it. A file that is there already is left alone.

    With --from-command, the plan's baseline is what those two commands do.
    """
    from optrack.plan.scaffold import new_plan, plan_from_commands, split_commands

    name = file.stem.replace("-", " ").replace("_", " ").capitalize() if file else "Optimisation plan"
    if commands:
        server, bench = commands if len(commands) == 2 else split_commands("\n".join(commands))
        text = plan_from_commands(server, bench, title=title or name)
    else:
        text = new_plan(title or name)
    if file is None:
        output.data({"text": text}) if as_json else output.text(text)
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as target:
            target.write(text)
    except FileExistsError as error:
        raise UsageError(f"{file} is there already", hint="name a new file") from error
    except OSError as error:
        raise UsageError(f"{file} can't be written: {(error.strerror or str(error)).lower()}") from error
    output.data({"output": str(file)}) if as_json else output.say(f"wrote {file}")


@command.command("schema")
@_JSON
def schema_command(as_json: bool) -> None:
    """Print the JSON Schema of a recipe block, for editors."""
    from optrack.model.recipe import recipe_schema

    schema = recipe_schema()
    output.data({"schema": schema}) if as_json else output.json_text(json.dumps(schema, indent=2))


def _plan(file: Path | None) -> Plan:
    from optrack.app.project import find_plan, read_plan
    from optrack.settings import load_settings

    return read_plan(file or find_plan(load_settings(Path.cwd()), None))


def _print_plan(plan: Plan) -> None:
    from optrack.render.format import quantity
    from optrack.render.text import table

    direction = f", {plan.metric.better} is better" if plan.metric.better else ""
    output.text([f"{plan.title}  ({plan.path})", f"metric: {plan.metric.name}{direction}", ""])
    rows = [
        (
            ("  " if item.parent else "") + item.id,
            item.title,
            item.status.replace("_", " "),
            quantity(item.gain),
            quantity(item.effort),
            item.risk or "-",
            ", ".join(item.needs) or "-",
            "yes" if item.recipe is not None else "-",
            str(item.line),
        )
        for item in plan.items
    ]
    heads = ("ITEM", "TITLE", "STATUS", "EXPECTED", "EFFORT", "RISK", "NEEDS", "RECIPE", "LINE")
    output.text(table(heads, rows, right=(8,)))


def _print_left_out(plan: Plan, *, listed: bool) -> None:
    """End with what wasn't read as items: their numbers, or with `listed` each with its line and reason."""
    from collections import Counter

    if not plan.left_out:
        return
    if listed:
        lines = (f"{left.line}: {left.kind}: {left.text} ({left.reason})" for left in plan.left_out)
        output.text([output.one_line(line) for line in lines])
        return
    plural = {"heading": "headings", "bold line": "bold lines", "entry": "entries", "row": "rows"}
    counts = Counter(left.kind for left in plan.left_out)
    told = ", ".join(f"{count} {plural[kind] if count > 1 else kind}" for kind, count in counts.items())
    output.text(["", f"not read as items: {told}; `--left-out` lists them"])

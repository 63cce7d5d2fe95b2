"""The commands about plans: plan check, plan show, plan new, plan schema, use, todo, add."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from optrack.cli import output
from optrack.cli.call import Call, emit, standard, without_plan
from optrack.errors import UsageError

if TYPE_CHECKING:
    from optrack.model.plan import Plan

_FILE = click.argument("file", required=False, type=click.Path(path_type=Path))


@click.group("plan")
def plan() -> None:
    """Check a plan, show what was understood of it, or write a new one."""


@plan.command("check")
@_FILE
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    help="the document that the plan was written from: say what it names that is no item, and the other way round",
)
@without_plan
def check(call: Call, file: Path | None, source: Path | None) -> int:
    """Say what is wrong in a plan, and what is probably not meant, a line each; exit code 2 with errors."""
    from optrack.app.plan_queries import check_plan
    from optrack.model.wording import counted

    answer = check_plan(_plan(call, file), call.settings, source)

    def as_text() -> list[str] | None:
        lines = [problem.located(answer.plan) for problem in answer.problems]
        output.text(lines) if lines else None
        counts = ((answer.items, "item"), (answer.errors, "error"), (answer.warnings, "warning"))
        output.say(", ".join(counted(count, what) for count, what in counts))
        return None

    emit(call, answer, as_text)
    return 2 if answer.errors else 0


@plan.command("show")
@_FILE
@click.option(
    "--left-out", "left_out", is_flag=True, help="list what wasn't read as items, with line and reason"
)
@without_plan
def show(call: Call, file: Path | None, left_out: bool) -> None:
    """Show what was understood of a plan: its items with rank, expectations and resolved recipes."""
    from optrack.app.plan_queries import show_plan
    from optrack.render.text import plan_lines

    answer = show_plan(_plan(call, file))
    emit(call, answer, lambda: plan_lines(answer.plan.value, left_out=left_out))
    for problem in answer.problems if not call.as_json else ():
        output.say(problem.located(answer.plan.value.path))


@plan.command("convert")
@click.argument("file", type=click.Path(path_type=Path))
@without_plan
def convert(call: Call, file: Path) -> None:
    """Print one page with all that an agent needs to write FILE as a plan; `plan check --from FILE` tells how well."""
    from optrack.app.answers.plans import TextAnswer
    from optrack.app.plan_queries import conversion

    page = conversion(file)
    emit(call, TextAnswer(text=page), lambda: page)


@plan.command("new")
@_FILE
@click.option("--title", default=None, help="the plan's title; by default made from the file's name")
@click.option(
    "--from-command",
    "commands",
    multiple=True,
    metavar="TEXT",
    help="a working server's command and benchmark's, joined by && or given one after the other",
)
@without_plan
def new(call: Call, file: Path | None, title: str | None, commands: tuple[str, ...]) -> None:
    """Write a new, commented plan to FILE, or print it. A file that is there already is left alone.

    With --from-command, the plan's baseline is what those two commands do.
    """
    from optrack.app.answers.plans import OutputAnswer, TextAnswer
    from optrack.app.files import write_new
    from optrack.app.plan_queries import scaffold

    name = file.stem.replace("-", " ").replace("_", " ").capitalize() if file else "Optimisation plan"
    text = scaffold(title or name, commands)
    if file is None:
        emit(call, TextAnswer(text=text), lambda: text)
        return
    write_new(file, text)
    emit(call, OutputAnswer(output=str(file)), lambda: output.say(f"wrote {file}"))


@plan.command("schema")
@without_plan
def schema(call: Call) -> None:
    """Print the JSON Schema of a recipe block, for editors."""
    from optrack.app.answers.plans import SchemaAnswer
    from optrack.model.recipe import recipe_schema

    found = recipe_schema()
    emit(call, SchemaAnswer(schema_=found), lambda: output.json_text(json.dumps(found, indent=2)))


def _plan(call: Call, file: Path | None) -> Plan:
    from optrack.app.project import find_plan, read_plan

    return read_plan(file or find_plan(call.settings, None))


@click.command("use")
@click.argument("plan_name", metavar="PLAN")
@standard
def use(call: Call, plan_name: str) -> None:
    """Choose the plan that commands work on: a name from the plans folder, or a file."""
    from optrack.app.answers.plans import UseAnswer
    from optrack.app.project import choose_plan

    path, is_same = choose_plan(call.settings, plan_name)
    text = f"using {path} already: nothing changes" if is_same else f"using {path}"
    emit(call, UseAnswer(plan=str(path)), lambda: text)


@click.command("todo")
@click.argument("action", type=click.Choice(["import"]), required=False)
@click.argument("file", required=False)
@click.option("--dry-run", is_flag=True, help="say what an import would change; change nothing")
@standard
def todo(call: Call, action: str | None, file: str | None, dry_run: bool) -> int:
    """Print the plan as a todo list, or take the statuses of one over: `optrack todo import FILE`.

    Entries have `content`, `status`, `priority` and `id`. FILE is such a list, JSON lines, or a transcript
    that holds one; - or nothing reads it from standard input. Every move is recorded with who made it.
    """
    if action is not None:
        return _import_todos(call, file or "-", dry_run=dry_run)
    from optrack.app.queries import todo as todo_list

    answer = todo_list(call.campaign)
    marks = {"completed": "x", "in_progress": "~", "cancelled": "-", "pending": " "}
    emit(
        call,
        answer,
        lambda: [f"[{marks[entry.status]}] {entry.content}  ({entry.priority})" for entry in answer.todos],
    )
    return 0


def _import_todos(call: Call, file: str, *, dry_run: bool) -> int:
    from optrack.app.actions import import_todos
    from optrack.app.files import read_bytes

    text = read_bytes(file).decode(errors="replace")
    source = "on standard input" if file == "-" else file
    answer = import_todos(call.project, text, source=source, dry_run=dry_run)
    lines = [f"{c.item}: {c.before} -> {c.after}" for c in answer.changes]
    emit(call, answer, lambda: lines or ["nothing to change"])
    for line in (*answer.unmatched, *answer.refused, *answer.problems) if not call.as_json else ():
        output.say(line)
    return 0 if answer.entries else 2


@click.command("add")
@click.argument("title", required=False)
@click.option("--id", "id", default=None, help="its id; by default X1, X2, …")
@click.option("--parent", default=None, help="the item it stands under")
@click.option("--hypothesis", default=None, help="what is expected, and why")
@click.option("--gain", default=None, help="the expected gain, like `5-10 ms` or `15%`")
@click.option("--effort", default=None, help="the effort, like `30 minutes`")
@click.option("--risk", default=None, help="the risk, in words")
@click.option("--needs", default=None, help="the items it waits for, separated by commas")
@click.option("--recipe", default=None, help="its recipe block, as YAML; @FILE reads it from a file")
@click.option(
    "--from", "source", default=None, metavar="FILE", help="read the item from JSON; - for standard input"
)
@click.option("--write", is_flag=True, help="append it to the plan's file; else it is only in the database")
@standard
def add(call: Call, /, write: bool, **given: Any) -> None:
    """Add an item to the plan: in the database only, or with --write appended to its file."""
    from optrack.app.actions import add_item
    from optrack.app.files import read_bytes

    source, recipe = given.pop("source"), given.pop("recipe")
    data = _from_json(read_bytes(source)) if source is not None else {}
    if recipe is not None and recipe.startswith("@"):
        recipe = read_bytes(recipe[1:]).decode(errors="replace")
    needs = given.pop("needs")
    data |= {key: value for key, value in given.items() if value is not None}
    data |= {"recipe": recipe} if recipe is not None else {}
    data |= {"needs": [need.strip() for need in needs.split(",") if need.strip()]} if needs else {}
    answer = add_item(call.project, data, write=write)
    emit(call, answer, lambda: f"added {answer.item.id} {answer.item.title} to {answer.written_to}")


def _from_json(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data.decode(errors="replace"))
    except ValueError as error:
        raise UsageError(f"the item is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise UsageError("the item must be a JSON object", hint='like {"title": "…", "gain": "5-10 ms"}')
    return found

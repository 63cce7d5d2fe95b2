"""The commands for agents: context, schema, mcp."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from optrack.cli import output
from optrack.cli.call import Call, emit, plan_option, standard, without_plan
from optrack.errors import UsageError


@click.command("context")
@standard
def context(call: Call) -> None:
    """Print one page that tells an agent the plan, what stands where, what it may do next, and how."""
    from optrack.app.report_data import context as page
    from optrack.render.document import briefing

    answer = page(call.campaign)
    emit(call, answer, lambda: briefing(answer.log, answer.runs))


@click.command("schema")
@click.argument("name", required=False)
@without_plan
def schema(call: Call, name: str | None) -> None:
    """Print the JSON Schema of a command's JSON output; without NAME, the names there are.

    `error` is what every command answers where it fails.
    """
    from optrack.app.answers import ANSWERS, answer_schema
    from optrack.app.answers.plans import NamesAnswer, SchemaAnswer

    if name is None:
        emit(call, NamesAnswer(names=tuple(ANSWERS)), lambda: ANSWERS)
        return
    found = answer_schema(name)
    emit(call, SchemaAnswer(schema_=found), lambda: output.json_text(json.dumps(found, indent=2)))


@click.command("mcp")
@plan_option
@click.option("--project", type=click.Path(path_type=Path, file_okay=False), default=None, help="its folder")
@click.option(
    "--actor", default=None, help="who is recorded with every transition; default: OPTRACK_ACTOR, or mcp"
)
def mcp(plan_file: Path | None, project: Path | None, actor: str | None) -> None:
    """Serve the campaign of this folder's project to an agent, until standard input is closed.

    Its tools do what the commands do, under their names. It needs the extra `mcp`.
    """
    from optrack.settings import load_settings

    try:
        from optrack.mcp import make_server
    except ImportError as error:
        raise UsageError(
            f"the Model Context Protocol's SDK isn't installed ({error})", hint="pip install 'optrack[mcp]'"
        ) from error
    os.environ["OPTRACK_ACTOR"] = actor or os.environ.get("OPTRACK_ACTOR") or "mcp"
    make_server(load_settings(project or Path.cwd()), plan_file).run("stdio")

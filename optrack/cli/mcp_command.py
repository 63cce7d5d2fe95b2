"""`optrack mcp`: a Model Context Protocol server for agents, on standard input and output."""

from __future__ import annotations

import os
from pathlib import Path

import click

from optrack.errors import UsageError


@click.command("mcp")
@click.option("--plan", "plan_file", type=click.Path(path_type=Path), metavar="FILE", help="the plan to use")
@click.option("--project", type=click.Path(path_type=Path, file_okay=False), default=None, help="its folder")
@click.option(
    "--actor", default=None, help="who is recorded with every transition; default: OPTRACK_ACTOR, or mcp"
)
def command(plan_file: Path | None, project: Path | None, actor: str | None) -> None:
    """Serve the campaign of this folder's project to an agent, until standard input is closed.

    Tools: context, plan, status, next, run and poll, stop, results, compare, mark, add_item, note, failures,
    export. It needs the extra `mcp`.
    """
    from optrack.settings import load_settings

    try:
        from optrack.mcp_server.server import make_server
    except ImportError as error:
        raise UsageError(
            f"the Model Context Protocol's SDK isn't installed ({error})", hint="pip install 'optrack[mcp]'"
        ) from error
    os.environ["OPTRACK_ACTOR"] = actor or os.environ.get("OPTRACK_ACTOR") or "mcp"
    make_server(load_settings(project or Path.cwd()), plan_file).run("stdio")

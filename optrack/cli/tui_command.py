"""The screens: what `optrack` shows on a terminal."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from optrack.cli.streams import is_terminal
from optrack.errors import OptrackError, UsageError


@click.command("tui")
@click.option("--plan", "plan_file", type=click.Path(path_type=Path), metavar="FILE", help="the plan to use")
@click.option("--read-only", is_flag=True, help="only look: nothing can be started, stopped or marked")
@click.option("--theme", type=click.Choice(["dark", "light"]), default="dark", help="colours; default: dark")
@click.option(
    "--ascii",
    "ascii_only",
    is_flag=True,
    help="draw with ASCII characters alone, as where the locale has no UTF-8",
)
def command(
    plan_file: Path | None = None, read_only: bool = False, theme: str = "dark", ascii_only: bool = False
) -> None:
    """Show the plan, its runs and the live run on the terminal."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if "TEXTUAL_DRIVER" not in os.environ and not all(is_terminal(stream) for stream in streams):
        raise UsageError(
            "the screens need a terminal for input, output and errors",
            hint="`optrack status` and `optrack show` print; `optrack serve` shows the screens in a browser",
        )
    from optrack.app.watching import Watcher
    from optrack.settings import load_settings
    from optrack.tui.app import OptrackApp

    watcher = Watcher(load_settings(Path.cwd()), plan_file)
    watcher.require_readable()
    encoding = (sys.stdout.encoding or "").lower()
    plain = ascii_only or not encoding.startswith("utf")
    app = OptrackApp(watcher, theme=theme, read_only=read_only, ascii_only=plain)
    app.run()
    if app.defect is not None:
        raise OptrackError(
            f"the screens ended by a defect of their own: {app.defect}",
            hint="runs go on; start the screens again",
        )

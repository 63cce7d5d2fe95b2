"""The screens: what `optrack` shows on a terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import click


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
    from optrack.settings import load_settings
    from optrack.tui.app import OptrackApp
    from optrack.tui.campaign_board import CampaignBoard

    board = CampaignBoard(load_settings(Path.cwd()), plan_file)
    board.plan()
    encoding = (sys.stdout.encoding or "").lower()
    plain = ascii_only or not encoding.startswith("utf")
    OptrackApp(board, theme=theme, read_only=read_only, ascii_only=plain).run()

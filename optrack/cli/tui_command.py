"""The screens: what `optrack` shows on a terminal."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("tui")
@click.option("--plan", "plan_file", type=click.Path(path_type=Path), metavar="FILE", help="the plan to use")
@click.option("--read-only", is_flag=True, help="only look: nothing can be started, stopped or marked")
@click.option("--theme", type=click.Choice(["dark", "light"]), default="dark", help="colours; default: dark")
def command(plan_file: Path | None = None, read_only: bool = False, theme: str = "dark") -> None:
    """Show the plan, its runs and the live run on the terminal."""
    from optrack.settings import load_settings
    from optrack.tui.app import OptrackApp
    from optrack.tui.campaign_board import CampaignBoard

    board = CampaignBoard(load_settings(Path.cwd()), plan_file)
    board.plan()
    OptrackApp(board, theme=theme, read_only=read_only).run()

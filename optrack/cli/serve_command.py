"""`optrack serve`: the screens in a browser."""

from __future__ import annotations

import click

from optrack.cli import output
from optrack.cli.call import Call, standard


@click.command("serve")
@click.option("--host", default="127.0.0.1", help="the address to listen on; default: loopback")
@click.option("--port", type=click.IntRange(1, 65535), default=8765, help="default: 8765")
@click.option("--anywhere", is_flag=True, help="allow an address that other machines can reach")
@click.option("--writable", is_flag=True, help="let visitors start, stop and mark; without it they only look")
@click.option(
    "--max-visitors", type=click.IntRange(1, 100), default=4, help="how many may look at once; default: 4"
)
@standard
def command(call: Call, host: str, port: int, anywhere: bool, writable: bool, max_visitors: int) -> None:
    """Serve the screens to a browser, on loopback and read-only unless told otherwise, until interrupted.

    Each visitor gets a process on this machine. Pages of other sites are refused, and nothing is loaded from elsewhere.
    """
    from optrack.tui.serve import command_line, serve

    plan = call.campaign.plan.path
    serve(
        command_line(["--plan", plan], writable=writable),
        host=host,
        port=port,
        anywhere=anywhere,
        most=max_visitors,
        say=output.say,
    )

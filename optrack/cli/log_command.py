"""`optrack log`: the log of a run."""

from __future__ import annotations

import re
import sys
import time
from codecs import getincrementaldecoder
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from optrack.cli import output
from optrack.cli.call import Call, standard
from optrack.cli.streams import is_terminal, visible_but_colours
from optrack.errors import UsageError

if TYPE_CHECKING:
    from optrack.app.campaign import Campaign

_POLL_S = 0.2
_UNFINISHED = re.compile(r"(?:\r|\x1b(?:\[[0-9;:]{0,32})?)?$")
"""The end of a part that may be the beginning of a line end or of a colour."""


@click.command("log")
@click.argument("run")
@click.option("-f", "--follow", is_flag=True, help="go on printing while the run goes on")
@click.option("--launch", type=int, default=None, help="which launch, from 1; by default the latest")
@click.option("--which", default="server", help="server, bench, setup, warmup or runner")
@standard
def command(call: Call, run: str, follow: bool, launch: int | None, which: str) -> None:
    """Print a log of a run as it was written: by default the server's, of the latest launch."""
    campaign = call.campaign
    found = campaign.reader.run(run)
    path = _find(campaign.settings.runs / found.id, which, launch)
    if call.as_json:
        output.data({"run": found.id, "log": str(path), "text": path.read_bytes().decode(errors="replace")})
        return
    from optrack.host.logs import Follower

    write = _on_terminal() if is_terminal(sys.stdout) else output.streams.write_bytes
    log = Follower(path)
    goes_on = True
    while goes_on:
        goes_on = follow and _goes_on(campaign, found.id)
        while piece := log.read():
            write(piece)
        if goes_on:
            time.sleep(_POLL_S)
    write(b"")


def _on_terminal() -> Callable[[bytes], None]:
    """Return what prints a log part by part, the last one empty, without what a terminal would obey but colours."""
    decode = getincrementaldecoder("utf-8")(errors="replace").decode
    held = ""

    def write(part: bytes) -> None:
        nonlocal held
        text = held + decode(part, final=not part)
        end = _UNFINISHED.search(text) if part else None
        held = text[end.start() :] if end else ""
        output.streams.write(visible_but_colours(text[: len(text) - len(held)]))

    return write


def _find(folder: Path, which: str, launch: int | None) -> Path:
    if which == "runner":
        there = [folder / "runner.log"]
    else:
        name = f"launch-{launch - 1}" if launch is not None else "launch-*"
        there = sorted(
            folder.glob(f"{name}/{which}.log"), key=lambda path: int(path.parent.name.split("-")[1])
        )
    there = [path for path in there if path.is_file()]
    if not there:
        logs = sorted(str(path.relative_to(folder)) for path in folder.glob("**/*.log"))
        raise UsageError(f"this run has no such {which} log", hint=f"it has: {', '.join(logs) or 'no logs'}")
    return there[-1]


def _goes_on(campaign: Campaign, run: str) -> bool:
    return campaign.reader.run(run).outcome is None

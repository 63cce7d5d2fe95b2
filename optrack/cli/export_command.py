"""`optrack export`: the progress log."""

from __future__ import annotations

from pathlib import Path

import click

from optrack.cli import output
from optrack.cli.call import Call, standard
from optrack.errors import UsageError


@click.command("export")
@click.option("-o", "--output", "target", type=click.Path(path_type=Path), help="write to a file, not stdout")
@click.option("--format", "form", type=click.Choice(["md", "json", "csv"]), default="md", help="default: md")
@standard
def command(call: Call, target: Path | None, form: str) -> None:
    """Write the progress log of the plan: what was tried, what it showed, and on what evidence."""
    from optrack.core.export import csv_log, json_log, markdown_log

    campaign = call.campaign
    log = campaign.log()
    form = "json" if call.as_json and target is None else form
    text = {"md": markdown_log, "json": json_log, "csv": csv_log}[form](log)
    if target is None:
        output.text(text)
        return
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{target} can't be written: {(error.strerror or str(error)).lower()}") from error
    if call.as_json:
        output.data({"output": str(target), "format": form})
    else:
        output.say(f"wrote {target}")

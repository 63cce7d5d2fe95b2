"""`optrack report`: one item or run, as a document."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from optrack.cli import output
from optrack.cli.call import Call, standard
from optrack.cli.names import neither
from optrack.errors import UsageError

if TYPE_CHECKING:
    from optrack.render.log import Log


@click.command("report")
@click.argument("what", metavar="ITEM|RUN")
@click.option("-o", "--output", "target", type=click.Path(path_type=Path), help="write to a file, not stdout")
@click.option("--format", "form", type=click.Choice(["md", "html", "json"]), default=None, help="default: md")
@standard
def command(call: Call, what: str, target: Path | None, form: str | None) -> None:
    """Write the report of one item with all its runs, or of one run: for an issue, a mail, a review."""
    from optrack.cli.files import write_text
    from optrack.render.data import json_log
    from optrack.render.html import html_page

    log, text, title = _report(call, what)
    html = form is None and target is not None and target.suffix in (".html", ".htm")
    form = form or ("html" if html else "json" if call.as_json and target is None else "md")
    if form == "html":
        text = html_page(title, text)
    elif form == "json":
        text = json_log(log)
    if target is None:
        output.file(text, form)
        return
    write_text(target, text)
    if call.as_json:
        output.data({"output": str(target), "format": form, "files": [str(target)]})
    else:
        output.say(f"wrote {target}")


def _report(call: Call, what: str) -> tuple[Log, str, str]:
    from optrack.render.document import item_section, run_section
    from optrack.render.log import selected

    campaign = call.campaign
    states = campaign.states()
    planned = campaign.plan.item(what)
    if planned is not None or any(state.item.id == what for state in states):
        state = campaign.state(what)
        log = selected(campaign.log(), items=[state.item.id])
        found = log.state(state.item.id)
        assert found is not None
        return log, item_section(log, found, level=1) + "\n", f"{state.item.id}: {state.item.title}"
    try:
        run = campaign.reader.run(what)
    except UsageError as error:
        raise neither(what, campaign.plan.name, [state.item.id for state in states], error) from error
    if run.plan != campaign.plan.name:
        raise UsageError(
            f"run {run.id} belongs to the plan {run.plan}", hint="name its plan with --plan FILE"
        )
    log = selected(campaign.log(), items=[run.item])
    return log, run_section(log, run.id, level=1) + "\n", run.id

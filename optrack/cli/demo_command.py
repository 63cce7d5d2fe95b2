"""`optrack demo`: a whole campaign on this machine, without a GPU."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import click

from optrack.cli import output


@click.command("demo")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="answer with one JSON document on stdout")
def command(folder: Path | None, as_json: bool) -> int:
    """Make a scratch project with a plan, run the whole plan, and print its progress log.

    The server it tunes is small but real, and everything runs as it does for any plan. It takes two to three
    minutes. FOLDER is the scratch project's; without it, a new temporary folder.
    """
    from optrack.app.campaign import Campaign
    from optrack.cli.following import Results
    from optrack.demo import make_project
    from optrack.errors import NothingToRunError
    from optrack.render.markdown_log import markdown_log
    from optrack.settings import load_settings

    output.streams.must_answer = False
    project = make_project(folder or Path(tempfile.mkdtemp(prefix="optrack-demo-")))
    output.say(f"the demo's project: {project}")
    os.chdir(project)
    campaign = Campaign(load_settings(project))
    results = Results(campaign, as_json=as_json, single=False)
    tried: set[str] = set()
    while True:
        try:
            run = campaign.start_next(without=tried, sequential=True, wait=True)
        except NothingToRunError:
            break
        tried.add(campaign.reader.run(run).item)
        if results.take(run) == 130:
            return results.finish()
    log = project / "progress.md"
    log.write_text(markdown_log(campaign.log()), encoding="utf-8")
    if not as_json:
        output.text(["", log.read_text(encoding="utf-8")])
    output.say(f"progress log: {log}")
    output.say(f"look around: cd {project} && optrack")
    results.finish()
    return 0

"""`optrack replay`: a script that re-creates a run."""

from __future__ import annotations

from pathlib import Path

import click

from optrack.cli import output
from optrack.cli.call import Call, standard


@click.command("replay")
@click.argument("run")
@click.option("-o", "--output", "target", type=click.Path(path_type=Path), help="write to a file, not stdout")
@standard
def command(call: Call, run: str, target: Path | None) -> None:
    """Print a bash script that makes a run's code again in new worktrees and runs its commands as they ran."""
    from optrack.app.replaying import script_of
    from optrack.cli.files import write_text

    campaign = call.campaign
    found = campaign.reader.run(run)
    settings = campaign.settings
    script = script_of(
        found, settings.project, python=settings.python, name=target.name if target else "replay.sh"
    )
    if target is None:
        output.data({"run": found.id, "script": script}) if call.as_json else output.exact(script)
        return
    write_text(target, script)
    target.chmod(0o755)
    output.data({"run": found.id, "output": str(target)}) if call.as_json else output.say(f"wrote {target}")

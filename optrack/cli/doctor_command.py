"""`optrack doctor`: whether this host and project are fit to measure."""

from __future__ import annotations

import click

from optrack.cli import output
from optrack.cli.call import Call, standard
from optrack.errors import OptrackError


@click.command("doctor")
@standard
def command(call: Call) -> int:
    """Check the plan, the database, bash and git, and the host; exit 4 if the host isn't fit."""
    from optrack.app.doctor import examine

    findings = examine(call.campaign)
    if call.as_json:
        output.data({"checks": [finding.model_dump() for finding in findings]})
    else:
        output.text(f"{'ok  ' if f.ok else 'BAD '} {f.name}: {f.text}" for f in findings)
    bad = [finding for finding in findings if not finding.ok]
    return 0 if not bad else 4 if all(finding.name == "host" for finding in bad) else OptrackError.exit_code

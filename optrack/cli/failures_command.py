"""`optrack failures`: failures so far, by fingerprint."""

from __future__ import annotations

import click

from optrack.cli import output
from optrack.cli.call import Call, standard


@click.command("failures")
@click.argument("fingerprint", required=False)
@click.option("--all-plans", is_flag=True, help="of every plan in this project, not only the chosen one")
@standard
def command(call: Call, fingerprint: str | None, all_plans: bool) -> None:
    """List the failures that runs met, the latest first: the same failure, met again, is one entry.

    With a FINGERPRINT (or its beginning), only that one.
    """
    from optrack.errors import UsageError
    from optrack.render.documents import failure_document
    from optrack.render.text import failures_table

    campaign = call.campaign
    campaign.sync()
    found = campaign.reader.failures(None if all_plans else campaign.plan.name)
    if fingerprint is not None:
        found = tuple(failure for failure in found if failure.fingerprint.startswith(fingerprint))
        if not found:
            raise UsageError(
                f"no failure has the fingerprint {fingerprint!r}", hint="`optrack failures` lists them"
            )
    if call.as_json:
        output.data({"failures": [failure_document(failure) for failure in found]})
        return
    if not found:
        output.say("no run has failed")
        return
    output.text(failures_table(found))

"""`optrack accept`: records that a difference doesn't matter."""

from __future__ import annotations

import click

from optrack.cli import output
from optrack.cli.call import Call, standard


@click.command("accept")
@click.argument("field")
@click.option("--item", help="only for this item's comparisons; without it, for the whole plan")
@click.option("--why", required=True, help="the reason, which every log states")
@standard
def command(call: Call, field: str, item: str | None, why: str) -> None:
    """Record that differences in FIELD (a name or a pattern, as `optrack diff` shows them) don't matter.

    What was judged is judged again.
    """
    from optrack.app.decisions import accept
    from optrack.render.documents import timestamp

    done = accept(call.campaign, field, item=item, why=why)
    if call.as_json:
        output.data({"acceptance": done.model_dump(exclude={"at"}) | {"at": timestamp(done.at)}})
    else:
        output.text(f"accepted {field} for {done.item or 'the plan'}: {why}")

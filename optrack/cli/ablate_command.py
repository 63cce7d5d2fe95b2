"""`optrack ablate`: takes a confounded treatment apart."""

from __future__ import annotations

import click

from optrack.cli import output
from optrack.cli.call import Call, standard


@click.command("ablate")
@click.argument("item")
@standard
def command(call: Call, item: str) -> None:
    """Add the items that show which of ITEM's factors did what: each alone, and all but each."""
    from optrack.app.decisions import ablate

    found = ablate(call.campaign, item)
    if call.as_json:
        output.data(
            {"items": [{"id": part.id, "title": part.title, "keeps": list(part.keeps)} for part in found]}
        )
    else:
        output.text(f"{part.id}  {part.title}" for part in found)

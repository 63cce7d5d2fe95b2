"""`optrack note`: attaches a remark to an item."""

from __future__ import annotations

import click

from optrack.cli import output
from optrack.cli.call import Call, standard


@click.command("note")
@click.argument("item")
@click.argument("text")
@standard
def command(call: Call, item: str, text: str) -> None:
    """Attach a remark to an item, recorded with who made it and when; - reads it from standard input."""
    from optrack.cli.files import read_bytes
    from optrack.render.documents import note_document

    if text == "-":
        text = read_bytes("-").decode(errors="replace")
    found, note = call.campaign.note(item, text)
    if call.as_json:
        output.data({"item": found, "note": note_document(note)})
    else:
        output.text(f"{found}: {note.text}")

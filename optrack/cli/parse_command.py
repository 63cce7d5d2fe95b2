"""`optrack parse`: what would be recorded of a benchmark's output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from optrack.cli import output
from optrack.cli.call import Call, standard

if TYPE_CHECKING:
    from collections.abc import Mapping

    from optrack.model.recipe_parts import MetricRule


@click.command("parse")
@click.argument("file")
@click.option("--tool", "parser", default="auto", help="a tool's name; by default the output is recognised")
@click.option("--item", default=None, help="also read the metrics that this item's recipe defines")
@standard
def command(call: Call, file: str, parser: str, item: str | None) -> int:
    """Show what would be recorded of a benchmark's output; FILE is its file, or - for standard input.

    Exit code 2 if nothing could be read.
    """
    from optrack.cli.files import read_bytes, whole_file
    from optrack.host.parsing import ParseRequest, ParserProcess
    from optrack.render.documents import parsed_document
    from optrack.render.format import number
    from optrack.render.text import table

    rules: Mapping[str, MetricRule] = {}
    if item is not None:
        rules = call.campaign.resolved(call.campaign.item(item)).recipe.metrics
    source = read_bytes(file) if file == "-" else whole_file(file)
    with ParserProcess() as process:
        parsed = process.parse(ParseRequest(parser=parser, output=source, rules=rules)).parsed
    if call.as_json:
        output.data(parsed_document(parsed))
        return 0 if parsed.readings else 2
    rows = [
        (r.metric.name, number(r.value, 6), r.metric.unit or "-", r.metric.better or "-")
        for r in parsed.readings
    ]
    output.text(table(("METRIC", "VALUE", "UNIT", "BETTER"), rows, right=(1,)) if rows else [])
    output.say(f"parser: {parsed.tool}")
    for note in parsed.notes:
        output.say(note)
    if parsed.invalid:
        output.say(f"no measurement: {parsed.invalid}")
    return 0 if parsed.readings else 2

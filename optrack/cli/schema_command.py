"""`optrack schema`: the JSON Schema of a command's answer."""

from __future__ import annotations

import json

import click

from optrack.cli import output


@click.command("schema")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="answer with one JSON document on stdout")
def command(name: str | None, as_json: bool) -> None:
    """Print the JSON Schema of what a command answers with --json; without NAME, the names there are.

    `error` is what every command answers where it fails.
    """
    from optrack.contract.answers import ANSWERS, answer_schema

    if name is None:
        output.data({"names": list(ANSWERS)}) if as_json else output.text(list(ANSWERS))
        return
    schema = answer_schema(name)
    output.data({"schema": schema}) if as_json else output.json_text(json.dumps(schema, indent=2))

"""`optrack add`: adds an item beside the plan's text, or to it."""

from __future__ import annotations

import json
from typing import Any

import click

from optrack.cli import output
from optrack.cli.call import Call, standard
from optrack.errors import UsageError


@click.command("add")
@click.argument("title", required=False)
@click.option("--id", "id", default=None, help="its id; by default X1, X2, …")
@click.option("--parent", default=None, help="the item it stands under")
@click.option("--hypothesis", default=None, help="what is expected, and why")
@click.option("--gain", default=None, help="the expected gain, like `5-10 ms` or `15%`")
@click.option("--effort", default=None, help="the effort, like `30 minutes`")
@click.option("--risk", default=None, help="the risk, in words")
@click.option("--needs", default=None, help="the items it waits for, separated by commas")
@click.option("--recipe", default=None, help="its recipe block, as YAML; @FILE reads it from a file")
@click.option(
    "--from", "source", default=None, metavar="FILE", help="read the item from JSON; - for standard input"
)
@click.option("--write", is_flag=True, help="append it to the plan's file; else it is only in the database")
@standard
def command(call: Call, /, write: bool, **given: Any) -> None:
    """Add an item to the plan: beside its text, in the database, or with --write at the end of its file."""
    from optrack.app.adding import add_item
    from optrack.cli.files import read_bytes
    from optrack.plan.added import new_item
    from optrack.render.documents import item_document

    source, recipe = given.pop("source"), given.pop("recipe")
    data = _from_json(read_bytes(source)) if source is not None else {}
    if recipe is not None and recipe.startswith("@"):
        recipe = read_bytes(recipe[1:]).decode(errors="replace")
    needs = given.pop("needs")
    data |= {key: value for key, value in given.items() if value is not None}
    data |= {"recipe": recipe} if recipe is not None else {}
    data |= {"needs": [need.strip() for need in needs.split(",") if need.strip()]} if needs else {}
    campaign = call.campaign
    item = add_item(campaign, new_item(data), write=write)
    where = campaign.plan.path if write else "the database"
    if call.as_json:
        resolved = campaign.resolved_or_none(item)
        document = item_document(campaign.state(item.id), resolved.data if resolved else None)
        output.data({"item": document, "written_to": where})
    else:
        output.text(f"added {item.id} {item.title} to {where}")


def _from_json(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data.decode(errors="replace"))
    except ValueError as error:
        raise UsageError(f"the item is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise UsageError("the item must be a JSON object", hint='like {"title": "…", "gain": "5-10 ms"}')
    return found

"""What running an item would do: its exact environment and commands."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from optrack.cli import output
from optrack.model.plan import Item
from optrack.model.recipe import Recipe

if TYPE_CHECKING:
    from optrack.app.campaign import Campaign


def print_dry_run(campaign: Campaign, items: Sequence[Item], *, as_json: bool) -> int:
    """Print what each item would run; nothing runs and nothing is recorded."""
    documents = [_document(campaign, item) for item in items]
    if as_json:
        output.data(documents[0] if len(documents) == 1 else {"items": documents})
        return 0
    for document in documents:
        output.text(_lines(document))
    return 0


def _document(campaign: Campaign, item: Item) -> dict[str, Any]:
    from optrack.engines.protocol import Place
    from optrack.engines.registry import engine_named

    resolved = campaign.resolved(item)
    recipe = resolved.recipe
    engine = engine_named(recipe.engine, campaign.settings.python)
    place = Place(
        run="RUN",
        item=item.id,
        launch=0,
        run_dir=Path("$RUN_DIR"),
        port=recipe.port or 30000,
    )
    server = engine.server(recipe, place)
    passes = [(bench.name, engine.bench(recipe, bench, place)) for bench in recipe.bench]
    warmups = [engine.bench(recipe, bench, place) for bench in recipe.warmup]
    env = {key: value for key, value in recipe.env.items() if value is not None}
    return {
        "item": item.id,
        "title": item.title,
        "env": (dict(server.env) if server else {}) | env,
        "unset": sorted(key for key, value in recipe.env.items() if value is None),
        "cwd": str(campaign.settings.project / (recipe.cwd or "")),
        "patch": list(recipe.patch),
        "setup": recipe.setup,
        "server": server.shell if server else None,
        "ready": engine.ready(recipe).model_dump(exclude_none=True),
        "warmup": [command.shell for command in warmups],
        "bench": {name: command.shell for name, command in passes},
        "check": {name: check.command for name, check in recipe.check.items() if check.command},
        "launches": recipe.launches,
        "repetitions": recipe.repetitions,
        "factors": {key: list(values) for key, values in resolved.factors.items()},
        "port_is_chosen": recipe.port is None,
        "beside_baseline": _beside(campaign, item, recipe),
    }


def _beside(campaign: Campaign, item: Item, recipe: Recipe) -> bool:
    base = campaign.plan.item(campaign.plan.baseline)
    return base is not None and base.id != item.id and recipe.order == "interleaved"


def _lines(document: dict[str, Any]) -> list[str]:
    lines = [f"# {document['item']}  {document['title']}"]
    lines += [f"cd {shlex.quote(document['cwd'])}"]
    lines += [f"export {key}={shlex.quote(value)}" for key, value in document["env"].items()]
    lines += [f"unset {key}" for key in document["unset"]]
    lines += [f"# patch, in a copy of the repository: {patch}" for patch in document["patch"]]
    if document["setup"]:
        lines += ["# setup", document["setup"].rstrip()]
    if document["server"]:
        chosen = " (30000 stands for a free port, chosen at launch)" if document["port_is_chosen"] else ""
        lines += [f"# server{chosen}", document["server"].rstrip()]
        lines += [f"# ready: {', '.join(f'{k} {v}' for k, v in document['ready'].items())}"]
    for command in document["warmup"]:
        lines += ["# warm-up, not counted", command.rstrip()]
    for name, command in document["bench"].items():
        lines += [f"# benchmark {name}, {document['repetitions']} times in each launch", command.rstrip()]
    for name, command in document["check"].items():
        lines += [f"# check {name}", command.rstrip()]
    beside = ", in turn with as many of the baseline" if document["beside_baseline"] else ""
    lines += [f"# launches: {document['launches']}{beside}"]
    for key, (old, new) in document["factors"].items():
        lines += [f"# factor {key}: {old} -> {new}"]
    return [*lines, ""]

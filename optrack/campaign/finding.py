"""What people mean by a word: an item, a run, a reason."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from optrack.core.plan import Item
from optrack.core.recipes.recipe import leaves
from optrack.core.run import Run
from optrack.core.secrets.gate import Gate
from optrack.errors import UsageError

if TYPE_CHECKING:
    from optrack.campaign.campaign import Campaign


def require_reason(why: str) -> None:
    """Raise UsageError for a reason that says nothing."""
    if not why.strip():
        raise UsageError("the reason is empty", hint="say why with --why: every log states it")


def require_no_secrets(items: Sequence[Item], gate: Gate) -> None:
    """Raise UsageError for items whose recipe holds a secret: kept beside the plan's text, they would have to
    stand in the database as they are."""
    for item in items:
        data = leaves(item.recipe.data) if item.recipe is not None else {}
        plain = {key: list(value) if isinstance(value, tuple) else value for key, value in data.items()}
        secret = [key for key, value in plain.items() if gate.data(value, key.rpartition(".")[2]) != value]
        if secret:
            raise UsageError(
                f"the recipe of {item.id} holds a secret ({', '.join(secret)}), which the database never keeps",
                hint="set it in the environment that optrack is called from, or write the item into the plan",
            )


def taken(item: str, open_runs: Sequence[Run]) -> UsageError:
    """Return the error for an item that can't be taken up: a run has it, or somebody marked it so."""
    if any(run.item == item for run in open_runs):
        hint = "`optrack attach` follows the run that has it"
        return UsageError(f"item {item} is being run already", hint=hint)
    hint = f"`optrack mark {item} pending --why …` gives it back"
    return UsageError(f"item {item} was marked in progress, and no run has it", hint=hint)


def nearest(word: str, known: Sequence[str], what: str) -> str:
    """Return a hint that names what `word` was probably meant to be, or what there is."""
    near = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    if near:
        return f"did you mean {near[0]!r}?"
    shown = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
    return f"{what}: {shown}" if known else f"there are no {what} yet"


def find_run(campaign: Campaign, what: str) -> Run:
    """Return the whole run that an item or a run's id means; raises UsageError if it has none."""
    item = campaign.plan.item(what)
    if item is None:
        return campaign.reader.run(what)
    runs = campaign.reader.runs(campaign.plan.name, item.id)
    if not runs:
        raise UsageError(f"item {item.id} has no run yet", hint=f"`optrack run {item.id}` makes one")
    own = [run for run in runs if run.beside is None]
    succeeded = [run for run in own if run.outcome == "succeeded"]
    return campaign.reader.run((succeeded or own or list(runs))[0].id)

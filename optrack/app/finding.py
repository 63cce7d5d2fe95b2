"""What people mean by a word: an item, a run, two sides to compare."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from optrack.errors import UsageError
from optrack.model.gate import Gate
from optrack.model.plan import Item
from optrack.model.run import Run
from optrack.model.treatment import leaves

if TYPE_CHECKING:
    from optrack.app.campaign import Campaign
from typing import TYPE_CHECKING, NamedTuple

from optrack.app.evaluator import Court
from optrack.model.judgement import Judgement

if TYPE_CHECKING:
    from optrack.app.campaign import Campaign


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


class Pair(NamedTuple):
    """The whole runs of a comparison; `judgement` is the recorded one of this very pair, if there is one."""

    candidate: Run
    baseline: Run
    judgement: Judgement | None


def pair_of(campaign: Campaign, candidate: str, baseline: str) -> Pair:
    """Return the runs that two words mean, each an item (its latest run that succeeded) or a run's id.

    Where `baseline` means the plan's baseline, its run that the candidate's was judged against is taken.
    Raises UsageError if both mean the same run.
    """
    ours = find_run(campaign, candidate)
    recorded = campaign.judgement_of(ours)
    theirs = _judged_against(campaign, ours, recorded, baseline) or find_run(campaign, baseline)
    if theirs.id == ours.id:
        raise UsageError(
            f"{candidate} and {baseline} mean the same run, {ours.id}",
            hint=f"`optrack runs` lists the runs; name another one of {ours.item}, or another item",
        )
    same = recorded is not None and recorded.baseline == theirs.id
    return Pair(ours, theirs, recorded if same else None)


def compared(campaign: Campaign, candidate: str, baseline: str) -> tuple[Run, Run, Judgement]:
    """Return both runs with their judgement: the recorded one, else one drawn now, which isn't recorded."""
    ours, theirs, recorded = pair_of(campaign, candidate, baseline)
    return ours, theirs, recorded or Court(campaign.reader, campaign.plan).judge(ours, theirs)


def _judged_against(campaign: Campaign, ours: Run, recorded: Judgement | None, baseline: str) -> Run | None:
    item = campaign.plan.item(baseline)
    if item is None or item.id != campaign.plan.baseline:
        return None
    run = recorded.baseline if recorded and recorded.baseline else campaign.reader.beside(ours.id)
    return campaign.reader.run(run) if run else None

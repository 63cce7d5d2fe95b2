"""Two items or runs side by side: which runs are meant, and what is recorded or can be said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from optrack.campaign.finding import find_run
from optrack.core.judgement import Judgement
from optrack.core.run import Run
from optrack.court import Court
from optrack.errors import UsageError

if TYPE_CHECKING:
    from optrack.campaign.campaign import Campaign


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

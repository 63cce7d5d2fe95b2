"""What is next in a campaign, and what the items that are left wait for."""

from __future__ import annotations

from optrack.core.judge.wording import launches
from optrack.core.markdown import cell
from optrack.core.report.log import Log


def ahead(log: Log) -> str:
    """Return the next item and why, every other item that is left and why not yet, and what is undecided."""
    said = []
    if log.choice is not None:
        if log.choice.item is None:
            said.append(f"- {cell(log.choice.summary[:1].upper() + log.choice.summary[1:])}.")
        for reason in log.choice.reasons:
            if reason.kind in ("done", "group"):
                continue
            state = log.state(reason.item)
            title = f" {cell(state.item.title)}" if state else ""
            first = "**Next**: " if reason.kind == "chosen" else ""
            said.append(f"- {first}**{cell(reason.item)}**{title}: {cell(reason.text)}")
    for state in log.states:
        judgement = state.judgement
        if judgement is not None and judgement.verdict == "inconclusive" and judgement.launches_needed:
            needed = launches(judgement.launches_needed)
            said.append(f"- **{cell(state.item.id)}** is undecided: {needed} a side would probably decide it")
        if state.stale and not state.archived:
            said.append(f"- **{cell(state.item.id)}** is stale: a recipe was edited since, so run it again")
    return "\n".join(said)

"""What people decided in a campaign: statuses set by hand, and configurations adopted as the new baseline."""

from __future__ import annotations

from optrack.core.markdown import cell, cell_code, table
from optrack.core.report.documents import timestamp
from optrack.core.report.log import Log, made_by_hand


def decisions(log: Log) -> str:
    """Return a table of the decisions in the order in which they were made."""
    found = [
        (
            transition.at,
            cell(transition.item),
            f"marked {transition.after.replace('_', ' ')} by hand",
            cell(transition.who),
            cell(transition.why),
        )
        for transition in log.transitions
        if made_by_hand(transition)
    ]
    found += [
        (
            adoption.at,
            cell(adoption.item),
            "adopted as the new baseline" + (f" on {cell_code(adoption.run)}" if adoption.run else ""),
            cell(adoption.who),
            cell(adoption.why),
        )
        for adoption in log.adoptions
    ]
    found += [
        (adoption.undone_at, cell(adoption.item), "adoption undone", cell(adoption.undone_by or ""), "")
        for adoption in log.adoptions
        if adoption.undone_at is not None
    ]
    rows = [(timestamp(at) or "", *rest) for at, *rest in sorted(found)]
    return table(("When", "Item", "Decision", "By", "Why"), rows) if rows else ""

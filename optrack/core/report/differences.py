"""What differed between a candidate's run and its baseline's beside the treatment, and what was accepted."""

from __future__ import annotations

from collections.abc import Sequence

from optrack.core.judge.wording import counted
from optrack.core.judgement import Difference, Judgement
from optrack.core.markdown import cell, cell_code, folded, table
from optrack.core.report.documents import timestamp
from optrack.core.report.log import Log
from optrack.core.report.words import value


def differences(judgement: Judgement) -> str:
    """Return the undeclared differences: those that stand against the comparison open, the others folded."""
    others = [d for d in judgement.differences if d.cls != "declared"]
    blocking = [d for d in others if d.severity == "blocking"]
    notes = [d for d in others if d.severity != "blocking"]
    parts = []
    if blocking:
        parts.append(f"**Also different, and not explained**:\n\n{_table(blocking)}")
    if notes:
        parts.append(
            folded(f"{counted(len(notes), 'difference')} that {_count(notes)} no matter", _table(notes))
        )
    return "\n\n".join(parts)


def _count(notes: Sequence[Difference]) -> str:
    return "was found or accepted to be of" if len(notes) == 1 else "were found or accepted to be of"


def _table(found: Sequence[Difference]) -> str:
    rows = [
        (cell_code(d.field), value(d.baseline), value(d.candidate), d.cls, cell(d.meaning)) for d in found
    ]
    return table(("Field", "Baseline", "This item", "Class", "Meaning"), rows)


def accepted(log: Log) -> str:
    """Return what somebody said doesn't matter: field, for which item, who, when and why."""
    rows = [
        (
            cell_code(a.field),
            cell(a.item) if a.item else "the whole plan",
            cell(a.who),
            timestamp(a.at) or "",
            cell(a.why),
        )
        for a in log.acceptances
    ]
    return table(("Field", "For", "Accepted by", "When", "Why"), rows) if rows else ""

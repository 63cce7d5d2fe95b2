"""The failures of a campaign by fingerprint, so that the same one met twice is one line."""

from __future__ import annotations

from optrack.core.markdown import cell, cell_code, table
from optrack.core.report.log import Log
from optrack.core.run import Run


def failures(log: Log) -> str:
    """Return a table of the failures: kind, stage, how often, in which items, and the line that matters."""
    groups: dict[str, list[Run]] = {}
    for run in log.runs:
        if run.failure is not None and run.outcome in ("failed", "timed_out"):
            groups.setdefault(run.failure.fingerprint, []).append(run)
    rows = []
    for fingerprint, runs in groups.items():
        failure = runs[-1].failure
        assert failure is not None
        items = ", ".join(dict.fromkeys(run.item for run in runs))
        rows.append(
            (
                cell(items),
                cell(failure.kind),
                runs[-1].stage,
                str(len(runs)),
                cell_code(failure.message),
                cell_code(fingerprint),
            )
        )
    return (
        table(("Items", "Kind", "Stage", "Runs", "The line that matters", "Fingerprint"), rows)
        if rows
        else ""
    )

"""The log as CSV, for programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from optrack.judge.imported import is_imported
from optrack.model.item import ItemState
from optrack.model.run import Run
from optrack.render.log import Log

COLUMNS = (
    "item item_status by_hand verdict comparison run role imported outcome "
    "metric unit launch repetition value invalid"
).split()


def csv_log(log: Log) -> str:
    """Return every sample of every run as CSV, a row each; an item without any has one row that says so.

    `by_hand` is yes where somebody set the item's status; an invalid sample says why.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for state in log.states:
        head = _head(log, state)
        rows = [row for run in log.runs if run.item == state.item.id for row in _rows(head, run)]
        writer.writerows(rows or [(*head, *("",) * (len(COLUMNS) - len(head)))])
    return out.getvalue()


def _head(log: Log, state: ItemState) -> tuple[str, ...]:
    judgement = state.judgement
    return (
        _text(state.item.id),
        state.status,
        "yes" if log.by_hand(state.item.id) else "no",
        (judgement.verdict or "none") if judgement else "",
        judgement.comparison if judgement else "",
    )


def _rows(head: tuple[str, ...], run: Run) -> Iterator[tuple[Any, ...]]:
    about = (
        run.id,
        "baseline" if run.beside else "candidate",
        "yes" if is_imported(run) else "no",
        run.outcome or "running",
    )
    if not run.samples:
        yield (*head, *about, *("",) * (len(COLUMNS) - len(head) - len(about)))
    for s in run.samples:
        name, unit = _text(s.metric.name), _text(s.metric.unit)
        yield (
            *head,
            *about,
            name,
            unit,
            s.launch + 1,
            s.repetition + 1,
            repr(s.value),
            _text(s.invalid or ""),
        )


def _text(text: str) -> str:
    """Keep a spreadsheet from reading outside text as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text

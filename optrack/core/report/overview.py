"""The table of a log's items: expected, measured with its interval, verdict and why."""

from __future__ import annotations

from optrack.core.markdown import cell, table
from optrack.core.report.log import Log
from optrack.core.report.summary import measured_text, quantity_text
from optrack.core.report.words import short_effect, verdict, why
from optrack.core.state import ItemState

_WHY_CHARS = 220


def overview(log: Log) -> str:
    """Return the table of all items, in plan order, archived ones last."""
    rows = [_row(log, state) for state in log.states]
    return table(("Item", "Title", "Status", "Expected", "Measured", "Effect", "Verdict", "Why"), rows)


def _row(log: Log, state: ItemState) -> tuple[str, ...]:
    reason = why(log, state)
    short = reason if len(reason) <= _WHY_CHARS else f"{reason[: _WHY_CHARS - 1]}…"
    return (
        ("↳ " if state.item.parent else "") + cell(state.item.id),
        cell(state.item.title),
        _status(state),
        cell(quantity_text(state.item.gain)),
        cell(_measured(log, state)),
        short_effect(state.judgement.effect if state.judgement else None) or "-",
        cell(verdict(log, state)),
        cell(short),
    )


def _status(state: ItemState) -> str:
    words = state.status.replace("_", " ")
    return f"{words}{', archived' if state.archived else ''}{', adopted' if state.adopted else ''}"


def _measured(log: Log, state: ItemState) -> str:
    judged = log.run(state.judgement.candidate) if state.judgement else None
    runs = log.runs_of(state.item.id)
    run = judged or (runs[-1] if runs else None)
    return measured_text(run, log.metric.name) if run else "-"

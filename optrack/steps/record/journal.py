"""Writes the event journal, which every watcher follows."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import update
from sqlmodel import Session, col

from optrack.core.canonical import value_text
from optrack.core.events import Event, StageStarted
from optrack.steps.record.tables import EventRow, RunRow
from optrack.steps.record.times import as_text


def add_event(session: Session, run: str, event: Event, at: datetime) -> int:
    """Append the event and return its number; the start of a stage also shows in the run itself."""
    row = EventRow(run=run, at=as_text(at), kind=event.kind, data=value_text(event))
    session.add(row)
    if isinstance(event, StageStarted) and event.side == "candidate":
        session.execute(
            update(RunRow)
            .where(col(RunRow.id) == run, col(RunRow.outcome).is_(None))
            .values(stage=event.stage)
        )
    session.flush()
    return row.seq or 0

"""Texts stored once under their digest, plain data as a tree of them, and times as text."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import insert, select, update
from sqlmodel import Session, col

from optrack.model.events import Event, StageStarted
from optrack.model.value import digest, value_text
from optrack.store.tables import ContentRow, EventRow, RunRow
from optrack.store.texts import as_text

_CONTENT = ContentRow.metadata.tables["content"]
_AT_ONCE = 500


def put_content(session: Session, text: str) -> str:
    """Store the text unless it is there, and return its digest."""
    clean = stored(text)
    name = digest(clean)
    put_contents(session, {name: clean})
    return name


def put_contents(session: Session, texts: Mapping[str, str]) -> None:
    """Store those of the texts, given by their digests, that aren't there."""
    connection = session.connection()
    for names in _batches(list(texts)):
        known = set(connection.scalars(select(_CONTENT.c.digest).where(_CONTENT.c.digest.in_(names))))
        missing = [{"digest": name, "data": texts[name]} for name in names if name not in known]
        if missing:
            connection.execute(insert(_CONTENT), missing)


def _batches(names: list[str]) -> list[list[str]]:
    return [names[start : start + _AT_ONCE] for start in range(0, len(names), _AT_ONCE)]


def stored(text: str) -> str:
    """Return the text as the database can hold it: what is no Unicode (an odd byte of a path) is replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


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

"""Texts stored once under their digest, plain data as a tree of them, and times as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update
from sqlmodel import Session, col

from optrack.model.events import Event, StageStarted
from optrack.model.value import canonical, digest, value_text
from optrack.store.rows import APART, as_text, stored
from optrack.store.tables import ContentRow, EventRow, RunRow

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


_LARGE_CHARS = 400


def split(data: Any, put: Callable[[str], str]) -> str:
    """Return the canonical text of `data` with each large value inside it replaced by a reference.

    `put` stores a text and returns its digest. Equal data gives equal texts; a change gives new texts only
    for the values that hold it.
    """
    return canonical(_split(data, put))


def _split(data: Any, put: Callable[[str], str]) -> Any:
    if isinstance(data, Mapping):
        return {_escaped(key): _apart(value, put) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_apart(value, put) for value in data]
    return data


def _apart(value: Any, put: Callable[[str], str]) -> Any:
    """Return the value with its own large values taken apart, or a reference to it if it is still large."""
    if not isinstance(value, (str, Mapping, list, tuple)) or not value:
        return value
    if isinstance(value, str) and len(value) <= _LARGE_CHARS // 12:
        return value
    inner = _split(value, put)
    text = canonical(inner)
    return {APART: put(text)} if len(text) > _LARGE_CHARS else inner


def _escaped(key: object) -> str:
    text = str(key)
    return f"${text}" if text.startswith("$") else text


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

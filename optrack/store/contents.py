"""Texts stored once under their digest, plain data as a tree of them, and times as text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from optrack.model.events import Event, StageStarted
from optrack.model.value import canonical, digest, value_text

if TYPE_CHECKING:
    from sqlmodel import Session

_AT_ONCE = 500


def put_content(session: Session, text: str) -> str:
    """Store the text unless it is there, and return its digest."""
    clean = stored(text)
    name = digest(clean)
    put_contents(session, {name: clean})
    return name


def put_contents(session: Session, texts: Mapping[str, str]) -> None:
    """Store those of the texts, given by their digests, that aren't there."""
    from sqlalchemy import insert, select

    from optrack.store.tables import ContentRow

    table = ContentRow.metadata.tables["content"]
    connection = session.connection()
    for names in _batches(list(texts)):
        known = set(connection.scalars(select(table.c.digest).where(table.c.digest.in_(names))))
        missing = [{"digest": name, "data": texts[name]} for name in names if name not in known]
        if missing:
            connection.execute(insert(table), missing)


def _batches(names: list[str]) -> list[list[str]]:
    return [names[start : start + _AT_ONCE] for start in range(0, len(names), _AT_ONCE)]


def stored(text: str) -> str:
    """Return the text as the database can hold it: what is no Unicode (an odd byte of a path) is replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


_APART = "$content"
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
    return {_APART: put(text)} if len(text) > _LARGE_CHARS else inner


def join(text: str, get: Callable[[str], str]) -> Any:
    """Return the data that `split` made the text of; `get` returns a stored text by its digest."""
    return _join(json.loads(text), get)


def _join(data: Any, get: Callable[[str], str]) -> Any:
    if isinstance(data, list):
        return [_join(value, get) for value in data]
    if isinstance(data, dict):
        if data.keys() == {_APART}:
            return join(get(data[_APART]), get)
        return {_plain(key): _join(value, get) for key, value in data.items()}
    return data


def _escaped(key: object) -> str:
    text = str(key)
    return f"${text}" if text.startswith("$") else text


def _plain(key: str) -> str:
    return key[1:] if key.startswith("$$") else key


def as_text(at: datetime) -> str:
    """Return the time as `2026-11-29T18:45:12.000000Z`; one without a zone is taken as UTC."""
    moment = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond:06d}Z"


def from_text(text: str) -> datetime:
    """Return the time that `as_text` wrote, with its zone."""
    return datetime.fromisoformat(text)


def add_event(session: Session, run: str, event: Event, at: datetime) -> int:
    """Append the event and return its number; the start of a stage also shows in the run itself."""
    from sqlalchemy import update
    from sqlmodel import col

    from optrack.store.tables import EventRow, RunRow

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

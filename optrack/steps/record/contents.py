"""Texts stored once under their digest: plans, recipes, the parts of snapshots."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import insert, select
from sqlmodel import Session

from optrack.core.canonical import digest
from optrack.steps.record.tables import ContentRow

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

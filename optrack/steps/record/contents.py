"""Texts stored once under their digest: plans, recipes, the parts of snapshots."""

from __future__ import annotations

from sqlalchemy import insert, select
from sqlmodel import Session

from optrack.core.canonical import digest
from optrack.steps.record.tables import ContentRow

_CONTENT = ContentRow.metadata.tables["content"]


def put_content(session: Session, text: str) -> str:
    """Store the text unless it is there, and return its digest."""
    clean = stored(text)
    name = digest(clean)
    known = select(_CONTENT.c.digest).where(_CONTENT.c.digest == name)
    if session.connection().execute(known).first() is None:
        session.connection().execute(insert(_CONTENT).values(digest=name, data=clean))
    return name


def stored(text: str) -> str:
    """Return the text as the database can hold it: what is no Unicode (an odd byte of a path) is replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")

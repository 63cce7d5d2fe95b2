"""Texts stored once under their digest: plans, recipes, the parts of snapshots."""

from __future__ import annotations

from sqlalchemy import insert
from sqlmodel import Session

from optrack.core.canonical import digest
from optrack.steps.record.tables import ContentRow


def put_content(session: Session, text: str) -> str:
    """Store the text unless it is there, and return its digest."""
    clean = stored(text)
    name = digest(clean)
    if session.get(ContentRow, name) is None:
        session.execute(insert(ContentRow).values(digest=name, data=clean))
    return name


def stored(text: str) -> str:
    """Return the text as the database can hold it: what is no Unicode (an odd byte of a path) is replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")

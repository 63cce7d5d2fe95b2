"""Texts that repeat (plans, recipes, parts of snapshots): stored once, under their digest."""

from __future__ import annotations

from collections.abc import Iterable

from sqlmodel import Session, col, select

from optrack.model.value import digest
from optrack.store.rows import stored
from optrack.store.tables import ContentRow

_AT_ONCE = 500


def put_content(session: Session, text: str) -> str:
    """Store the text unless it is there, and return its digest."""
    return put_contents(session, [text])[0]


def put_contents(session: Session, texts: Iterable[str]) -> list[str]:
    """Store those of the texts that aren't there, and return the digest of each, in their order."""
    clean = [stored(text) for text in texts]
    by_digest = {digest(text): text for text in clean}
    names = list(by_digest)
    known: set[str] = set()
    for start in range(0, len(names), _AT_ONCE):
        some = names[start : start + _AT_ONCE]
        known |= set(session.exec(select(ContentRow.digest).where(col(ContentRow.digest).in_(some))))
    missing = [ContentRow(digest=name, data=text) for name, text in by_digest.items() if name not in known]
    session.add_all(missing)
    session.flush()
    return [digest(text) for text in clean]

"""Times as the database keeps them: ISO 8601 UTC text of one width, so that text order is time order."""

from __future__ import annotations

from datetime import UTC, datetime


def as_text(at: datetime) -> str:
    """Return the time as `2026-11-29T18:45:12.000000Z`; one without a zone is taken as UTC."""
    moment = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond:06d}Z"


def from_text(text: str) -> datetime:
    """Return the time that `as_text` wrote, with its zone."""
    return datetime.fromisoformat(text)

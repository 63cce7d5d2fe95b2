"""Times as texts of reports."""

from __future__ import annotations

from datetime import UTC, datetime


def timestamp(at: datetime | None) -> str | None:
    """Return a time as ISO 8601 in UTC, to the millisecond."""
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else None

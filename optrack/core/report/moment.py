"""Moments as people write them: a date, a time, or how long ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from optrack.errors import UsageError

_AGO = re.compile(r"(\d+(?:\.\d+)?)\s*(m|min|h|d|w)", re.IGNORECASE)
_SECONDS = {"m": 60, "min": 60, "h": 3600, "d": 86400, "w": 604800}


def moment(text: str, now: datetime) -> datetime:
    """Return the moment that `2026-11-29`, `2026-11-29T18:00Z`, `7d` or `24h` names; UTC unless it says otherwise."""
    ago = _AGO.fullmatch(text.strip())
    try:
        if ago is not None:
            return now - timedelta(seconds=float(ago[1]) * _SECONDS[ago[2].lower()])
        found = datetime.fromisoformat(text.strip())
    except (ValueError, OverflowError):
        hint = "write it like 2026-11-29, 2026-11-29T18:00Z, 24h or 7d"
        raise UsageError(f"{text!r} is no moment", hint=hint) from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)

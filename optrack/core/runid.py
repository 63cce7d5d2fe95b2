"""The names of runs: they sort by time, tell the item, and are unlikely to meet."""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_FRACTION_CHARS = 3


def new_run_id(at: datetime, item: str) -> str:
    """Return an id such as `20261129T184512-x7k2-1A` for a run of `item` that starts at `at`.

    The three characters after the seconds count their 46,656th parts, so that ids sort by time within a
    second too; the fourth is random. Those four alone are usually enough to name the run.
    """
    moment = at.astimezone(UTC)
    parts = moment.microsecond * 36**_FRACTION_CHARS // 1_000_000
    fraction = ""
    for _ in range(_FRACTION_CHARS):
        parts, digit = divmod(parts, 36)
        fraction = _DIGITS[digit] + fraction
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", item).strip("-.")[:24].rstrip("-.") or "item"
    return f"{moment:%Y%m%dT%H%M%S}-{fraction}{secrets.choice(_DIGITS)}-{slug}"

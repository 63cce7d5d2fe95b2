"""Durations, sizes, fractions and numbers as a recipe writes them (`20m`, `20GB`, `2%`, `0.90`)."""

from __future__ import annotations

import re
from typing import Any

_DURATION = re.compile(r"(?:(\d+(?:\.\d+)?)h)?(?:(\d+(?:\.\d+)?)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)i?B?", re.IGNORECASE)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def seconds(value: Any) -> float | None:
    """Return a duration (`20m`, `1h30m`, `90`, in seconds) as seconds; None if it is no duration."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if value >= 0 else None
    text = value.strip() if isinstance(value, str) else ""
    found = _DURATION.fullmatch(text)
    if not text or found is None:
        return float(text) if re.fullmatch(r"\d+(?:\.\d+)?", text) else None
    hours, minutes, secs, millis = (float(part or 0) for part in found.groups())
    return hours * 3600 + minutes * 60 + secs + millis / 1000


def size_bytes(value: Any) -> int | None:
    """Return a size (`20GB`, `512M`, a number of bytes) in bytes, by powers of 1024; None if it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if value >= 0 else None
    found = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    return int(float(found[1]) * 1024 ** _POWERS[found[2].upper()]) if found else None


def fraction(value: Any) -> float | None:
    """Return `2%` or 0.02 as 0.02; None if it is no fraction between 0 and 1."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if 0 <= value < 1 else None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*", value) if isinstance(value, str) else None
    if found is None:
        return None
    number = float(found[1]) / (100 if found[2] else 1)
    return number if 0 <= number < 1 else None


def number(value: Any) -> float | None:
    """Return a number, also one that stayed text because it would print otherwise (`0.90`, `1e3`)."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str) and re.fullmatch(r"[-+]?\d+(\.\d+)?([eE][-+]?\d{1,3})?", value.strip()):
        return float(value)
    return None

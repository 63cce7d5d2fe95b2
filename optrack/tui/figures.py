"""Numbers, times and effects as the screens write them: short, with a unit, in columns that line up."""

from __future__ import annotations

import math
from datetime import datetime

from optrack.model.judgement import Effect
from optrack.model.plan import Quantity

_BOUNDLESS = 10.0
"""An upper end of an interval above this share says that nothing is known yet."""


def number(value: float | None, unit: str = "") -> str:
    """Return a value with three or four significant digits and its unit; `nan` and a missing one as such."""
    if value is None:
        return "-"
    if not math.isfinite(value):
        text = "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    elif value == 0:
        text = "0"
    elif abs(value) >= 1_000_000:
        text = f"{value:.3g}"
    elif abs(value) >= 1000:
        text = f"{value:,.0f}"
    elif abs(value) >= 100:
        text = f"{value:.1f}"
    elif abs(value) >= 1:
        text = f"{value:.2f}"
    else:
        text = f"{value:.3g}"
    return f"{text} {unit}".rstrip()


def percent(share: float) -> str:
    """Return a relative difference as a signed percentage: 0.412 is `+41.2%`."""
    return f"{share * 100:+z.1f}%" if math.isfinite(share) else "nan"


def effect(value: Effect | None) -> str:
    """Return an effect without its interval, `-` if there is none."""
    return percent(value.relative) if value else "-"


def interval(value: Effect | None) -> str:
    """Return an effect's interval, `[+39.8, +42.5]` in percent; nothing if there is none."""
    if value is None:
        return ""
    high = f"{value.high * 100:+z.1f}" if value.high < _BOUNDLESS else f">{_BOUNDLESS * 100:+.0f}"
    return f"[{value.low * 100:+z.1f}, {high}]"


def quantity(value: Quantity | None) -> str:
    """Return a quantity in the words it was written in, `-` if there is none."""
    return value.text if value else "-"


def duration(seconds: float | None) -> str:
    """Return a time span as `0:42`, `12:03` or `1:02:03`."""
    if seconds is None or not math.isfinite(seconds):
        return "-"
    whole = max(0, int(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, secs = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{secs:02}" if hours else f"{minutes}:{secs:02}"


def clock(at: datetime) -> str:
    """Return a time as `Nov 29 18:50`, UTC."""
    return f"{at:%b} {at.day:2} {at:%H:%M}"


def size(count: int) -> str:
    """Return a number of bytes as `1.9 GB`, powers of 1000."""
    if count < 1000:
        return f"{count} B"
    value = float(count)
    for unit in ("kB", "MB", "GB"):
        value /= 1000
        if value < 999.5:
            return f"{value:.1f} {unit}"
    return f"{value / 1000:.1f} TB"


def plural(count: int, noun: str) -> str:
    """Return `1 run`, `2 runs`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"

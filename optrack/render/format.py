"""Numbers, times, effects and marks as people read them: the same in commands, screens, log and reasons.

No other module of `render`, `cli`, `tui` and `app` formats a number. What the reasons of judgements need as well
is in `model/wording.py`, and offered here too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from optrack.model.wording import (
    MINUS,
    amount,
    counted,
    cut,
    ends,
    fixed,
    interval,
    launches,
    level,
    listed,
    number,
    percent,
)

__all__ = [
    "MINUS",
    "amount",
    "counted",
    "cut",
    "ends",
    "fixed",
    "interval",
    "launches",
    "level",
    "listed",
    "number",
    "percent",
]
if TYPE_CHECKING:
    from optrack.model.item import ItemState
    from optrack.model.judgement import Effect, Judgement
    from optrack.model.plan import Quantity
    from optrack.model.run import Run


def compact(value: float | None, unit: str = "") -> str:
    """Return a value for a narrow place: three or four digits, `48.7k tok/s`, `1.59 ms`; a dash for none."""
    if value is None:
        return "-"
    size_ = abs(value)
    if not math.isfinite(value) or size_ < 9999.5 or size_ >= 999.5e12:
        text = number(value, 4 if size_ >= 99.95 else 3)
    else:
        power = min(4, int(math.log10(size_ * 1.0005) // 3))
        text = number(value / 1000.0**power, 3) + " kMGT"[power]
    return f"{text} {unit}".rstrip()


def rough(fraction: float) -> str:
    """Return a fraction as a percentage of two digits, `0.76%`, `12%`: for what is only estimated."""
    return f"{number(100 * fraction, 2)}%"


def ratio(value: float) -> str:
    """Return a factor, `×1.25`."""
    return f"×{number(value, 3)}"


def effect(value: Effect | None, *, none: str = "-") -> str:
    """Return a relative difference with its interval for a column, `+12.0% [+8.1%, +16.0%]`."""
    return none if value is None else f"{percent(value.relative)} {bounds(value)}"


def short_effect(value: Effect | None) -> str:
    """Return a relative difference without its interval, a dash where there is none."""
    return percent(value.relative) if value else "-"


def bounds(value: Effect | None) -> str:
    """Return an effect's interval alone, `[+39.8%, +42.5%]`; nothing if there is none."""
    return "[{}, {}]".format(*ends(value)) if value else ""


def quantity(value: Quantity | None) -> str:
    """Return a quantity in the words it was written in, a dash if there is none."""
    return value.text if value else "-"


def words(name: str) -> str:
    """Return a status, outcome or verdict as words, `in progress`."""
    return name.replace("_", " ")


def duration(seconds: float | None) -> str:
    """Return a time span as a clock, `0:42`, `12:03`, `1:02:03`."""
    if seconds is None or not math.isfinite(seconds):
        return "-"
    minutes, secs = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{secs:02}" if hours else f"{minutes}:{secs:02}"


def span(seconds: float) -> str:
    """Return a time span with its unit, `0.4 s`, `42 s`, `12 min`, `3.5 h`."""
    if seconds < 120:
        return f"{fixed(seconds, 1 if seconds < 10 else 0)} s"
    return f"{fixed(seconds / 60, 0)} min" if seconds < 7200 else f"{fixed(seconds / 3600, 1)} h"


def clock(at: datetime) -> str:
    """Return a time for a column, `Nov 29 18:50`, UTC."""
    return f"{at:%b} {at.day:2} {at:%H:%M}"


def timestamp(at: datetime) -> str:
    """Return a time as ISO 8601 in UTC, to the second: `2026-11-29T18:50:12Z`."""
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def size(count: int) -> str:
    """Return a number of bytes as `1.9 GB`, powers of 1000."""
    if count < 1000:
        return f"{count} B"
    value = float(count)
    for unit in ("kB", "MB", "GB"):
        value /= 1000
        if value < 999.5:
            return f"{fixed(value, 1)} {unit}"
    return f"{fixed(value / 1000, 1)} TB"


Tone = Literal["plain", "strong", "good", "bad", "warn", "live", "quiet"]


@dataclass(frozen=True, slots=True)
class Mark:
    """A sign, its word and its tone, so that colour alone never says anything."""

    sign: str
    word: str
    tone: Tone

    def __str__(self) -> str:
        return f"{self.sign} {self.word}".strip()


STATUS = {
    "pending": Mark("○", "pending", "plain"),
    "in_progress": Mark("▶", "in progress", "live"),
    "completed": Mark("✓", "completed", "plain"),
    "cancelled": Mark("/", "cancelled", "quiet"),
}
VERDICT = {
    "improvement": Mark("▲", "improvement", "good"),
    "regression": Mark("▼", "regression", "bad"),
    "no_change": Mark("=", "no change", "plain"),
    "inconclusive": Mark("?", "inconclusive", "warn"),
    "failed": Mark("✗", "failed", "bad"),
}
COMPARISON = {
    "fair": Mark("", "fair", "plain"),
    "unfair": Mark("!", "unfair", "bad"),
    "unknown": Mark("?", "unknown", "warn"),
}
OUTCOME = {
    "succeeded": Mark("✓", "succeeded", "good"),
    "failed": Mark("✗", "failed", "bad"),
    "timed_out": Mark("✗", "timed out", "bad"),
    "interrupted": Mark("/", "interrupted", "warn"),
}
NO_VERDICT = Mark("!", "no verdict", "warn")
BLOCKED = Mark("|", "blocked", "quiet")
NEXT = Mark("▶", "next", "live")
RUNNING = Mark("▶", "running", "live")


def status_mark(state: ItemState, *, blocked: bool = False) -> Mark:
    """Return the mark of an item's status; a pending one may be blocked."""
    return BLOCKED if blocked and state.status == "pending" else STATUS[state.status]


def verdict_mark(judgement: Judgement | None) -> Mark | None:
    """Return the mark of what the evidence shows, None before there is any."""
    if judgement is None:
        return None
    return VERDICT[judgement.verdict] if judgement.verdict else NO_VERDICT


def outcome_mark(run: Run) -> Mark:
    """Return the mark of how a run ended, or that it is running."""
    return OUTCOME[run.outcome] if run.outcome else RUNNING


def flags(state: ItemState) -> tuple[Mark, ...]:
    """Return what else a reader should see at once: adopted, stale, archived."""
    marks = (
        (state.adopted, Mark("@", "adopted", "good")),
        (state.stale, Mark("~", "stale", "warn")),
        (state.archived, Mark("/", "archived", "quiet")),
    )
    return tuple(mark for holds, mark in marks if holds)

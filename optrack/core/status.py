"""Where an item stands, and which moves between statuses are allowed."""

from __future__ import annotations

from typing import Literal

Status = Literal["pending", "in_progress", "completed", "cancelled"]
STATUSES: tuple[Status, ...] = ("pending", "in_progress", "completed", "cancelled")

_ALLOWED: frozenset[tuple[Status, Status]] = frozenset(
    {
        ("pending", "in_progress"),
        ("pending", "completed"),
        ("pending", "cancelled"),
        ("in_progress", "pending"),
        ("in_progress", "completed"),
        ("in_progress", "cancelled"),
        ("completed", "pending"),
        ("completed", "in_progress"),
        ("completed", "cancelled"),
        ("cancelled", "pending"),
        ("cancelled", "in_progress"),
    }
)


def may_move(before: Status, after: Status) -> bool:
    """Whether an item may go from `before` to `after`.

    Everything may except standing still, and a cancelled item being completed without having been
    taken up again: a result needs a run or a decision, and cancelling was one.
    """
    return (before, after) in _ALLOWED

"""Asking for something to be done to the selected item: what the plan's and the item's screen share."""

from __future__ import annotations

from optrack.tui.screens.base import BoardScreen


class ItemScreen(BoardScreen):
    """A screen with a selected item."""

    @property
    def current(self) -> str | None:
        """The id of the selected item."""
        return None

"""Where words to search for are typed."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from optrack.tui.commands import Back


class Words(Input):
    """An input whose footer shows how to leave it, and none of the keys that are typed into it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "screen.issue('Back')", Back.FOOTER, tooltip=Back.tooltip())
    ]

    def check_consume_key(self, key: str, character: str | None) -> bool:
        return key == "slash" or super().check_consume_key(key, character)

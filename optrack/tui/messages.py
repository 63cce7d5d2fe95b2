"""What workers tell the screens: values that were read, or the error that was met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from textual.message import Message

from optrack.model.item import ItemState
from optrack.model.plan import Plan
from optrack.model.run import Run
from optrack.tui.board import NextItem


@dataclass(frozen=True)
class Picture:
    """The campaign at one version of the board, as every screen needs it."""

    plan: Plan
    items: tuple[ItemState, ...]
    choice: NextItem
    live: tuple[Run, ...] = ()
    launches: Mapping[str, int] = field(default_factory=dict)

    def state(self, item: str) -> ItemState | None:
        """Return where this item stands."""
        return next((state for state in self.items if state.item.id == item), None)


class BoardChanged(Message):
    """The campaign has changed; this is how it looks now."""

    def __init__(self, picture: Picture) -> None:
        super().__init__()
        self.picture = picture


class BoardFailed(Message):
    """Something could not be read or done; `text` says what, `hint` what to do about it."""

    def __init__(self, text: str, hint: str | None = None) -> None:
        super().__init__()
        self.text, self.hint = text, hint


class Acted(Message):
    """Something that was asked for has been done; `run` is the run that it started, if any."""

    def __init__(self, text: str, run: str | None = None) -> None:
        super().__init__()
        self.text, self.run = text, run

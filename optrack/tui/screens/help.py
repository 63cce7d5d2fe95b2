"""The keys of the part that has the focus, and of everything around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from optrack.tui.widgets.sheet import Sheet, field, heading


class HelpScreen(ModalScreen[None]):
    """A page of keys; any of the usual keys leaves it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,enter", "leave", "Close")]
    AUTO_FOCUS = "Sheet"

    def __init__(self, title: str, parts: Sequence[tuple[str, Sequence[tuple[str, str]]]]) -> None:
        super().__init__()
        self._title, self._parts = title, parts

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -tall"):
            yield Static(Content.styled(f"Keys: {self._title}", "bold $strong"), classes="dialog-title")
            yield Sheet(id="keys")
            yield Static(Content("escape: close"), classes="dialog-keys")

    def on_mount(self) -> None:
        self.query_one(Sheet).show(self._words)

    def _words(self, width: int) -> list[Content]:
        lines: list[Content] = []
        for title, keys in self._parts:
            lines += heading(title)[0 if lines else 1 :]
            for key, text in keys:
                lines += field(key, text, width)
        return lines

    def action_leave(self) -> None:
        """Close the page."""
        self.dismiss(None)


def parts_of(
    active: Sequence[ActiveBinding], names: dict[type[object], str]
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the keys that work now, grouped by where they belong; `names` gives the groups' titles."""
    groups: dict[str, dict[str, tuple[list[str], str]]] = {}
    for one in active:
        if not one.enabled or not one.binding.description:
            continue
        title = next((name for kind, name in names.items() if isinstance(one.node, kind)), "Here")
        keys, text = groups.setdefault(title, {}).setdefault(
            one.binding.action, ([], one.binding.tooltip or one.binding.description)
        )
        keys.append(key_name(one.binding.key))
        groups[title][one.binding.action] = (keys, text)
    return [
        (title, [(" ".join(keys), text) for keys, text in group.values()]) for title, group in groups.items()
    ]


_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "escape": "esc",
    "greater_than_sign": ">",
    "less_than_sign": "<",
    "pagedown": "pgdn",
    "pageup": "pgup",
}


def key_name(key: str) -> str:
    """Return a key as people write it."""
    return _NAMES.get(key, key.replace("ctrl+", "^"))

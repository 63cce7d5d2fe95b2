"""What lies over a screen: questions, each dismissed with the answer or None, and the page of keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from optrack.tui.text import content, field, heading
from optrack.tui.widgets.detail import DetailPane

T = TypeVar("T")
KeyGroup = tuple[str, Sequence[tuple[str, str]]]
"""A title, and keys with what each does."""


class Dialog(ModalScreen[T], Generic[T]):
    """A box in the middle; escape leaves it without an answer."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Cancel")]

    def __init__(self, title: str, text: str = "") -> None:
        super().__init__()
        self._title, self._words = title, text

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(content(self._title, "bold $strong"), classes="dialog-title")
            if self._words:
                yield Static(content(self._words), classes="dialog-text")
            yield from self.question()

    def on_mount(self) -> None:
        """Take away what was told before, which would lie over the question."""
        self.app.clear_notifications()

    def question(self) -> ComposeResult:
        """Return what is asked with."""
        yield Static(Content(""))

    def action_leave(self) -> None:
        self.dismiss(None)


class Confirm(Dialog[str]):
    """Asks whether to do something; the answer is the key of the button that was chosen."""

    AUTO_FOCUS = "#answer-none"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "choose(0)", "Yes", show=False),
        Binding("n", "leave", "No", show=False),
        Binding("left,h", "app.focus_previous", "Previous", show=False),
        Binding("right,l", "app.focus_next", "Next", show=False),
    ]

    def __init__(self, title: str, text: str, answers: Sequence[tuple[str, str]]) -> None:
        super().__init__(title, text)
        self._answers = answers

    def question(self) -> ComposeResult:
        with Horizontal(classes="dialog-buttons"):
            for key, label in self._answers:
                yield Button(Content(label), id=f"answer-{key}", compact=True)
            yield Button(Content("No"), id="answer-none", compact=True)
        yield Static(Content(f"y: {self._answers[0][1].lower()}   n: no"), classes="dialog-keys")

    def action_choose(self, index: int) -> None:
        """Choose the answer at this place."""
        self.dismiss(self._answers[index][0])

    def on_button_pressed(self, message: Button.Pressed) -> None:
        key = (message.button.id or "").removeprefix("answer-")
        self.dismiss(None if key == "none" else key)


class AskText(Dialog[str]):
    """Asks for a line of text."""

    def question(self) -> ComposeResult:
        yield Input(placeholder="text, then enter", id="answer")
        yield Static(Content("enter: done   escape: cancel"), classes="dialog-keys")

    @on(Input.Submitted)
    def answered(self, message: Input.Submitted) -> None:
        if message.value.strip():
            self.dismiss(message.value.strip())


class AskChoice(Dialog[tuple[str, str]]):
    """Asks for one of some values and for the reason."""

    def __init__(self, title: str, text: str, options: Sequence[tuple[str, str]]) -> None:
        super().__init__(title, text)
        self._options = options

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    def question(self) -> ComposeResult:
        yield OptionList(*(Option(content(label)) for _, label in self._options), markup=False)
        yield Input(placeholder="why (needed)", id="answer")
        yield Static(Content("enter: go on   tab: reason   escape: cancel"), classes="dialog-keys")

    @on(OptionList.OptionSelected)
    def chosen(self) -> None:
        self.query_one("#answer", Input).focus()

    @on(Input.Submitted)
    def answered(self, message: Input.Submitted) -> None:
        at = self._list.highlighted
        if message.value.strip() and at is not None:
            self.dismiss((self._options[at][0], message.value.strip()))


class HelpScreen(ModalScreen[None]):
    """A page of keys; any of the usual keys leaves it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,enter", "leave", "Close")]
    AUTO_FOCUS = "DetailPane"

    def __init__(self, title: str, groups: Sequence[KeyGroup]) -> None:
        super().__init__()
        self._title, self._groups = title, groups

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -tall"):
            yield Static(Content.styled(f"Keys: {self._title}", "bold $strong"), classes="dialog-title")
            yield DetailPane(id="keys")
            yield Static(Content("escape: close"), classes="dialog-keys")

    def on_mount(self) -> None:
        self.query_one(DetailPane).show(self._words)

    def _words(self, width: int) -> list[Content]:
        lines: list[Content] = []
        for title, keys in self._groups:
            lines += heading(title)[0 if lines else 1 :]
            for key, text in keys:
                lines += field(key, text, width)
        return lines

    def action_leave(self) -> None:
        self.dismiss(None)


_GROUPS: tuple[tuple[type[object], str], ...] = (
    (App, "Everywhere"),
    (Screen, "On this screen"),
    (Widget, "In this part"),
)


def key_groups(active: Sequence[ActiveBinding]) -> list[KeyGroup]:
    """Return the keys that work now with what they do, grouped by where they belong, the nearest first."""
    groups: dict[str, dict[str, tuple[list[str], str]]] = {title: {} for _, title in reversed(_GROUPS)}
    for one in active:
        binding = one.binding
        if one.enabled and binding.description:
            title = next(title for kind, title in _GROUPS if isinstance(one.node, kind))
            text = binding.tooltip or binding.description
            groups[title].setdefault(binding.action, ([], text))[0].append(key_name(binding.key))
    return [
        (title, [(" ".join(keys), text) for keys, text in group.values()])
        for title, group in groups.items()
        if group
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

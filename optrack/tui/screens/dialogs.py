"""Questions that a screen puts before it asks for something: each is dismissed with the answer or None."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, OptionList, Static
from textual.widgets.option_list import Option

from optrack.tui.outside import content

T = TypeVar("T")


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
        """Leave without an answer."""
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

"""A page of text that scrolls: lines built for the width at hand, with fields in two columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from optrack.tui.outside import content

Build = Callable[[int], Sequence[Content]]
_LABEL = 13


class Sheet(VerticalScroll, can_focus=True, inherit_bindings=False):
    """Shows what its `build` makes for the present width; built anew when the width changes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll_down", "Down", show=False),
        Binding("up,k", "scroll_up", "Up", show=False),
        Binding("pagedown,ctrl+f", "page_down", "Page down", show=False),
        Binding("pageup,ctrl+b", "page_up", "Page up", show=False),
        Binding("home,g", "scroll_home", "Top", show=False),
        Binding("end,G", "scroll_end", "End", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._build: Build = lambda width: ()
        self._width = 0

    @property
    def _text(self) -> Static:
        return self.query_one("#text", Static)

    def compose(self) -> ComposeResult:
        yield Static(Content(""), id="text")

    def show(self, build: Build, *, from_top: bool = False) -> None:
        """Show what `build` makes of a width in cells."""
        self._build = build
        self._put()
        if from_top:
            self.scroll_home(animate=False)

    def on_resize(self) -> None:
        if self._wide() != self._width:
            self._put()

    def _wide(self) -> int:
        return max(8, self.size.width - 2)

    def _put(self) -> None:
        self._width = self._wide()
        self._text.update(Content("\n").join(self._build(self._width)))


def field(name: str, value: Content | str, width: int, style: str = "") -> list[Content]:
    """Return `name  value` as lines of at most `width` cells, the value in a column of its own."""
    text = content(value, style) if isinstance(value, str) else value
    label = min(_LABEL, max(0, width - 16))
    lines = text.wrap(max(1, width - label))
    head = name[: max(0, label - 1)].ljust(label)
    return [
        Content.assemble((head if i == 0 else " " * label, "$quiet"), line.rstrip(" "))
        for i, line in enumerate(lines)
    ]


def heading(text: str) -> list[Content]:
    """Return a section's heading, with a blank line above it."""
    return [Content(""), Content.styled(text, "bold $live")]


def paragraph(text: Content | str, width: int, style: str = "") -> list[Content]:
    """Return text in lines of at most `width` cells."""
    whole = content(text, style) if isinstance(text, str) else text
    return list(whole.wrap(max(1, width)))

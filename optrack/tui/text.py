"""Text to draw: what comes from outside made safe (no control characters, never markup), fields and paragraphs."""

from __future__ import annotations

import re

from rich.ansi import AnsiDecoder
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual.content import Content

from optrack.render.format import Mark

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_TITLE = re.compile(r"\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)")
_LABEL = 13
_CONSOLE = Console(force_terminal=True, width=10_000, markup=False, emoji=False)
_BEYOND = re.compile(r"[\ud800-\udfff]")


def plain(text: str) -> str:
    """Return `text` on one line without anything that a terminal would obey."""
    flat = text.replace("\r\n", " ").replace("\n", " ").replace("\t", "    ")
    return _BEYOND.sub("\ufffd", _CONTROL.sub("\ufffd", flat))


def plain_lines(text: str) -> str:
    """Return `text` with its line breaks, and without anything else that a terminal would obey."""
    return "\n".join(plain(line) for line in text.splitlines())


def content(text: str, style: str = "") -> Content:
    """Return outside text as content in one style; brackets in it are just brackets."""
    return Content.styled(plain_lines(text), style) if style else Content(plain_lines(text))


def ansi_segments(line: str) -> list[Segment]:
    """Return a log's line as segments: its colour codes become styles, other escapes vanish.

    A line that a progress bar rewrote with carriage returns shows its last state.
    """
    if "\x1b" not in line and "\r" not in line:
        return [Segment(plain(line))]
    text = AnsiDecoder().decode_line(_TITLE.sub("", line).rstrip("\r\n"))
    return [
        Segment(plain(part.text), part.style if isinstance(part.style, Style) else None)
        for part in text.render(_CONSOLE)
        if part.text and part.text != "\n"
    ]


def field(name: str, value: Content | str, width: int, style: str = "") -> list[Content]:
    """Return `name  value` as lines of at most `width` cells, the value in a column of its own."""
    label = min(_LABEL, max(0, width - 16))
    text = content(value, style) if isinstance(value, str) else value
    return hanging(Content.styled(name[: max(0, label - 1)].ljust(label), "$quiet"), text, width)


def hanging(head: Content, text: Content, width: int) -> list[Content]:
    """Return a text beside its head as lines of at most `width` cells, those that follow below the first one's text."""
    indent = head.cell_length
    lines = text.wrap(max(1, width - indent))
    return [
        Content.assemble(head if i == 0 else " " * indent, line.rstrip(" ")) for i, line in enumerate(lines)
    ]


def heading(text: str) -> list[Content]:
    """Return a section's heading, with a blank line above it."""
    return [Content(""), Content.styled(text, "bold $live")]


def paragraph(text: Content | str, width: int, style: str = "") -> list[Content]:
    """Return text in lines of at most `width` cells."""
    whole = content(text, style) if isinstance(text, str) else text
    return list(whole.wrap(max(1, width)))


def shortened(text: str, width: int) -> str:
    """Return `text` in at most `width` cells, ending in an ellipsis where it was cut."""
    if cell_len(text) <= width:
        return text
    if width < 4:
        return set_cell_size(text, max(0, width))
    return set_cell_size(text, width - 1).rstrip() + "…"


def toned(mark: Mark) -> Content:
    """Return a mark in its tone."""
    return Content.styled(str(mark), f"${mark.tone}" if mark.tone != "plain" else "")

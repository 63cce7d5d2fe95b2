"""The screens in ASCII: what is drawn with other characters is drawn with the nearest ones that ASCII has."""

from __future__ import annotations

from functools import lru_cache

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from optrack.model.text import NEAREST, without_accents


@lru_cache(4096)
def in_ascii(text: str) -> str:
    """Return `text` in ASCII, as many cells wide as it was; what has no likeness becomes question marks."""
    return text if text.isascii() else "".join(_one(char) for char in text)


def _one(char: str) -> str:
    if char.isascii():
        return char
    width = cell_len(char)
    known = NEAREST.get(char)
    if known is None:
        bare = without_accents(char)
        known = bare if len(bare) == width else "?" * width
    return known.ljust(width)[:width]


class AsciiOnly(LineFilter):
    """Draws every line in ASCII."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(in_ascii(text), style, control) for text, style, control in segments]

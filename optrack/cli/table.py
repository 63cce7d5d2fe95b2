"""Aligned columns of text, for people and for pipes: outside text is never markup."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> list[str]:
    """Return the lines of a table; columns whose index is in `right` are aligned to the right."""
    cells = [[_clean(cell) for cell in row] for row in (heads, *rows)]
    widths = [max(_width(row[column]) for row in cells) for column in range(len(heads))]
    lines = [_line(row, widths, right) for row in cells]
    return [lines[0], _line(["-" * width for width in widths], widths, ()), *lines[1:]]


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    padded = []
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        space = " " * (width - _width(cell))
        padded.append(space + cell if column in right else cell + space)
    return "  ".join(padded).rstrip()


def _clean(cell: str) -> str:
    return "".join(c if c.isprintable() else " " for c in cell)


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )

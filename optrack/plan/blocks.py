"""The parts of a markdown document: sections, and the blocks that stand in them, with line numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from optrack.plan.text import Inline


@dataclass(slots=True)
class Paragraph:
    """A paragraph, line by line."""

    line: int
    lines: list[Inline]


@dataclass(slots=True)
class Entry:
    """An entry of a list: its number if ordered, its box if it has one, its first paragraph, what follows."""

    line: int
    number: int | None
    box: str | None
    lines: list[Inline]
    blocks: list[Block] = field(default_factory=list)
    mark: str | None = None


@dataclass(slots=True)
class Listing:
    """A list."""

    line: int
    ordered: bool
    entries: list[Entry]


@dataclass(slots=True)
class Row:
    """A row of a table."""

    line: int
    cells: list[Inline]
    mark: str | None = None


@dataclass(slots=True)
class Table:
    """A table; a row may have fewer cells than the header."""

    line: int
    header: list[Inline]
    rows: list[Row]


@dataclass(slots=True)
class Fence:
    """A fenced code block; `content` is what stands between the fences, byte for byte."""

    line: int
    info: str
    content: str
    closed: bool
    indent: int = 0


@dataclass(slots=True)
class Quote:
    """A block quote."""

    line: int
    blocks: list[Block]


Block = Paragraph | Listing | Table | Fence | Quote


@dataclass(slots=True)
class Section:
    """A heading with what follows it up to the next heading of its level; level 0 is the whole document.

    `end` is its last line, or beyond the document for what runs to its end. `mark` is the id given with `{#id}`,
    or `.note` for a heading said to be none. `unread`, on the whole document alone, are the lines of what is
    nested too deeply to be read.
    """

    level: int
    line: int
    heading: Inline
    parent: Section | None = None
    mark: str | None = None
    end: int = 10**9
    blocks: list[Block] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)

    def walk(self) -> Iterator[Section]:
        """Yield all sections below this one, in document order."""
        stack = self.sections[::-1]
        while stack:
            section = stack.pop()
            yield section
            stack.extend(section.sections[::-1])

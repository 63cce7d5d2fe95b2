"""A markdown document as a tree of sections and blocks with line numbers, read by a CommonMark parser.

What is code, comment, heading, list or table is CommonMark's decision (with GitHub's tables, task boxes and
strike-through), so a `#` line in a fence is never a heading.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from optrack.core.parse.inline import Inline, inline_lines

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_DEEPEST = 60
"""Levels of lists and quotes that are read (a list is two); what lies deeper is only pointed out."""

_TASK = re.compile(r"\[([ xX✓✔~\-/])\]\s+")
_ID = re.compile(r"\s*\{#([^\s{}]+)\}\s*$")


@dataclass
class Paragraph:
    """A paragraph, line by line."""

    line: int
    lines: list[Inline]


@dataclass
class Entry:
    """An entry of a list: its number if ordered, its box if it has one, its first paragraph, what follows."""

    line: int
    number: int | None
    box: str | None
    lines: list[Inline]
    blocks: list[Block] = field(default_factory=list)


@dataclass
class Listing:
    """A list."""

    line: int
    ordered: bool
    entries: list[Entry]


@dataclass
class Row:
    """A row of a table."""

    line: int
    cells: list[Inline]


@dataclass
class Table:
    """A table; a row may have fewer cells than the header."""

    line: int
    header: list[Inline]
    rows: list[Row]


@dataclass
class Fence:
    """A fenced code block; `content` is what stands between the fences, byte for byte."""

    line: int
    info: str
    content: str
    closed: bool
    indent: int = 0


@dataclass
class Quote:
    """A block quote."""

    line: int
    blocks: list[Block]


Block = Paragraph | Listing | Table | Fence | Quote


@dataclass
class Section:
    """A heading with what follows it up to the next heading of its level; level 0 is the whole document.

    `end` is its last line, or beyond the document for what runs to its end. `unread`, on the whole document
    alone, are the lines of what is nested too deeply to be read.
    """

    level: int
    line: int
    heading: Inline
    parent: Section | None = None
    explicit_id: str | None = None
    end: int = 10**9
    blocks: list[Block] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    unread: tuple[int, ...] = ()

    def walk(self) -> Iterator[Section]:
        """Yield all sections below this one, in document order."""
        stack = self.sections[::-1]
        while stack:
            section = stack.pop()
            yield section
            stack.extend(section.sections[::-1])


def read_document(text: str, *, first: int = 1) -> Section:
    """Return the document's root section; `text` has `\\n` line ends, `first` is the number of its first line."""
    return _Reader(text, first).read()


@functools.cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable(["table", "strikethrough"])


class _Reader:
    def __init__(self, text: str, first: int) -> None:
        self._first = first
        self._source = text.split("\n")
        self._tokens: list[Token] = _markdown().parse(text)
        self._at = 0

    def read(self) -> Section:
        root = current = Section(level=0, line=self._first, heading=Inline.of(""), unread=self._unread())
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.type != "heading_open":
                block = self._block()
                if block is not None:
                    current.blocks.append(block)
                continue
            section = self._heading(token)
            while current.level >= section.level and current.parent is not None:
                current.end = section.line - 1
                current = current.parent
            section.parent = current
            current.sections.append(section)
            current = section
        return root

    def _unread(self) -> tuple[int, ...]:
        """The lines of the deepest lists and quotes whose content was left out."""
        return tuple(
            self._line(token)
            for token, following in itertools.pairwise(self._tokens)
            if token.level >= _DEEPEST - 1 and token.nesting == 1 and following.nesting == -1
        )

    def _heading(self, token: Token) -> Section:
        inline = self._tokens[self._at + 1]
        self._at += 3
        lines = inline_lines(inline, self._line(token))
        heading = lines[0] if len(lines) == 1 else Inline.joined(lines)
        explicit = _ID.search(heading.text)
        if explicit is not None:
            heading = heading.cut(explicit.start())
        name = explicit[1] if explicit is not None else None
        return Section(int(token.tag[1:]), self._line(token), heading, explicit_id=name)

    def _block(self) -> Block | None:
        token = self._tokens[self._at]
        match token.type:
            case "paragraph_open":
                lines = inline_lines(self._tokens[self._at + 1], self._line(token))
                self._at += 3
                return Paragraph(self._line(token), lines)
            case "bullet_list_open" | "ordered_list_open":
                return self._listing(token)
            case "table_open":
                return self._table(token)
            case "blockquote_open":
                self._at += 1
                return Quote(self._line(token), self._until("blockquote_close"))
            case "fence":
                self._at += 1
                return self._fence(token)
        self._at += 1
        return None

    def _until(self, closing: str) -> list[Block]:
        blocks: list[Block] = []
        while self._at < len(self._tokens) and self._tokens[self._at].type != closing:
            block = self._block()
            if block is not None:
                blocks.append(block)
        self._at += 1
        return blocks

    def _listing(self, token: Token) -> Listing:
        ordered = token.type == "ordered_list_open"
        closing = token.type.replace("open", "close")
        entries: list[Entry] = []
        self._at += 1
        while self._at < len(self._tokens) and self._tokens[self._at].type != closing:
            opening = self._tokens[self._at]
            self._at += 1
            blocks = self._until("list_item_close")
            number = int(opening.info) if ordered and opening.info.isdigit() else None
            entries.append(_entry(self._line(opening), number, blocks))
        self._at += 1
        return Listing(self._line(token), ordered, entries)

    def _table(self, token: Token) -> Table:
        rows: list[Row] = []
        cells: list[Inline] = []
        line = self._line(token)
        while self._tokens[self._at].type != "table_close":
            part = self._tokens[self._at]
            if part.type == "tr_open":
                cells = []
                line = self._line(part) if part.map else line + 1
            elif part.type == "inline":
                cells.append(Inline.joined(inline_lines(part, line)))
            elif part.type == "tr_close":
                rows.append(Row(line, cells))
            self._at += 1
        self._at += 1
        return Table(self._line(token), rows[0].cells if rows else [], rows[1:])

    def _fence(self, token: Token) -> Fence:
        start, end = token.map or [0, 1]
        last = self._source[end - 1].strip(" \t>") if end - 1 < len(self._source) else ""
        closed = end - 1 > start and len(last) >= len(token.markup) and not last.strip(token.markup[0])
        opening = self._source[start] if start < len(self._source) else ""
        indent = max(opening.find(token.markup), 0)
        return Fence(self._line(token), token.info.strip(), token.content, closed, indent)

    def _line(self, token: Token) -> int:
        return (token.map[0] if token.map else 0) + self._first


def _entry(line: int, number: int | None, blocks: list[Block]) -> Entry:
    lines: list[Inline] = []
    if blocks and isinstance(blocks[0], Paragraph):
        lines = blocks[0].lines
        blocks = blocks[1:]
    box = None
    if lines:
        task = _TASK.match(lines[0].text)
        if task is not None:
            box = task[1]
            lines = [lines[0].after(task.end()), *lines[1:]]
    return Entry(line, number, box, lines, blocks)

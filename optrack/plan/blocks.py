"""A markdown document's parts: lines of text with their styles, blocks of lines, sections; with line numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from optrack.model.plan import Problem


def error_at(line: int, message: str, hint: str | None, *, column: int = 1) -> Problem:
    """Return an error at a place of the document."""
    return Problem(severity="error", message=message, line=line, column=column, hint=hint)


def warning_at(line: int, message: str, hint: str | None, *, column: int = 1) -> Problem:
    """Return a warning at a place of the document."""
    return Problem(severity="warning", message=message, line=line, column=column, hint=hint)


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text in one style."""

    text: str
    bold: bool = False
    struck: bool = False
    code: bool = False


@dataclass(frozen=True, slots=True)
class Inline:
    """A line of text; `spans` joined are `text`."""

    text: str
    spans: tuple[Span, ...]
    line: int = 0

    @staticmethod
    def of(text: str, line: int = 0) -> Inline:
        """Return plain text."""
        return Inline(text, (Span(text),), line)

    @staticmethod
    def joined(lines: list[Inline]) -> Inline:
        """Return the lines as one, with spaces between."""
        if len(lines) == 1:
            return lines[0]
        spans: list[Span] = []
        for index, line in enumerate(lines):
            if index:
                spans.append(Span(" "))
            spans.extend(line.spans)
        return Inline("".join(s.text for s in spans), tuple(spans), lines[0].line if lines else 0)

    @property
    def lead(self) -> str | None:
        """The bold text that the line starts with, or None."""
        words: list[str] = []
        for span in self.spans:
            if not span.bold and (span.text.strip() or not words):
                break
            words.append(span.text)
        return "".join(words).strip() or None

    @property
    def is_struck(self) -> bool:
        """Whether the line is struck through where it starts: all of it, or its bold or first part."""
        first = next((span for span in self.spans if span.text.strip(" -–—:.~*")), None)
        return first is not None and first.struck

    @property
    def all_struck(self) -> bool:
        """Whether all of the line's words are struck through."""
        words = [span for span in self.spans if any(ch.isalnum() for ch in span.text)]
        return bool(words) and all(span.struck for span in words)

    @property
    def struck_end(self) -> int:
        """Where the first struck-through text ends."""
        end = 0
        for index, span in enumerate(self.spans):
            end += len(span.text)
            if span.struck and not (index + 1 < len(self.spans) and self.spans[index + 1].struck):
                return end
        return end

    def after(self, start: int) -> Inline:
        """Return what follows the first `start` characters."""
        return self._slice(start, len(self.text))

    def cut(self, end: int) -> Inline:
        """Return the first `end` characters."""
        return self._slice(0, end)

    def stripped(self) -> Inline:
        """Return the line without space around it."""
        left = len(self.text) - len(self.text.lstrip())
        return self._slice(left, len(self.text.rstrip()))

    def _slice(self, start: int, end: int) -> Inline:
        spans: list[Span] = []
        at = 0
        for span in self.spans:
            low, high = max(start - at, 0), min(end - at, len(span.text))
            if low < high:
                spans.append(Span(span.text[low:high], span.bold, span.struck, span.code))
            at += len(span.text)
        return Inline(self.text[start:end], tuple(spans), self.line)


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

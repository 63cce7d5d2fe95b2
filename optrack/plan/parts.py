"""A document's parts: lines of text with their styles, blocks of lines, and the candidates for items."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from optrack.model.plan import Problem, Quantity, RecipeLayer, Status
from optrack.plan.labels import Label

NOTE = ".note"
"""The mark `{.note}` of a line that is said to be no item."""

_BOLD, _STRUCK = "bx", "sx"
_STRUCK_RUN = re.compile("[sx]+")


def error_at(line: int, message: str, hint: str | None, *, column: int = 1) -> Problem:
    """Return an error at a place of the document."""
    return Problem(severity="error", message=message, line=line, column=column, hint=hint)


def warning_at(line: int, message: str, hint: str | None, *, column: int = 1) -> Problem:
    """Return a warning at a place of the document."""
    return Problem(severity="warning", message=message, line=line, column=column, hint=hint)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text; `style` has a sign for each character (`b` bold, `s` struck, `x` both, `c` code, else a space)
    and is empty where all is plain."""

    text: str
    number: int = 0
    style: str = ""

    @staticmethod
    def joined(lines: Sequence[Line]) -> Line:
        """Return the lines as one, with spaces between."""
        if len(lines) == 1:
            return lines[0]
        text = " ".join(line.text for line in lines)
        style = " ".join(line.style or " " * len(line.text) for line in lines)
        return Line(text, lines[0].number if lines else 0, style if style.strip() else "")

    @property
    def lead(self) -> str | None:
        """The bold text that the line starts with, or None."""
        if self.style[:1] not in ("b", "x"):
            return None
        pairs = enumerate(zip(self.text, self.style, strict=True))
        end = next((at for at, (sign, style) in pairs if style not in _BOLD and not sign.isspace()), None)
        return self.text[:end].strip() or None

    @property
    def is_struck(self) -> bool:
        """Whether the line is struck through where it starts: all of it, or its bold or first part."""
        first = re.search(r"[^ \-–—:.~*]", self.text) if self.style else None
        return first is not None and self.style[first.start()] in _STRUCK

    @property
    def all_struck(self) -> bool:
        """Whether all of the line's words are struck through."""
        styles = [style for sign, style in zip(self.text, self.style, strict=True) if sign.isalnum()]
        return bool(styles) and all(style in _STRUCK for style in styles)

    @property
    def struck_end(self) -> int:
        """Where the first struck-through text ends."""
        struck = _STRUCK_RUN.search(self.style)
        return struck.end() if struck is not None else len(self.text)

    def part(self, start: int, end: int | None = None) -> Line:
        """Return what stands between two places."""
        return Line(self.text[start:end], self.number, self.style[start:end])

    def stripped(self) -> Line:
        """Return the line without space around it."""
        return self.part(len(self.text) - len(self.text.lstrip()), len(self.text.rstrip()))


@dataclass(slots=True)
class Paragraph:
    """A paragraph, line by line."""

    line: int
    lines: list[Line]


@dataclass(slots=True)
class Listing:
    """A list; its entries are candidates, those that only say an attribute too."""

    line: int
    ordered: bool
    entries: list[Candidate]


@dataclass(slots=True)
class Table:
    """A table; a row may have fewer cells than the header."""

    line: int
    header: Sequence[Line]
    rows: list[Candidate]


@dataclass(slots=True)
class Fence:
    """A fenced code block; `content` is what stands between the fences, byte for byte."""

    line: int
    info: str
    content: str
    closed: bool
    indent: int = 0

    @property
    def is_recipe(self) -> bool:
        """Whether the info string is `yaml recipe`."""
        words = self.info.lower().split()
        return len(words) >= 2 and words[0] in ("yaml", "yml") and words[1] == "recipe"


@dataclass(slots=True)
class Quote:
    """A block quote."""

    line: int
    blocks: list[Block]


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute as written: its name, its canonical key if known, its value, its line, the line of its list if it
    stands in one."""

    name: str
    key: str | None
    value: str
    line: int
    listed: int = 0


@dataclass(eq=False, slots=True)
class Marked:
    """A title without its marks, and what the marks said."""

    title: str
    status: Status | None = None
    priority: str | None = None
    risk: str | None = None
    gain: Quantity | None = None
    effort: Quantity | None = None


_UNMARKED = Marked("")


@dataclass(eq=False, slots=True)
class Candidate:
    """One heading, bold line, entry or row, what it says, and what became of it.

    `above` is the candidate in whose place it stands, `below` those in its own. `group` is its list or table, `lead`
    the words before that; it is the `own` list of what holds it where no other goes before. `level` is 0 for the
    whole document.
    """

    form: Literal["heading", "bold", "entry", "row"]
    line: int
    text: Line
    level: int = 0
    number: int | None = None
    box: str | None = None
    mark: str | None = None
    lines: Sequence[Line] = ()
    """The cells of a row."""
    blocks: Sequence[Block] = ()
    """What an entry holds, until it is read."""
    end: int = 10**9
    above: Candidate | None = None
    below: Sequence[Candidate] = ()
    group: Listing | Table | None = None
    lead: str = ""
    own: bool = False
    label: Label | None = None
    own_id: str | None = None
    marked: Marked = _UNMARKED
    prose: str = ""
    attributes: Sequence[Attribute] = ()
    has_recipe: bool = False
    said: Status | None = None
    """The state that its text starts with."""
    title: str = ""
    status: Status | None = None
    priority: str | None = None
    risk: str | None = None
    gain: Quantity | None = None
    effort: Quantity | None = None
    taken: bool = False
    reason: str = ""
    joins_groups: bool = False
    parent: Candidate | None = None
    recipe: RecipeLayer | None = None
    id: str = ""

    @property
    def words(self) -> str:
        """Its line, or the cells of its row."""
        return self.text.text if self.form != "row" else " | ".join(c.text.strip() for c in self.lines)[:400]

    @property
    def children(self) -> list[Candidate]:
        """The candidates in its place that were taken as items."""
        return [c for c in self.below if c.taken]

    @property
    def written_id(self) -> str | None:
        """The id that the document itself gives, if it does."""
        if self.mark is not None and self.mark != NOTE:
            return self.mark
        return self.label.id if self.label is not None and self.label.id is not None else self.own_id

    @property
    def kind(self) -> str:
        """The kind of its label, or nothing."""
        return self.label.kind if self.label is not None else ""

    @property
    def is_group(self) -> bool:
        """Whether such items usually hold others, or it stands among such."""
        return self.joins_groups or (self.label is not None and self.label.is_group)

    def has(self, *keys: str) -> bool:
        """Whether it has an attribute with one of these canonical keys."""
        return any(attribute.key in keys for attribute in self.attributes)

    def value(self, key: str) -> str | None:
        """Return its first attribute with this canonical key."""
        return next((a.value for a in self.attributes if a.key == key), None)

    def weight(self) -> int:
        """How much it says beyond its title: a recipe most, then its box, then attributes."""
        own = (self.gain is not None) + (self.effort is not None) + self.has("needs", "risk", "skip_if")
        return own + 4 * self.has_recipe + 2 * (self.box is not None) + sum(c.weight() for c in self.children)

    def walk(self) -> Iterator[Candidate]:
        """Yield all candidates below it, in document order."""
        stack = list(reversed(self.below))
        while stack:
            candidate = stack.pop()
            yield candidate
            stack.extend(reversed(candidate.below))


Block = Paragraph | Listing | Table | Fence | Quote

"""A markdown document as a stream of headings and blocks with line numbers, read by a CommonMark parser.

What is code, comment, heading, list or table is CommonMark's decision (with GitHub's tables, task boxes and
strike-through), so a `#` line in a fence is never a heading. Long documents are read in pieces that begin where
a block of the outermost level begins, so that memory is bounded by the text and not by the parser's tokens.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from optrack.plan.parts import Block, Candidate, Fence, Line, Listing, Paragraph, Quote, Table

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_DEEPEST = 60
"""Levels of lists and quotes that are read (a list is two); what lies deeper is only pointed out."""

_PIECE = 2_000
"""Lines that are read at a time."""

_SPACES = re.compile(r"[ \t\u00a0\u3000]{2,}")
_STYLED = re.compile(r"[\\`*_~<&!\[\]]")
"""Signs without which text is plain; all else that stands between words is words."""

_PLAIN = r"[^\\`*_~<&!\[\]\n]"
_BOLD_START = re.compile(rf"\*\*(\w(?:{_PLAIN}*[\w:])?)\*\*((?:[\s:.,—–-]{_PLAIN}*)?)")
"""A line that is plain but for the bold words at its start: by far the most that have a style."""

_TASK = re.compile(r"\[([ xX✓✔~\-/])\]\s+")
_MARK = re.compile(r"\s?\{(?:#([^\s{}]+)|(\.note))\}\s*$")


@functools.cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable(["table", "strikethrough"])
    return parser.disable(["inline", "text_join"])


@dataclass(slots=True)
class Document:
    """The text of a document, with `\\n` line ends; `first` is the number of its first line.

    `fences` and `unread`, the lines of what is nested too deeply, are those of the parts read so far.
    """

    text: str
    first: int = 1
    fences: list[Fence] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)

    def parts(self) -> Iterator[Candidate | Block]:
        """Yield headings and blocks; what a piece of the text leaves unfinished is read again with the next one."""
        source = self.text.split("\n")
        env: dict[str, object] = {}
        at, size = 0, _PIECE
        head: list[str] = []
        held: Candidate | Block | None = None
        continues = False
        while at < len(source):
            lines = head + source[at : at + size]
            tokens = _markdown().parse("\n".join(lines) + "\n", env)
            piece = _Piece(tokens, len(lines)) if at + size >= len(source) else _cut(tokens, len(head))
            if piece is None:
                size *= 2
                continue
            reader = _Reader(self, lines, self.first + at - len(head), env)
            self.unread += reader.unread(piece.tokens)
            for part in reader.blocks(iter(piece.tokens)):
                if continues and _continued(held, part):
                    continue
                if held is not None:
                    yield held
                held, continues = part, False
            at += piece.end - len(head)
            head = lines[piece.header - 2 : piece.header] if piece.header else []
            size, continues = _PIECE, piece.continues
        if held is not None:
            yield held


def _continued(held: Candidate | Block | None, part: Candidate | Block) -> bool:
    """Put a list or table that was only cut in two by the pieces behind its beginning."""
    match held, part:
        case Listing(), Listing():
            held.entries += part.entries
        case Table(), Table():
            held.rows += part.rows
        case _:
            return False
    return True


@dataclass(slots=True)
class _Piece:
    """Tokens of whole blocks, the line after them, and the end of the table's header that the next piece needs."""

    tokens: list[Token]
    end: int
    header: int = 0
    continues: bool = False


def _cut(tokens: list[Token], head: int) -> _Piece | None:
    """What is certain of a piece: all but its last block, or but the last part of a list or table that fills it."""
    outer = [i for i, t in enumerate(tokens) if t.level == 0 and t.map and t.nesting >= 0]
    if outer and _starts(tokens[outer[-1]]) > head:
        return _Piece(tokens[: outer[-1]], _starts(tokens[outer[-1]]))
    parts = [i for i, t in enumerate(tokens) if (t.type, t.level) in (("list_item_open", 1), ("tr_open", 2))]
    if len(parts) < 3 or _starts(tokens[parts[-1]]) <= head:
        return None
    table = tokens[0].type == "table_open"
    kept = tokens[: parts[-1]] + tokens[-2 if table else -1 :]
    return _Piece(kept, _starts(tokens[parts[-1]]), _starts(tokens[0]) + 2 if table else 0, continues=True)


def _starts(token: Token) -> int:
    return token.map[0] if token.map else 0


@dataclass(slots=True)
class _Reader:
    """Makes blocks of a piece's tokens; `first` is the number of the piece's first line."""

    document: Document
    source: list[str]
    first: int
    env: dict[str, object]

    def unread(self, tokens: list[Token]) -> list[int]:
        """The lines of what is nested too deeply."""
        return [
            self.first + _starts(token)
            for token, following in itertools.pairwise(tokens)
            if token.level >= _DEEPEST - 1 and token.nesting == 1 and following.nesting == -1
        ]

    def blocks(self, tokens: Iterator[Token]) -> Iterator[Candidate | Block]:
        """Yield what stands up to the end of what holds the tokens."""
        for token in tokens:
            if token.nesting < 0:
                return
            line = self.first + _starts(token)
            match token.type:
                case "paragraph_open":
                    yield Paragraph(line, self._inner(tokens, line))
                case "heading_open":
                    text, mark = _marked(Line.joined(self._inner(tokens, line)))
                    yield Candidate("heading", line, text, int(token.tag[1:]), mark=mark)
                case "bullet_list_open" | "ordered_list_open":
                    ordered = token.type == "ordered_list_open"
                    yield Listing(line, ordered, list(self._entries(tokens, ordered)))
                case "table_open":
                    rows = list(self._rows(tokens))
                    yield Table(line, rows[0].lines if rows else (), rows[1:])
                case "blockquote_open":
                    yield Quote(line, [b for b in self.blocks(tokens) if not isinstance(b, Candidate)])
                case "fence":
                    self.document.fences.append(self._fence(token))
                    yield self.document.fences[-1]

    def _inner(self, tokens: Iterator[Token], line: int) -> list[Line]:
        content = next(tokens)
        next(tokens)
        return self._lines(content.content, line)

    def _entries(self, tokens: Iterator[Token], ordered: bool) -> Iterator[Candidate]:
        for token in tokens:
            if token.nesting < 0:
                return
            entry = Candidate("entry", self.first + _starts(token), Line(""))
            entry.number = int(token.info) if ordered and token.info.isdigit() else None
            blocks = [b for b in self.blocks(tokens) if not isinstance(b, Candidate)]
            start = blocks[0] if blocks else None
            if isinstance(start, Paragraph):
                first, *more = start.lines
                blocks = blocks[1:]
                task = _TASK.match(first.text)
                if task is not None:
                    entry.box, first = task[1], first.part(task.end())
                first, entry.mark = _marked(first)
                entry.text = Line.joined([first, *more])
            if blocks:
                entry.blocks = blocks
            yield entry

    def _rows(self, tokens: Iterator[Token]) -> Iterator[Candidate]:
        for token in tokens:
            match token.type:
                case "table_close":
                    return
                case "tr_open":
                    row = Candidate("row", self.first + _starts(token), Line(""))
                    cells: list[Line] = []
                case "th_open" | "td_open":
                    cell, mark = _marked(Line.joined(self._inner(tokens, row.line)))
                    cells.append(cell)
                    row.mark = row.mark or mark
                case "tr_close":
                    row.lines = cells
                    yield row

    def _fence(self, token: Token) -> Fence:
        start, end = token.map or (0, 1)
        last = self.source[end - 1].strip(" \t>") if end - 1 < len(self.source) else ""
        closed = end - 1 > start and len(last) >= len(token.markup) and not last.strip(token.markup[0])
        opening = self.source[start] if start < len(self.source) else ""
        indent = max(opening.find(token.markup), 0)
        return Fence(self.first + start, token.info.strip(), token.content, closed, indent)

    def _lines(self, content: str, line: int) -> list[Line]:
        """The lines of a text; HTML comments and tags are left out, links keep their words."""
        content = _SPACES.sub(" ", content)
        if _STYLED.search(content) is None:
            return [Line(text.strip(), line + at) for at, text in enumerate(content.split("\n"))]
        bold_start = _BOLD_START.fullmatch(content)
        if bold_start is not None:
            lead, rest = bold_start.groups()
            return [Line(lead + rest, line, "b" * len(lead) + " " * len(rest))]
        tokens: list[Token] = []
        _markdown().inline.parse(content, _markdown(), self.env, tokens)
        texts, styles = [""], [""]
        bold = struck = 0
        for token in tokens:
            match token.type:
                case "softbreak" | "hardbreak":
                    texts.append("")
                    styles.append("")
                case "strong_open" | "strong_close":
                    bold += token.nesting
                case "s_open" | "s_close":
                    struck += token.nesting
                case "text" | "text_special" | "code_inline" | "image":
                    sign = ("x" if struck > 0 else "b") if bold > 0 else "s" if struck > 0 else " "
                    if token.type == "code_inline" and sign == " ":
                        sign = "c"
                    texts[-1] += token.content
                    styles[-1] += sign * len(token.content)
        pairs = zip(texts, styles, strict=True)
        return [Line(t, line + at, style if style.strip() else "") for at, (t, style) in enumerate(pairs)]


def _marked(line: Line) -> tuple[Line, str | None]:
    """A line without the `{#id}` or `{.note}` at its end, and that."""
    mark = _MARK.search(line.text, max(len(line.text) - 100, 0)) if "}" in line.text[-100:] else None
    return (line.part(0, mark.start()), mark[1] or mark[2]) if mark is not None else (line, None)

"""A markdown document as a tree of sections and blocks with line numbers, read by a CommonMark parser.

What is code, comment, heading, list or table is CommonMark's decision (with GitHub's tables, task boxes and
strike-through), so a `#` line in a fence is never a heading. Long documents are read in pieces that begin where
a block of the outermost level begins, so that memory is bounded by the text and not by the parser's tokens.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optrack.plan.blocks import (
    Block,
    Entry,
    Fence,
    Inline,
    Listing,
    Paragraph,
    Quote,
    Row,
    Section,
    Span,
    Table,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
    from markdown_it.tree import SyntaxTreeNode

_DEEPEST = 60
"""Levels of lists and quotes that are read (a list is two); what lies deeper is only pointed out."""

_PIECE = 2_000
"""Lines that are read at a time."""

_SPACES = re.compile(r"[ \t\u00a0\u3000]{2,}")
_STYLED = re.compile(r"[\\`*_~<&!\[\]]")
"""Signs without which text is plain; all else that stands between words is words."""

_TASK = re.compile(r"\[([ xX✓✔~\-/])\]\s+")
_MARK = re.compile(r"\s?\{(?:#([^\s{}]+)|(\.note))\}\s*$")


def read_document(text: str, *, first: int = 1) -> Section:
    """Return the document's root section; `text` has `\\n` line ends, `first` is the number of its first line."""
    root = current = Section(level=0, line=first, heading=Inline.of(""))
    for piece in _pieces(text.split("\n"), first):
        root.unread += piece.unread
        current = piece.add_to(current)
    return root


@functools.cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable(["table", "strikethrough"])
    return parser.disable(["inline", "text_join"])


def _pieces(source: list[str], first: int) -> Iterator[_Reader]:
    """Parse the document piece by piece; what a piece leaves unfinished is read again with the next one."""
    env: dict[str, object] = {}
    at, size = 0, _PIECE
    head: list[str] = []
    continues = False
    while at < len(source):
        lines = head + source[at : at + size]
        tokens = _markdown().parse("\n".join(lines) + "\n", env)
        piece = _Piece(tokens, len(lines), 0) if at + size >= len(source) else _cut(tokens, len(head))
        if piece is None:
            size *= 2
            continue
        yield _Reader(lines, first + at - len(head), piece.tokens, env, continues=continues)
        at += piece.end - len(head)
        head = lines[piece.header - 2 : piece.header] if piece.header else []
        continues = piece.continues
        size = _PIECE


@dataclass(slots=True)
class _Piece:
    """Tokens of whole blocks, the line after them, and the end of the table's header that the next piece needs."""

    tokens: list[Token]
    end: int
    header: int
    continues: bool = False


def _cut(tokens: list[Token], head: int) -> _Piece | None:
    """What is certain of a piece: all but its last block, or but the last part of a list or table that fills it."""
    outer = [i for i, t in enumerate(tokens) if t.level == 0 and t.map and t.nesting >= 0]
    if outer and _starts(tokens[outer[-1]]) > head:
        return _Piece(tokens[: outer[-1]], _starts(tokens[outer[-1]]), 0)
    parts = [i for i, t in enumerate(tokens) if (t.type, t.level) in (("list_item_open", 1), ("tr_open", 2))]
    if len(parts) < 3 or _starts(tokens[parts[-1]]) <= head:
        return None
    table = tokens[0].type == "table_open"
    kept = tokens[: parts[-1]] + tokens[-2 if table else -1 :]
    return _Piece(kept, _starts(tokens[parts[-1]]), _starts(tokens[0]) + 2 if table else 0, continues=True)


def _starts(token: Token) -> int:
    return token.map[0] if token.map else 0


class _Reader:
    """Makes blocks of a piece's nodes; `first` is the number of the piece's first line."""

    def __init__(
        self, source: list[str], first: int, tokens: list[Token], env: dict[str, object], *, continues: bool
    ) -> None:
        self._tokens = tokens
        self._env = env
        self._continues = continues
        self._source = source
        self._first = first
        self.unread = [
            self._line(token.map)
            for token, following in itertools.pairwise(tokens)
            if token.level >= _DEEPEST - 1 and token.nesting == 1 and following.nesting == -1
        ]

    def add_to(self, current: Section) -> Section:
        """Put the piece's blocks and headings behind the section that is open; return the one open after it."""
        from markdown_it.tree import SyntaxTreeNode

        tree = SyntaxTreeNode(self._tokens)
        nodes, tree.children = tree.children, []
        for node in nodes:
            if node.type != "heading":
                self._add(current.blocks, node)
                _untie(node)
                continue
            heading, mark = _marked(Inline.joined(self._lines(node)))
            section = Section(int(node.tag[1:]), self._line(node.map), heading, mark=mark)
            while current.level >= section.level and current.parent is not None:
                current.end = section.line - 1
                current = current.parent
            section.parent = current
            current.sections.append(section)
            current = section
        return current

    def _add(self, blocks: list[Block], node: SyntaxTreeNode) -> None:
        """Append what the node is; a list or table that was only cut in two by the pieces goes on."""
        block = self._block(node)
        before = blocks[-1] if blocks and self._continues else None
        self._continues = False
        match block, before:
            case Listing(), Listing():
                before.entries += block.entries
            case Table(), Table():
                before.rows += block.rows
            case _ if block is not None:
                blocks.append(block)

    def _block(self, node: SyntaxTreeNode) -> Block | None:
        line = self._line(node.map)
        match node.type:
            case "paragraph":
                return Paragraph(line, self._lines(node))
            case "bullet_list" | "ordered_list":
                ordered = node.type == "ordered_list"
                return Listing(line, ordered, [self._entry(item, ordered) for item in node.children])
            case "table":
                return self._table(node)
            case "blockquote":
                return Quote(line, self._blocks(node))
            case "fence":
                return self._fence(node)
        return None

    def _blocks(self, node: SyntaxTreeNode) -> list[Block]:
        return [block for child in node.children if (block := self._block(child)) is not None]

    def _entry(self, node: SyntaxTreeNode, ordered: bool) -> Entry:
        number = int(node.info) if ordered and node.info.isdigit() else None
        blocks = self._blocks(node)
        lines: list[Inline] = []
        mark = box = None
        if blocks and isinstance(blocks[0], Paragraph):
            lines, blocks = blocks[0].lines, blocks[1:]
            task = _TASK.match(lines[0].text)
            if task is not None:
                box = task[1]
                lines = [lines[0].after(task.end()), *lines[1:]]
            bare, mark = _marked(lines[0])
            lines = [bare, *lines[1:]]
        return Entry(self._line(node.map), number, box, lines, blocks, mark)

    def _table(self, node: SyntaxTreeNode) -> Table:
        rows = [self._row(row) for part in node.children for row in part.children]
        return Table(self._line(node.map), rows[0].cells if rows else [], rows[1:])

    def _row(self, node: SyntaxTreeNode) -> Row:
        line = self._line(node.map)
        cells = [_marked(Inline.joined(self._lines(cell, line))) for cell in node.children]
        mark = next((mark for _, mark in cells if mark is not None), None)
        return Row(line, [cell for cell, _ in cells], mark)

    def _fence(self, node: SyntaxTreeNode) -> Fence:
        start, end = node.map or (0, 1)
        last = self._source[end - 1].strip(" \t>") if end - 1 < len(self._source) else ""
        closed = end - 1 > start and len(last) >= len(node.markup) and not last.strip(node.markup[0])
        opening = self._source[start] if start < len(self._source) else ""
        indent = max(opening.find(node.markup), 0)
        return Fence(self._line(node.map), node.info.strip(), node.content, closed, indent)

    def _lines(self, node: SyntaxTreeNode, line: int | None = None) -> list[Inline]:
        """The lines of a node's text; HTML comments and tags are left out, links keep their words."""
        line = self._line(node.map) if line is None else line
        content = _SPACES.sub(" ", node.children[0].content) if node.children else ""
        if _STYLED.search(content) is None:
            return [Inline.of(text.strip(), line + at) for at, text in enumerate(content.split("\n"))]
        lines: list[list[Span]] = [[]]
        bold = struck = 0
        tokens: list[Token] = []
        _markdown().inline.parse(content, _markdown(), self._env, tokens)
        for token in tokens:
            match token.type:
                case "softbreak" | "hardbreak":
                    lines.append([])
                case "strong_open" | "strong_close":
                    bold += token.nesting
                case "s_open" | "s_close":
                    struck += token.nesting
                case "text" | "text_special" | "code_inline" | "image" if token.content:
                    is_code = token.type == "code_inline"
                    lines[-1].append(Span(token.content, bold > 0, struck > 0, is_code))
        return [
            Inline("".join(span.text for span in spans), tuple(spans), line + at)
            for at, spans in enumerate(lines)
        ]

    def _line(self, lines: tuple[int, int] | list[int] | None) -> int:
        return (lines[0] if lines else 0) + self._first


def _untie(node: SyntaxTreeNode) -> None:
    """Take a tree of nodes apart, whose circles would else stay in memory until they are looked for."""
    stack = [node]
    while stack:
        node = stack.pop()
        stack.extend(node.children)
        node.children = []


def _marked(line: Inline) -> tuple[Inline, str | None]:
    """A line without the `{#id}` or `{.note}` at its end, and that."""
    mark = _MARK.search(line.text, max(len(line.text) - 100, 0))
    return (line.cut(mark.start()), mark[1] or mark[2]) if mark is not None else (line, None)

"""A line of markdown text as plain words, with which of them are bold, struck through or code."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode


_SPACES = re.compile(r"[ \t\u00a0\u3000]{2,}")
_STYLED = re.compile(r"[\\`*_~<&!\[\]]")
"""Signs without which text is plain; all else that stands between words is words."""


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


def lines_of(node: SyntaxTreeNode, line: int, parse: Callable[[str], list[SyntaxTreeNode]]) -> list[Inline]:
    """Return the lines of an inline node; HTML comments and tags are left out, links keep their words.

    `parse` reads text that has signs of markdown in it to nodes.
    """
    content = _SPACES.sub(" ", node.content)
    if _STYLED.search(content) is None:
        return [Inline.of(text.strip(), line + at) for at, text in enumerate(content.split("\n"))]
    lines: list[Inline] = []
    spans: list[Span] = []
    stack = [(child, False, False) for child in reversed(parse(content))]
    while stack:
        child, bold, struck = stack.pop()
        match child.type:
            case "softbreak" | "hardbreak":
                lines.append(_line(spans, line + len(lines)))
                spans = []
            case "text" | "text_special" | "code_inline" | "image":
                if child.content:
                    spans.append(Span(child.content, bold, struck, child.type == "code_inline"))
            case kind:
                bold, struck = bold or kind == "strong", struck or kind == "s"
                stack.extend((inner, bold, struck) for inner in reversed(child.children))
                child.children = []
    lines.append(_line(spans, line + len(lines)))
    return lines


def _line(spans: list[Span], number: int) -> Inline:
    return Inline("".join(span.text for span in spans), tuple(spans), number)

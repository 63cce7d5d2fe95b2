"""Turning a document into a plan: the page that an agent works from, and holding its result against the source."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib.resources import files

from optrack.model.plan import Plan, Problem

_WORD = re.compile(r"\w+")
_ENOUGH = 0.6
"""Share of a title's words that a line must have to tell of the same."""


def conversion_page(plan: Plan, keys: list[str]) -> str:
    """Return the page: the language, the document with line numbers, what is read of it today and what isn't."""
    lines = plan.text.split("\n")
    width = len(str(len(lines)))
    numbered = [f"{number:{width}}  {line}".rstrip() for number, line in enumerate(lines, 1)]
    taken = [
        f"- line {i.line}: {'  ' if i.parent else ''}`{i.id}` {i.title} ({i.status})" for i in plan.items
    ]
    left = [f"- line {left.line}: {left.kind} `{left.text}`: {left.reason}" for left in plan.left_out]
    page = files(__package__).joinpath("language.md").read_text(encoding="utf-8")
    return "\n".join(
        [
            page.format(path=plan.path, keys=", ".join(f"`{key}`" for key in keys)),
            f"## What is read of it today: {len(plan.items)} items\n",
            *(taken or ["Nothing."]),
            f"\n## What isn't: {len(plan.left_out)} headings, entries and rows\n",
            *(left or ["Nothing."]),
            f"\n## The document, {plan.path}, with the number of each line\n",
            *numbered,
        ]
    )


def source_problems(plan: Plan, source: Plan) -> tuple[Problem, ...]:
    """Return warnings for items of a plan that no line of its source tells of, and for items and labelled lines of
    the source that became no item."""
    wanted = [(item.line, item.title) for item in source.items]
    wanted += [(left.line, left.text) for left in source.left_out if left.labelled]
    return (*_invented(plan, source), *_lost(plan, source, sorted(wanted)))


def _invented(plan: Plan, source: Plan) -> Iterator[Problem]:
    lines = _Lines(source.text.split("\n"))
    for item in plan.items:
        if item.id != plan.baseline and not lines.tell(item.title):
            yield Problem(
                severity="warning",
                message=f"no line of {source.path} tells of `{item.id}` ({item.title})",
                line=item.line,
                hint="keep the words of the source, or leave the item out",
            )


def _lost(plan: Plan, source: Plan, wanted: list[tuple[int, str]]) -> Iterator[Problem]:
    titles = _Lines([item.title for item in plan.items])
    for line, text in wanted:
        if not titles.tell(text) and not titles.are_told_by(text):
            yield Problem(
                severity="warning",
                message=f"line {line} of {source.path} became no item: `{text}`",
                line=1,
                hint="add it, or mark that line {.note} in the source",
            )


class _Lines:
    """Lines of text, found again by their words."""

    def __init__(self, lines: list[str]) -> None:
        self._counts = [len(set(_words(line))) for line in lines]
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        for at, line in enumerate(lines):
            for word in set(_words(line)):
                self._places[word].append(at)

    def tell(self, title: str) -> bool:
        """Whether one line has most of the title's words."""
        words = set(_words(title))
        return not words or max(self._shared(words).values(), default=0) >= _ENOUGH * len(words)

    def are_told_by(self, text: str) -> bool:
        """Whether the text has all the words of one of the lines, and these are much of it."""
        words = set(_words(text))
        much = min(3, len(words) / 2 + 0.5)
        return any(count == self._counts[at] and count >= much for at, count in self._shared(words).items())

    def _shared(self, words: set[str]) -> Counter[int]:
        counts: Counter[int] = Counter()
        for word in words:
            places = self._places.get(word, [])
            counts.update(places[:1000])
        return counts


def _words(text: str) -> list[str]:
    return [
        piece for word in _WORD.findall(text.casefold()) for piece in (word if _is_unspaced(word) else [word])
    ]


def _is_unspaced(word: str) -> bool:
    return any("\u3040" <= character <= "\u9fff" for character in word)

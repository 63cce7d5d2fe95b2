"""Answers as the text of a file, and back: lines that stood before are named instead of said again."""

from __future__ import annotations

from collections.abc import Sequence

MARK = "══ "
_AGAIN = "⇑ "
_LEAST = 3
_TRIED = 12


def written(answers: dict[str, str]) -> str:
    """Return a reference file: `══ QUESTION`, then its answer's lines.

    `⇑ N M D` stands for M lines that begin at line N of the text as it was before packing, counted from 0, moved
    to the right by D.
    """
    lines: list[str] = []
    for question, text in answers.items():
        lines += [MARK + question.replace("\n", "\\n"), *text.split("\n")]
    return "\n".join(_packed(lines)) + "\n"


def read(text: str) -> dict[str, str]:
    """Return the answers in a reference file."""
    lines: list[str] = []
    for line in text.removesuffix("\n").split("\n"):
        if line.startswith(_AGAIN):
            start, count, right = map(int, line.split()[1:])
            lines += [_moved(earlier, right) for earlier in lines[start : start + count]]
        else:
            lines.append(line)
    parts = ("\n" + "\n".join(lines)).split("\n" + MARK)[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


def _packed(lines: Sequence[str]) -> list[str]:
    places: dict[tuple[str, ...], list[int]] = {}
    packed = []
    at = indexed = 0
    while at < len(lines):
        while indexed + _LEAST <= at:
            places.setdefault(_key(lines, indexed), []).append(indexed)
            indexed += 1
        start, count = _longest(lines, at, places.get(_key(lines, at), [])[-_TRIED:])
        if count >= _LEAST:
            packed.append(f"{_AGAIN}{start} {count} {_right(lines, at, start)}")
        else:
            packed.append(lines[at])
            count = 1
        at += count
    return packed


def _key(lines: Sequence[str], at: int) -> tuple[str, ...]:
    return tuple(line.lstrip(" ") for line in lines[at : at + _LEAST])


def _longest(lines: Sequence[str], at: int, starts: Sequence[int]) -> tuple[int, int]:
    """Return where the longest equal stretch begins that ended before here, and its length."""
    best = (0, 0)
    for start in starts:
        right, count = _right(lines, at, start), 0
        while (
            at + count < len(lines)
            and start + count < at
            and lines[at + count] == _moved(lines[start + count], right)
            and not lines[at + count].startswith(MARK)
        ):
            count += 1
        best = max(best, (start, count), key=lambda found: found[1])
    return best


def _right(lines: Sequence[str], at: int, start: int) -> int:
    return _indent(lines[at]) - _indent(lines[start])


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _moved(line: str, right: int) -> str:
    """Return the line with so many more spaces before it, or fewer; an empty line stays empty."""
    return " " * max(_indent(line) + right, 0) + line.lstrip(" ") if line else line

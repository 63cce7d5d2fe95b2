"""Markdown that says exactly what outside text says: escaped prose, code that nothing ends early, tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!$&])")
_INTRA_WORD = re.compile(r"(?<=[A-Za-z0-9])\\_(?=[A-Za-z0-9])")
_LIST_START = re.compile(r"^([-+=:])")
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?=\s|$)")
_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-_])")
COMMENT = "<!-- optrack:"
"""How the markers of a section begin (`section.py`); no outside text may look like one."""


def plain(text: str) -> str:
    """Return text on one line without escape sequences and characters that can't be seen."""
    return " ".join("".join(c if c.isprintable() else " " for c in _ANSI.sub("", text)).split())


def prose(text: str) -> str:
    """Return text on one line, with everything escaped that markdown or HTML would read as markup."""
    escaped = cell(text)
    if _NUMBERED.match(escaped):
        return _NUMBERED.sub(r"\1\\\2", escaped, count=1)
    return _LIST_START.sub(r"\\\1", escaped)


def cell(text: str) -> str:
    """Return text as prose for a place where no list, heading or rule can begin: a cell, or after a word."""
    return _INTRA_WORD.sub("_", _SPECIAL.sub(r"\\\1", plain(text)))


def lines(text: str) -> str:
    """Return text as escaped prose that keeps its line breaks."""
    kept = [prose(line) for line in _ANSI.sub("", text).splitlines() if line.strip()]
    return "\\\n".join(kept)


def quoted(text: str) -> str:
    """Return markdown as a block quote."""
    return "\n".join(f"> {line}" for line in text.split("\n"))


def code(text: str) -> str:
    """Return text as a code span on one line, whatever backquotes it holds; not for tables."""
    flat = plain(text) or " "
    longest = max((len(run) for run in re.findall(r"`+", flat)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}"


def cell_code(text: str) -> str:
    """Return text as a code span that can stand in a table; a bar after a backslash only prose can say there."""
    flat = plain(text)
    return prose(flat) if "\\|" in flat or flat.endswith("\\") else code(flat).replace("|", "\\|")


def fenced(text: str, language: str = "text") -> str:
    """Return lines as a fenced block that no line within can close, without escape sequences."""
    kept = _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    clean = "".join(c for c in kept if c.isprintable() or c in "\n\t").replace(COMMENT, "<!-- optrack :")
    longest = max((len(run) for run in re.findall(r"`{3,}", clean)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}{language}\n{clean}\n{ticks}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> str:
    """Return a table; the cells must be escaped already. Columns in `right` are aligned to the right."""
    marks = ["---:" if column in right else "---" for column in range(len(heads))]
    drawn = ["| " + " | ".join(heads) + " |", "|" + "|".join(marks) + "|"]
    return "\n".join([*drawn, *("| " + " | ".join(cell or " " for cell in row) + " |" for row in rows)])


def folded(summary: str, body: str) -> str:
    """Return a body that GitHub shows folded under its summary, which must be escaped already."""
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"

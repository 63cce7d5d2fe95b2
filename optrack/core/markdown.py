"""Markdown that says exactly what outside text says: escaped prose, code that nothing ends early, tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!$&])")
_LIST_START = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s)")


def prose(text: str) -> str:
    """Return text on one line, with everything escaped that markdown or HTML would read as markup."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return _LIST_START.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", flat))


def code(text: str) -> str:
    """Return text as a code span on one line; usable in tables, whatever backquotes and pipes it holds."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split()) or " "
    longest = max((len(run) for run in re.findall(r"`+", flat)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{ticks}{pad}{flat}{pad}{ticks}".replace("|", "\\|")


def fenced(text: str, language: str = "text") -> str:
    """Return lines as a fenced block that no line within can close; control characters are dropped."""
    clean = "".join(c for c in text if c.isprintable() or c in "\n\t")
    longest = max((len(run) for run in re.findall(r"`{3,}", clean)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}{language}\n{clean}\n{ticks}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; the cells must be escaped already."""
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])

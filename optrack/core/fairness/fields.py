"""The table of captured fields: which of them a fair comparison needs equal, which may move, which only
inform.

A pattern is a dotted path; `*` stands for one step and `**` for the rest. The first pattern that matches
decides. A captured field that no pattern declares is a mistake of the capture, and a test finds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from optrack.core.fairness.field_table import FIELDS, Field


def _compiled(pattern: str) -> re.Pattern[str]:
    steps = re.escape(pattern).replace(r"\*\*", ".*").replace(r"\*", r"[^\0]*")
    return re.compile(steps.replace(r"\.", "\0"), re.DOTALL)


_PATTERNS = tuple((_compiled(field.pattern), field) for field in FIELDS)


@lru_cache(maxsize=16384)
def field_of(path: tuple[str, ...]) -> Field | None:
    """Return the declaration of the field at this path, or None if nobody declared it."""
    text = "\0".join(path)
    return next((field for pattern, field in _PATTERNS if pattern.fullmatch(text)), None)


def leaves(
    data: Mapping[str, Any] | None, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every leaf of a part with its path; lists are leaves, empty mappings have none."""
    for key, value in (data or {}).items():
        here = (*path, str(key))
        if isinstance(value, Mapping):
            yield from leaves(value, here)
        else:
            yield here, value


def dotted(path: tuple[str, ...]) -> str:
    """Return a path as people and `accept` write it."""
    return ".".join(path)


def undeclared(snapshot: Mapping[str, Any]) -> list[str]:
    """Return the fields of a snapshot (as plain data by part) that no pattern declares."""
    captured = {part: content for part, content in snapshot.items() if content is not None}
    return [dotted(path) for path, _ in leaves(captured) if field_of(path) is None]

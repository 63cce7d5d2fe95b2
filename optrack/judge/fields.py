"""The table of captured fields read: what a field is to a comparison, and what a difference in it means."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from optrack.judge.field_table import FIELDS, Field


def _compiled(pattern: str) -> re.Pattern[str]:
    steps = re.escape(pattern).replace(r"\*\*", ".*").replace(r"\*", r"[^\0]*")
    return re.compile(steps.replace(r"\.", "\0"), re.DOTALL)


_PATTERNS = tuple((_compiled(field.pattern), field) for field in FIELDS)


@lru_cache(maxsize=16384)
def field_of(path: tuple[str, ...]) -> Field | None:
    """Return the declaration of the field at this path, or None if nobody declared it."""
    text = "\0".join(path[1:] if path[0] == "bench" else path)
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


_LONG = 80


def sentence(field: Field, path: tuple[str, ...], baseline: Any, candidate: Any) -> str:
    """Return the difference of one field as a sentence: what was what on either side."""
    label = field.label or dotted(path)
    if path[0] == "env":
        return _variable(path, label.format(**_names(path)), baseline, candidate)
    label = label.format(**_names(path)).rstrip(",")
    if field.pattern.endswith("edited_in_run"):
        return _edited(path, baseline, candidate)
    name, before, after = _capital(label), _shown(baseline), _shown(candidate)
    if field.pattern.endswith("edited.*"):
        return f"{name} was edited, added or removed: it is not the same in the two runs."
    if len(before) + len(after) > 2 * _LONG:
        return f"{name} differs between baseline and candidate."
    if candidate is None:
        return f"{name} was {before} in the baseline's run and is absent in the candidate's."
    if baseline is None:
        return f"{name} is {after} in the candidate's run and was absent in the baseline's."
    return f"{name} was {before} in the baseline's run and is {after} in the candidate's."


def _variable(path: tuple[str, ...], label: str, baseline: Any, candidate: Any) -> str:
    where = "processes" if path[1] == "server" else "environment"
    before = f"was {_shown(baseline)}" if baseline is not None else "was not set"
    after = f"is {_shown(candidate)}" if candidate is not None else "is not set"
    return f"{label} {before} in the baseline's {where} and {after} in the candidate's."


def _edited(path: tuple[str, ...], baseline: Any, candidate: Any) -> str:
    whose = " and the ".join(
        n for n, files in (("baseline's", baseline), ("candidate's", candidate)) if files
    )
    files = ", ".join(sorted({str(file) for files in (baseline, candidate) for file in files or ()})[:5])
    return f"Code was edited in the {path[1]} repository while the {whose} run was measured: {files}."


def _names(path: tuple[str, ...]) -> Mapping[str, str]:
    """Return the steps of a path that labels may name."""
    return {
        "name": path[1] if len(path) > 1 else "",
        "leaf": path[-1] if path[-1:] != ("sha256",) else path[-2],
        "owner": path[-2] if len(path) > 1 else "",
        "device": path[3] if len(path) > 3 else "",
        "gpu": path[2] if len(path) > 2 else "",
    }


def _shown(value: Any) -> str:
    if value is None:
        return "not set"
    if value == "":
        return "empty"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, (list, tuple)):
        return " or ".join(map(_shown, value)) if value else "none"
    return str(value).replace("\n", "\\n")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

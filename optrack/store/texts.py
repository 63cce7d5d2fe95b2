"""Plain data as a tree of texts, and times as text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from optrack.model.value import canonical

_APART = "$content"
_LARGE_CHARS = 400


def split(data: Any, put: Callable[[str], str]) -> str:
    """Return the canonical text of `data` with each large value inside it replaced by a reference.

    `put` stores a text and returns its digest. Equal data gives equal texts; a change gives new texts only
    for the values that hold it.
    """
    return canonical(_split(data, put))


def _split(data: Any, put: Callable[[str], str]) -> Any:
    if isinstance(data, Mapping):
        return {_escaped(key): _apart(value, put) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_apart(value, put) for value in data]
    return data


def _apart(value: Any, put: Callable[[str], str]) -> Any:
    """Return the value with its own large values taken apart, or a reference to it if it is still large."""
    if not isinstance(value, (str, Mapping, list, tuple)) or not value:
        return value
    if isinstance(value, str) and len(value) <= _LARGE_CHARS // 12:
        return value
    inner = _split(value, put)
    text = canonical(inner)
    return {_APART: put(text)} if len(text) > _LARGE_CHARS else inner


def join(text: str, get: Callable[[str], str]) -> Any:
    """Return the data that `split` made the text of; `get` returns a stored text by its digest."""
    return _join(json.loads(text), get)


def _join(data: Any, get: Callable[[str], str]) -> Any:
    if isinstance(data, list):
        return [_join(value, get) for value in data]
    if isinstance(data, dict):
        if data.keys() == {_APART}:
            return join(get(data[_APART]), get)
        return {_plain(key): _join(value, get) for key, value in data.items()}
    return data


def _escaped(key: object) -> str:
    text = str(key)
    return f"${text}" if text.startswith("$") else text


def _plain(key: str) -> str:
    return key[1:] if key.startswith("$$") else key


def as_text(at: datetime) -> str:
    """Return the time as `2026-11-29T18:45:12.000000Z`; one without a zone is taken as UTC."""
    moment = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond:06d}Z"


def from_text(text: str) -> datetime:
    """Return the time that `as_text` wrote, with its zone."""
    return datetime.fromisoformat(text)

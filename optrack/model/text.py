"""Words for messages: the nearest known spelling, lists of words, and a value cut to a line."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from typing import Any


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known spelling nearest to `word`, or None if none is near."""
    folded = {name.casefold().replace("-", "_"): name for name in known}
    near = difflib.get_close_matches(word.casefold().replace("-", "_"), list(folded), n=1, cutoff=0.55)
    return folded[near[0]] if near else None


def listed(words: Collection[str]) -> str:
    """Return words in code signs, with commas."""
    return ", ".join(f"`{word}`" for word in words)


def shown(value: Any) -> str:
    """Return a value for a message, cut to a line."""
    if isinstance(value, Mapping):
        return "a map"
    if isinstance(value, list | tuple):
        return "a list"
    text = str(value).encode("utf-8", "backslashreplace").decode("utf-8")
    return f"`{text[:40]}…`" if len(text) > 40 else f"`{text}`"

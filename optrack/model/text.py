"""Words for messages: the nearest spelling, lists of words, a value cut to a line; and ASCII where there is no more."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any


def nearest(word: str, known: Iterable[str], cutoff: float = 0.55) -> str | None:
    """Return the known spelling nearest to `word`, or None if none is near; case, `-` and `_` are alike."""
    near = all_near(word, known, count=1, cutoff=cutoff)
    return near[0] if near else None


def all_near(word: str, known: Iterable[str], *, count: int = 3, cutoff: float = 0.55) -> list[str]:
    """Return up to `count` known spellings near to `word`, the nearest first."""
    folded = {name.casefold().replace("-", "_"): name for name in known}
    close = difflib.get_close_matches(word.casefold().replace("-", "_"), list(folded), n=count, cutoff=cutoff)
    return [folded[name] for name in close]


def did_you_mean(word: str, known: Sequence[str], what: str) -> str:
    """Return a hint that names what `word` was probably meant to be, or which `what` there are."""
    near = nearest(word, known, cutoff=0.5)
    if near is not None:
        return f"did you mean {near!r}?"
    several = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
    return f"{what}: {several}" if known else f"there are no {what} yet"


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


NEAREST = {
    **dict(zip("▁▂▃▄▅▆▇█", "_.-=+*%@", strict=True)),
    **dict.fromkeys("─╌╍╴╶╸╺▔▀—–‐‑‒―−", "-"),
    **dict.fromkeys("│┃▌▐▏▎▍▋▊▉╎╏║", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯┏┓┗┛┣┫┳┻╋╔╗╚╝", "+"),
    **dict.fromkeys("•●○◉⏺", "o"),
    **dict.fromkeys("∙·", "."),
    **dict.fromkeys("“”„", '"'),
    **dict.fromkeys("‘’", "'"),
    **dict.fromkeys("▶▸►›→⏵", ">"),
    **dict.fromkeys("◀◂◄‹←", "<"),
    **dict.fromkeys("▼▾↓", "v"),
    **dict.fromkeys("▲▴↑", "^"),
    **dict.fromkeys("✓✔", "*"),
    **dict.fromkeys("✗✘×", "x"),
    "━": "=",
    "…": "~",
    "⏎": "<",
    "⭘": "o",
    "µ": "u",
    "≈": "~",
    "≤": "<",
    "≥": ">",
    "░": ".",
    "▒": ":",
    "▓": "#",
}
"""One ASCII character for each that is drawn in one cell."""

_SPELT = {
    "ß": "ss",
    "æ": "ae",
    "Æ": "AE",
    "ø": "o",
    "Ø": "O",
    "œ": "oe",
    "µ": "u",
    "±": "+-",
    "≤": "<=",
    "≥": ">=",
    "→": "->",
    "←": "<-",
    "…": "...",
    "·": ".",
    "⚠": "!",
    "\u00a0": " ",
}


def without_accents(char: str) -> str:
    """Return the printable ASCII characters that `char` is made of, empty if there are none."""
    return "".join(c for c in unicodedata.normalize("NFKD", char) if c.isascii() and c.isprintable())


def in_words(char: str) -> str:
    """Return ASCII text for a character in running text, however wide; `?` where nothing is like it."""
    return _SPELT.get(char) or NEAREST.get(char) or without_accents(char) or "?"

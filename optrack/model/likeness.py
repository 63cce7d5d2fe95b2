"""What stands for a character where it can't be written: the nearest one that ASCII has."""

from __future__ import annotations

import unicodedata

NEAREST = {
    **dict(zip("▁▂▃▄▅▆▇█", "_.-=+*%@", strict=True)),
    **dict.fromkeys("─╌╍╴╶╸╺▔▀—–‐‑‒―−", "-"),
    **dict.fromkeys("│┃▌▐▏▎▍▋▊▉╎╏║", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯┏┓┗┛┣┫┳┻╋╔╗╚╝", "+"),
    **dict.fromkeys("•●○◉∙·⏺", "o"),
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

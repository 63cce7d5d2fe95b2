"""The known spelling that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence


def nearest(word: str, known: Sequence[str], cutoff: float = 0.55) -> str | None:
    """Return the known spelling nearest to `word`, or None if none is near; case, `-` and `_` are alike."""
    found = all_near(word, known, count=1, cutoff=cutoff)
    return found[0] if found else None


def all_near(word: str, known: Sequence[str], *, count: int = 3, cutoff: float = 0.55) -> list[str]:
    """Return up to `count` known spellings near to `word`, the nearest first."""
    folded = {name.casefold().replace("-", "_"): name for name in known}
    close = difflib.get_close_matches(word.casefold().replace("-", "_"), list(folded), n=count, cutoff=cutoff)
    return [folded[name] for name in close]


def did_you_mean(word: str, known: Sequence[str], what: str) -> str:
    """Return a hint that names what `word` was probably meant to be, or which `what` there are."""
    near = nearest(word, known, cutoff=0.5)
    if near is not None:
        return f"did you mean {near!r}?"
    shown = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
    return f"{what}: {shown}" if known else f"there are no {what} yet"

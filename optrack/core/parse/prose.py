"""Gains and efforts said in prose: `estimated 5-10ms savings, 30 minutes effort`."""

from __future__ import annotations

import re

from optrack.core.plan import Quantity
from optrack.core.quantity import TIME_UNITS, is_quantity, quantity

_EFFORT_WORDS = re.compile(r"\b(?:effort|work|to implement|of coding|implementation|lines?)\b", re.IGNORECASE)
_GAIN_WORDS = re.compile(
    r"\b(?:savings?|saved|saves?|gains?|faster|speed-?ups?|reduction|less|fewer|improvement|lower"
    r"|higher throughput|boost"
    r"|head start|throughput|estimated|expected)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:tested|measured|prior|previous(?:ly)?|currently|was|were|earlier|before|today)\b",
    re.IGNORECASE,
)
_LOSS = re.compile(
    r"\b(?:slower|worse|regression|overhead|langsamer|plus lent|más lento|mais lento)\b", re.IGNORECASE
)
_EFFORT_PHRASE = re.compile(
    r"\b(?:very )?(?:low|medium|moderate|high|small|minimal|trivial) effort(?:\s*\([^)]*\))?", re.IGNORECASE
)


def inline_amounts(text: str) -> tuple[Quantity | None, Quantity | None]:
    """Return gain and effort said in prose (`estimated 5-10ms savings, 30 minutes effort`).

    Sentences that tell of earlier measurements don't count.
    """
    gain = effort = None
    for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z0-9~+])", text[:2000]):
        phrase = _EFFORT_PHRASE.search(sentence)
        if phrase is not None and effort is None:
            effort = quantity(phrase[0])
        if _PAST.search(sentence):
            continue
        for part in re.split(r"[,;]\s+| \| | · ", sentence):
            if _LOSS.search(part):
                continue
            amount = quantity(re.sub(r"[()]", " ", part) if not gain and not effort else part)
            if not amount.unit or (amount.low is None and amount.high is None):
                if (
                    amount.unit
                    and gain is None
                    and re.search(r"\bimprov|\breduc|\bincreas", part, re.IGNORECASE)
                ):
                    gain = amount
                continue
            alone = len(part.split()) <= 3 and is_quantity(part)
            if (
                effort is None
                and amount.unit in (*TIME_UNITS[4:], "lines")
                and (alone or _EFFORT_WORDS.search(part))
            ):
                effort = amount
            elif gain is None and amount.unit not in TIME_UNITS[6:] and (alone or _near_gain_word(part)):
                gain = amount
    return gain, effort


def _near_gain_word(part: str) -> bool:
    found = _GAIN_WORDS.search(part)
    number = re.search(r"\d", part)
    return found is not None and number is not None and abs(found.start() - number.start()) < 36

"""Amounts as people write them (`5-10 ms`, `~2x`, `Hours`): read to bounds and a unit, or left as text."""

from __future__ import annotations

import re

from optrack.model.plan import Quantity
from optrack.plan.vocabulary import CJK, alternatives, named

_UNITS = named("units")
TIME_UNITS = ("ns", "us", "ms", "seconds", "minutes", "hours", "days", "weeks", "months")
EFFORT_UNITS = (*TIME_UNITS[3:], "lines", "files", "points", "sessions")
_FIELDS = set(Quantity.model_fields)
"""One set for all amounts, since a long plan has many."""

_NUMBERS = {
    word: float(number)
    for number, word in enumerate("one two three four five six seven eight nine ten".split(), 1)
}
_NUMBERS |= {"a": 1, "an": 1, "twelve": 12, "twenty": 20, "half": 0.5, "half a": 0.5, "half an": 0.5}

_NUMBER = r"(?:\d{1,4},\d{1,2}(?!\d)|(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,15})?)"
_UNIT = "|".join(re.escape(s) for s in sorted(_UNITS, key=len, reverse=True))
_AT_MOST = alternatives("prose", "at_most")
_AT_LEAST = alternatives("prose", "at_least")
_LETTER = rf"[^\W{CJK}\uac00-\ud7af]"
"""A letter or digit of a spaced script: one that touches a number makes it a name (`fp8`, `H100`)."""

_AMOUNT = re.compile(
    rf"""(?<![.,=#/\-–—−])(?<!{_LETTER})(?P<bound>(?:{_AT_MOST}|{_AT_LEAST})\s*)?
    (?P<sign>[~≈≤≥<>+\-−±∼]{{0,3}})\s?(?P<low>{_NUMBER})
    (?:(?P<first>\s?(?:{_UNIT}))?\s?(?:-|–|—|−|\bto\b|\bbis\b|\ba\b|\bà\b|~|～|〜|至|到|\.\.)\s?[~≈]?(?P<high>{_NUMBER}))?
    (?P<gap>[\s\-]?)(?P<unit>{_UNIT})(?!{_LETTER}|[/^]|\-?\d)(?P<more>\+)?""",
    re.IGNORECASE | re.VERBOSE,
)
_BARE = re.compile(
    rf"\s*(?P<sign>[~≈≤≥<>+\-−]{{0,2}})\s*(?P<low>{_NUMBER})(?:\s*(?:-|–|—|\bto\b)\s*(?P<high>{_NUMBER}))?(?P<more>\+)?\s*",
    re.IGNORECASE,
)
_SPELLED = re.compile(
    rf"\b(?P<number>{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})[\s\-]"
    r"(?P<unit>lines?|minutes?|hours?|days?|weeks?|months?|seconds?|files)\b",
    re.IGNORECASE,
)
_SIGNED_COUNT = re.compile(
    rf"(?<![\w.])\+(?P<low>{_NUMBER})(?:\s?[-–]\s?(?P<high>{_NUMBER}))?\s(?P<unit>[a-z]+)\b", re.IGNORECASE
)
_COUNT = re.compile(
    rf"^(?:eliminates?|removes?|saves?|avoids?|cuts?)\s~?(?P<low>{_NUMBER})(?:\s?[-–]\s?(?P<high>{_NUMBER}))?\s"
    r"(?:[a-z]+\s){0,2}?(?P<unit>[a-z]+s)(?:\s(?:per|/|a)\s(?P<per>[a-z]+))?\b",
    re.IGNORECASE,
)
_SPAN_WORD = re.compile(r"\b(minutes|hours|days|weeks|months)\b", re.IGNORECASE)
_STARTS_WITH_SPAN = re.compile(
    r"\s*~?(?:a few |several |some |couple of |a couple of )?(minutes|hours|days|weeks|months)\b",
    re.IGNORECASE,
)
_NOTHING = re.compile(r"\s*(?:none|no\b|n/?a\b|unknown|negligible|tbd|[-–—?]+\s*$)", re.IGNORECASE)
_ARROW = re.compile(r"\s*(?:→|->|=>|⇒|➜|➔)")
_ARROW_BEFORE = re.compile(r"(?:→|->|=>|⇒|➜|➔)\s*$")
_FROM_BEFORE = re.compile(r"\bfrom\s*$", re.IGNORECASE)
_SPEED = re.compile(r"^[^,;]{0,24}?\b(throughput|speed-?up|faster|tok/s|latency)\b", re.IGNORECASE)
_CAPACITY = re.compile(r"^[^,;]{0,16}?\b(capacity|memory|batch|context)\b", re.IGNORECASE)


def quantity(text: str, *, unit: str = "") -> Quantity:
    """Read the first amount in `text`; `unit` is what a bare number counts (a column's unit, say).

    `up to` and `<` leave `low` open, `at least`, `>` and a trailing `+` leave `high` open. Signs are dropped:
    an amount is a size. Text without an amount keeps its words; a change written as `A → B` or `from A to B`
    is no amount, so it gives only the unit.
    """
    text = text.strip()
    if len(text) > 2000 or _NOTHING.match(text):
        return _sized(text)
    outside, inside = _split_brackets(text)
    for part in (outside, *inside):
        found = _amount(text, part)
        if found is not None:
            return found
    bare = _BARE.fullmatch(text)
    if bare is not None:
        return _bounded(text, bare, unit)
    return _sized(text, unit=_span_unit(text) or _unit_of_change(text))


def _sized(text: str, low: float | None = None, high: float | None = None, unit: str = "") -> Quantity:
    return Quantity.model_construct(_FIELDS, text=text, low=low, high=high, unit=unit)


def is_quantity(text: str) -> bool:
    """Whether `text` starts with an amount that has a unit, after words like `about` or `estimated`."""
    lead = re.sub(
        r"^(?:\s|about|approx\.?|around|estimated|est\.?|expected|roughly|maybe|perhaps|likely|probably|ca\.?|saves?|total|:)*",
        "",
        text.lower(),
    )
    found = _AMOUNT.match(lead)
    if found is None and _SPELLED.match(lead):
        return True
    return found is not None and not _ARROW.match(lead, found.end())


def unit_named(word: str) -> str | None:
    """Return the canonical unit spelled `word` (`hrs` -> `hours`), or None."""
    return _UNITS.get(word.strip().lower())


def _amount(text: str, part: str) -> Quantity | None:
    matches = [m for m in _AMOUNT.finditer(part) if not _is_change(part, m)]
    if matches:
        chosen = matches[0]
        if len(matches) > 1 and _CAPACITY.match(part[chosen.end() :]):
            chosen = next((m for m in matches if _SPEED.match(part[m.end() :])), chosen)
        return _bounded(text, chosen, _UNITS[chosen["unit"].lower()])
    spelled = _SPELLED.search(part)
    if spelled is not None:
        number = _NUMBERS[spelled["number"].lower()]
        return _sized(text, number, number, _UNITS[spelled["unit"].lower()])
    for pattern in (_SIGNED_COUNT, _COUNT):
        count = pattern.search(part)
        if count is not None:
            per = count.groupdict().get("per")
            return _bounded(text, count, f"{count['unit']}/{per}" if per else count["unit"])
    return None


def _bounded(text: str, found: re.Match[str], unit: str) -> Quantity:
    groups = found.groupdict()
    first, sign = _number(found["low"]), groups.get("sign") or ""
    if groups.get("high"):
        second = _number(found["high"])
        if second < first:
            return _sized(text, unit=unit)
        first_unit = _UNITS.get((groups.get("first") or unit).strip().lower(), unit)
        if first_unit != unit:
            return _sized(text)
        return _sized(text, first, second, unit)
    bound = (groups.get("bound") or "").lower().strip()
    if re.fullmatch(_AT_MOST, bound) or "<" in sign or "≤" in sign:
        return _sized(text, None, first, unit)
    if bound or ">" in sign or "≥" in sign or groups.get("more"):
        return _sized(text, first, None, unit)
    return _sized(text, first, first, unit)


def _number(text: str) -> float:
    """The number written `1,200.5`, or with a decimal comma `1,5`."""
    decimal = re.fullmatch(r"(\d+),(\d{1,2})", text)
    return float(f"{decimal[1]}.{decimal[2]}") if decimal is not None else float(text.replace(",", ""))


def _is_change(part: str, found: re.Match[str]) -> bool:
    before = part[: found.start()]
    return bool(
        _ARROW.match(part, found.end())
        or _ARROW_BEFORE.search(before[-8:])
        or _FROM_BEFORE.search(before[-8:])
        or re.search(r"\bfrom\s\S+(?:\s\S+)?\sto(?:\s[a-z]+)?\s*$", before[-60:], re.IGNORECASE)
    )


def _span_unit(text: str) -> str:
    start = _STARTS_WITH_SPAN.match(text)
    named = {word.lower() for word in _SPAN_WORD.findall(text)}
    return start[1].lower() if start is not None and len(named) == 1 else ""


def _unit_of_change(text: str) -> str:
    units = {_UNITS[m["unit"].lower()] for m in _AMOUNT.finditer(text)}
    return units.pop() if len(units) == 1 else ""


def _split_brackets(text: str) -> tuple[str, tuple[str, ...]]:
    """The text outside brackets, and the brackets' contents that start with an amount."""
    inside = tuple(content for content in re.findall(r"\(([^()]*)\)", text) if is_quantity(content))
    return re.sub(r"\([^()]*\)?", " ", text), inside

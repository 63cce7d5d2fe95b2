"""Attributes of items: `Expected gain: 5-10 ms` in bullets, lines, columns, or inline after a dash."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from optrack.core.parse.document import Block, Listing, Paragraph, Quote
from optrack.core.parse.inline import Inline
from optrack.core.parse.names import canonical
from optrack.core.parse.words import plain
from optrack.core.plan import Quantity
from optrack.core.quantity import quantity, unit_named

_WEAK_GAIN = (
    "impact",
    "benefit",
    "benefits",
    "expected result",
    "expected outcome",
    "impacto",
    "expected",
    "potential",
)
_KEY = re.compile(r"^\s*(?P<key>[^:：\n]{1,48}?)\s*[:：]\s*(?P<value>.*)$", re.DOTALL)
_JOINED = re.compile(r"\s+[|·•]\s+|\s*[;,.]\s+(?=[A-Z][\w ]{2,24}:\s)")
_NAMED_PART = re.compile(r"\s*(?:[;,.|·]\s+|\s[—–]\s)(?=[^\W\d][^:,;.|]{1,30}:\s)")
_DONE_ALREADY = re.compile(
    r"^(?:already (?:done|implemented|in place|complete)|done already|nothing to do)\b"
    r"|\bno (?:further )?action needed\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Attribute:
    """An attribute as written: its name, its canonical key if known, its value, its line."""

    name: str
    key: str | None
    value: str
    line: int


def attributes_in(blocks: list[Block], *, depth: int = 3) -> Iterator[Attribute]:
    """Yield the attributes in an item's own blocks: bullets, lines of paragraphs, quotes, and lists below a
    line that is an attribute's name (`**Expected impact**`)."""
    name: str | None = None
    for block in blocks:
        if isinstance(block, Listing) and name is not None:
            yield from _listed(name, block)
        name = _name_alone(block)
        match block:
            case Paragraph():
                yield from _of_lines(block.lines)
            case Quote() if depth:
                yield from attributes_in(block.blocks, depth=depth - 1)
            case Listing():
                for entry in block.entries:
                    if entry.lines and entry.box is None:
                        yield from _of_lines([Inline.joined(entry.lines)])


def known_in(text: str) -> Iterator[Attribute]:
    """Yield the attributes with a known name in what is said after a title (`Gain: 2x, effort: 1 day`)."""
    for part in _NAMED_PART.split(text[:1000]):
        found = _KEY.match(part)
        key = canonical(found["key"]) if found is not None else None
        if found is not None and key is not None and found["value"].strip():
            yield Attribute(plain(found["key"]).strip("*_ "), key, found["value"].strip(), 0)


def _name_alone(block: Block) -> str | None:
    if not isinstance(block, Paragraph) or len(block.lines) != 1:
        return None
    line = block.lines[0].stripped()
    alone = line.lead == line.text or line.text.endswith((":", "："))
    return plain(line.text) if alone and canonical(plain(line.text)) in ("gain", "effort") else None


def _listed(name: str, listing: Listing) -> Iterator[Attribute]:
    """An attribute whose value is a list: its first entry that says an amount."""
    for entry in listing.entries:
        text = Inline.joined(entry.lines).text.strip() if entry.lines and entry.box is None else ""
        amount = quantity(text) if text else None
        if amount is not None and amount.unit and (amount.low is not None or amount.high is not None):
            yield Attribute(name, canonical(name), text, entry.line)
            return


def _of_lines(lines: list[Inline]) -> Iterator[Attribute]:
    pending: Attribute | None = None
    for line in lines:
        found = list(_of_line(line))
        if found:
            if pending is not None:
                yield pending
            yield from found[:-1]
            pending = found[-1]
        elif pending is not None and line.text.strip():
            value = f"{pending.value} {line.text.strip()}"
            pending = Attribute(pending.name, pending.key, value, pending.line)
    if pending is not None:
        yield pending


def _of_line(line: Inline) -> Iterator[Attribute]:
    for part in _JOINED.split(line.text):
        found = _KEY.match(part)
        if found is None:
            continue
        name = plain(found["key"]).strip("*_ ")
        key = canonical(name)
        lead = line.lead
        if name and found["value"].strip() and (key is not None or (lead is not None and name in lead)):
            yield Attribute(name, key, found["value"].strip(), line.line)


def best_gain(attributes: list[Attribute]) -> Attribute | None:
    """Return the attribute that says the gain best: a named gain or speed-up before a general impact."""
    gains = [a for a in attributes if a.key == "gain"]
    named = [a for a in gains if a.name.casefold() not in _WEAK_GAIN]
    return next(iter(named or gains), None)


def amount_of(attribute: Attribute | None) -> Quantity | None:
    """Return the attribute's amount, or None for none and for what only says that there is none (`-`)."""
    if attribute is None or not attribute.value.strip(" -–—?.*"):
        return None
    unit = re.search(r"\(([^)]+)\)", attribute.name)
    counted = unit[1] if unit is not None else unit_named(attribute.name.split()[-1]) or ""
    return quantity(attribute.value.strip().rstrip("."), unit=counted)


def says_done(blocks: list[Block]) -> bool:
    """Whether an item's text starts by saying that nothing is left to do."""
    first = next(iter(blocks), None)
    if isinstance(first, Listing) and first.entries and first.entries[0].box is None:
        lines = first.entries[0].lines
    elif isinstance(first, Paragraph):
        lines = first.lines
    else:
        return False
    return bool(lines) and _DONE_ALREADY.search(Inline.joined(lines).text[:120]) is not None

"""Attributes of items: `Expected gain: 5-10 ms` in bullets, lines, property tables, or said after a title."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache

from optrack.model.plan import Quantity
from optrack.plan.marks import status_of
from optrack.plan.parts import Attribute, Block, Candidate, Line, Listing, Paragraph, Quote, Table
from optrack.plan.quantity import EFFORT_UNITS, TIME_UNITS, is_quantity, quantity, unit_named
from optrack.plan.vocabulary import entries, folded, named, plain, words

_KEY = re.compile(r"^\s*(?P<key>[^:：\n]{1,48}?)\s*[:：]\s*(?P<value>.*)$", re.DOTALL)
_JOINED = re.compile(r"\s+[|·•]\s+|\s*[;,.]\s+(?=[A-Z][\w ]{2,24}:\s)|[；，。]\s*(?=[^\s:：]{2,12}[:：])")
_NAMED_PART = re.compile(r"\s*(?:[;,.|·]\s+|\s[—–]\s|[；，。])(?=[^\W\d][^:：,;.|]{0,30}[:：]\s?)")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9~+])|(?<=[。！？])")
_RATES = ("GB/s", "MB/s", "tok/s", "req/s", "TFLOPS", "GFLOPS", "fps", "KB", "MB", "GB", "TB", "W", "cycles")
"""Units of a level rather than of a change: `Expected: ~3 GB/s` says what is measured, not what is gained."""


@cache
def _names() -> dict[str, str]:
    return named("attributes")


@lru_cache(512)
def canonical(name: str) -> str | None:
    """Return what a name stands for (`Est. impact` -> `gain`, `Expected outcome` -> `weak_gain`), or None."""
    bare = re.sub(r"\s*[(（][^()（）]*[)）]", "", plain(name)).replace(".", "").casefold().strip(" *_`")
    return _names().get(bare)


@lru_cache(512)
def nearest_name(name: str) -> str | None:
    """Return the known name that this one is a misspelling of, or None."""
    bare = folded(name)
    if not 5 <= len(bare) <= 30 or canonical(name) is not None:
        return None
    for near in difflib.get_close_matches(bare, _names(), n=2, cutoff=0.85):
        if abs(len(near) - len(bare)) <= 1 and not near.startswith(bare) and not bare.startswith(near):
            return near
    return None


def attributes_in(blocks: Sequence[Block], *, depth: int = 3) -> Iterator[Attribute]:
    """Yield the attributes in blocks: bullets, lines of paragraphs, quotes, property tables, and what stands below a
    line that is an attribute's name (`**Expected impact**`)."""
    name: str | None = None
    for block in blocks:
        match block:
            case Paragraph() if name is not None and _KEY.match(block.lines[0].text) is None:
                yield Attribute(name, canonical(name), Line.joined(block.lines).text.strip(), block.line)
            case Paragraph():
                yield from _of_lines(block.lines)
            case Quote() if depth:
                yield from attributes_in(block.blocks, depth=depth - 1)
            case Listing():
                lines = [entry.text for entry in block.entries if entry.box is None]
                if name is not None:
                    yield from _listed(name, lines, block.line)
                for line in lines:
                    yield from _of_lines([line], block.line)
            case Table() if is_property_table(block):
                for row in block.rows:
                    key, value = plain(row.lines[0].text), row.lines[1].text.strip()
                    if value:
                        yield Attribute(key, canonical(key), value, row.line)
        name = _name_alone(block)


def is_property_table(table: Table) -> bool:
    """Whether a table tells one item's properties: two columns, most first cells the names of attributes."""
    if len(table.header) != 2 or not table.rows:
        return False
    rows = [table.header, *(row.lines for row in table.rows)]
    known = sum(len(cells) == 2 and canonical(cells[0].text) is not None for cells in rows)
    heads = [plain(cell.text).casefold() for cell in table.header]
    headed = heads[0] in entries("columns", "property") and heads[1] in entries("columns", "value")
    return known * 2 > len(rows) or (headed and (known > 1 or known * 3 >= len(rows)))


def is_attribute(line: Line) -> bool:
    """Whether an entry is an attribute with a known name (`**Effort**: 2 days`, `Risk: low`)."""
    cut = re.search(r"[:：]", line.text[:80])
    return cut is not None and canonical(line.text[: cut.start()]) is not None


def known_in(text: str, line: int) -> Iterator[Attribute]:
    """Yield the attributes with a known name in what is said after a title (`Gain: 2x, effort: 1 day`)."""
    for part in _NAMED_PART.split(text[:1000]):
        found = _KEY.match(part)
        key = canonical(found["key"]) if found is not None else None
        if found is not None and key is not None and found["value"].strip():
            yield Attribute(plain(found["key"]).strip("*_ "), key, found["value"].strip(), line)


def evaluate(candidate: Candidate, without: Collection[int] = ()) -> None:
    """Set title, state, gain and effort from the marks of the line, the attributes and the prose after the title;
    `without` the lists, by line, whose entries are items of their own."""
    marked, prose = candidate.marked, candidate.prose
    if without:
        candidate.attributes = [a for a in candidate.attributes if a.listed not in without]
    candidate.title, candidate.status, candidate.priority = marked.title, marked.status, marked.priority
    candidate.risk = marked.risk
    gain, effort = gain_of(candidate.attributes), effort_of(candidate.attributes)
    if gain is None or (marked.gain is not None and gain.low is None and gain.high is None):
        gain = marked.gain
    if effort is not None and effort.unit and effort.unit not in EFFORT_UNITS:
        gain, effort = gain or effort, None
    candidate.gain, candidate.effort = gain, effort or marked.effort
    if prose and (candidate.gain is None or candidate.effort is None):
        said = _said_in(prose)
        candidate.gain, candidate.effort = candidate.gain or said[0], candidate.effort or said[1]
    if candidate.box is None:
        candidate.status = status_of(candidate.value("status") or "") or candidate.status
        candidate.status = candidate.status or candidate.said


def gain_of(attributes: Sequence[Attribute]) -> Quantity | None:
    """Return the gain: a named one before a general impact, which counts only where it tells a change."""
    strong = next((a for a in attributes if a.key == "gain"), None)
    amount = _amount_of(strong) if strong is not None else None
    if amount is not None:
        return amount
    weak = ((a, amount) for a in attributes if a.key == "weak_gain" if (amount := _amount_of(a)) is not None)
    return next((amount for attribute, amount in weak if _tells_change(attribute, amount)), None)


def effort_of(attributes: Sequence[Attribute]) -> Quantity | None:
    """Return the effort; one that is told in time goes before other words for it."""
    efforts = [amount for a in attributes if a.key == "effort" if (amount := _amount_of(a)) is not None]
    return next((e for e in efforts if e.unit in EFFORT_UNITS), next(iter(efforts), None))


def _amount_of(attribute: Attribute) -> Quantity | None:
    """The attribute's amount, or None for what only says that there is none (`-`)."""
    if not attribute.value.strip(" -–—?.*"):
        return None
    unit = re.search(r"\(([^)]+)\)", attribute.name)
    counted = unit[1] if unit is not None else unit_named((attribute.name.split() or [""])[-1]) or ""
    return quantity(attribute.value.strip().rstrip("."), unit=counted)


def _tells_change(attribute: Attribute, amount: Quantity) -> bool:
    """Whether an impact or outcome is a change in size, or a level such as `High`."""
    head = attribute.value.strip(" *_")[:60]
    if amount.low is None and amount.high is None:
        return words("bands", "high", "medium", "low").start(head) > 0 or bool(amount.unit)
    if amount.unit in _RATES:
        return bool(re.match(r"[+\-−]", head)) or words("prose", "gain").within(attribute.value[:160])
    if amount.unit in TIME_UNITS[3:]:
        return is_quantity(head) or words("prose", "gain").within(head)
    return bool(amount.unit)


def _name_alone(block: Block) -> str | None:
    """The name of a gain or effort that a paragraph is, in bold or before a colon."""
    if not isinstance(block, Paragraph) or len(block.lines) != 1:
        return None
    line = block.lines[0].stripped()
    name = plain(line.text)
    alone = line.lead == line.text or line.text.endswith((":", "："))
    return name if alone and canonical(name) in ("gain", "weak_gain", "effort") else None


def _listed(name: str, lines: Sequence[Line], listed: int) -> Iterator[Attribute]:
    """An attribute whose value is a list: its first entry that says an amount."""
    for line in lines:
        amount = quantity(line.text)
        if amount.unit and (amount.low is not None or amount.high is not None):
            yield Attribute(name, canonical(name), line.text.strip(), line.number, listed)
            return


def _of_lines(lines: Sequence[Line], listed: int = 0) -> Iterator[Attribute]:
    """The attributes of lines; a line without a name goes on with the value above it."""
    found: list[Attribute] = []
    for line in lines:
        named_here = list(_of_line(line, listed))
        if found and not named_here and line.text.strip():
            last = found.pop()
            value = f"{last.value} {line.text.strip()}"
            named_here = [Attribute(last.name, last.key, value, last.line, listed)]
        found += named_here
    yield from found


def _of_line(line: Line, listed: int) -> Iterator[Attribute]:
    if ":" not in line.text and "：" not in line.text:
        return
    lead = line.lead or ""
    for part in _JOINED.split(line.text):
        found = _KEY.match(part)
        name = plain(found["key"]).strip("*_ ") if found is not None else ""
        key = canonical(name)
        if found is not None and name and found["value"].strip() and (key is not None or name in lead):
            yield Attribute(name, key, found["value"].strip(), line.number, listed)


def _said_in(text: str) -> tuple[Quantity | None, Quantity | None]:
    """Gain and effort said in prose (`estimated 5-10ms savings, 30 minutes effort`).

    Sentences that tell of earlier measurements don't count.
    """
    gain = effort = None
    for sentence in _SENTENCE.split(text[:2000]):
        if effort is None and words("prose", "level").within(sentence):
            phrase = re.search(r"\b(?:very )?\w+ effort(?:\s*\([^)]*\))?", sentence, re.IGNORECASE)
            effort = quantity(phrase[0]) if phrase is not None else None
        if words("prose", "past").within(sentence):
            continue
        for part in re.split(r"[,;]\s+|[，；]| \| | · ", sentence):
            if words("prose", "loss").within(part):
                continue
            amount = quantity(re.sub(r"[()]", " ", part) if not gain and not effort else part)
            if not amount.unit or (amount.low is None and amount.high is None):
                changes = re.search(r"\bimprov|\breduc|\bincreas", part, re.IGNORECASE)
                gain = gain or (amount if amount.unit and changes else None)
                continue
            alone = len(part.split()) <= 3 and is_quantity(part)
            takes = amount.unit in (*TIME_UNITS[4:], "lines")
            if effort is None and takes and (alone or words("prose", "effort").within(part)):
                effort = amount
            elif gain is None and amount.unit not in TIME_UNITS[6:] and (alone or _near_gain_word(part)):
                gain = amount
    return gain, effort


def _near_gain_word(part: str) -> bool:
    number = re.search(r"\d", part)
    around = part[max(number.start() - 36, 0) : number.start() + 44] if number is not None else ""
    return words("prose", "gain").within(around)

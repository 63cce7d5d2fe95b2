"""Candidates: every heading, entry, bold line and table row that could be an item, with what can be seen of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from optrack.model.plan import Status
from optrack.plan.attributes import (
    attributes_in,
    canonical,
    evaluate,
    is_attribute,
    is_property_table,
    known_in,
)
from optrack.plan.checklists import checklists
from optrack.plan.labels import Label, read_label
from optrack.plan.marks import is_state_alone, read_title, split_title, status_of, take_remark
from optrack.plan.parts import Block, Candidate, Fence, Line, Listing, Paragraph, Table
from optrack.plan.vocabulary import level_of, plain, words

_TAIL = re.compile(r"\s*(?:[(\[（][^()\[\]（）]{1,60}[)\]）]|[^\w\s(\[]{1,4})?\s*[:：]?\s*")
_GOES_ON = re.compile(r"\s*(?:→|—|–|-|:)\s")
_BOXES: dict[str, Status] = dict.fromkeys("xX✓✔", "completed")
_BOXES |= {"~": "cancelled", "-": "cancelled", "/": "in_progress"}


def find_candidates(parts: Iterable[Candidate | Block]) -> Candidate:
    """Return the document as a candidate that holds all others."""
    top = Candidate("heading", 1, Line(""))
    open_: list[Candidate] = [top]
    blocks: list[Block] = []
    for part in chain(parts, [Candidate("heading", 10**9, Line(""), 0)]):
        if not isinstance(part, Candidate):
            blocks.append(part)
            continue
        if read_label(part.text.text) is None and canonical(part.text.text) is not None:
            # a heading like "Expected gain" is an attribute of the heading above it
            if open_[-1].level >= part.level:
                _fill(open_[-1], blocks, part.line - 1)
                blocks = []
                _close(open_, part)
            blocks.append(Paragraph(part.line, [Line(f"{plain(part.text.text)}:", part.line)]))
            continue
        _fill(open_[-1], blocks, part.line - 1)
        blocks = []
        _close(open_, part)
        if part.level:
            _hold(open_[-1], [part])
            part.label = read_label(part.text.text)
            _read_labelled(part)
            open_.append(part)
    for candidate in top.walk():
        if candidate.form in ("heading", "bold"):
            evaluate(candidate)
    return top


def _close(open_: list[Candidate], heading: Candidate) -> None:
    """End the headings that one of this level ends."""
    while len(open_) > 1 and open_[-1].level >= heading.level:
        open_.pop().end = heading.line - 1


def take_title(top: Candidate) -> str:
    """Take the document's title, a first, sole heading of level 1, from among the candidates; return its words.

    What stands directly below it stands in the document.
    """
    tops = [c for c in top.below if c.form == "heading" and c.level == 1]
    first = next((c for c in top.below if c.form == "heading"), None)
    if first is None or first.level != 1 or (first.label and any(c.label is not None for c in tops[1:])):
        return ""
    at = list(top.below).index(first)
    top.below = [*top.below[:at], *first.below, *top.below[at + 1 :]]
    for candidate in first.below:
        candidate.above = top
    return plain(first.text.text)


def _hold(above: Candidate, candidates: Sequence[Candidate]) -> None:
    below = above.below if isinstance(above.below, list) else list(above.below)
    below.extend(candidates)
    above.below = below
    for candidate in candidates:
        candidate.above = above
        if candidate.form != "heading":
            candidate.level = above.level + 1


def _fill(here: Candidate, blocks: list[Block], end: int) -> None:
    """Put blocks where they belong: to a heading, to the bold line above them, or as candidates of their own."""
    current, held = here, list[Block]()
    lead, own = "", True
    for block in blocks:
        bolds = _bolds(block) if isinstance(block, Paragraph) else []
        for bold, rest in bolds:
            _describe(current, held)
            if current is not here:
                current.end = bold.line - 1
            _hold(here, [bold])
            current, held, lead, own = bold, [], "", True
            bold.end = end
            if rest:
                held.append(Paragraph(rest[0].number, rest))
        if bolds:
            continue
        held.append(block)
        match block:
            case Listing():
                _hold(current, list(_entries(block, current, lead, own=own)))
                own = own and not current.below
            case Table() if not is_property_table(block):
                for row in block.rows:
                    row.group, row.lead, row.end = block, lead, row.line
                _hold(current, block.rows)
            case Fence():
                for listing, above in checklists(block):
                    _hold(current, list(_entries(listing, current, above or lead, own=False)))
        lead = _lead(block)
    _describe(current, held)


def _describe(candidate: Candidate, blocks: list[Block]) -> None:
    """Keep what the blocks of a candidate say of it, and not the blocks."""
    candidate.attributes = (*candidate.attributes, *attributes_in(blocks))
    candidate.has_recipe = candidate.has_recipe or any(isinstance(b, Fence) and b.is_recipe for b in blocks)
    candidate.said = candidate.said or (_said(blocks[0]) if blocks else None)


def _said(block: Block) -> Status | None:
    """The state that an item's text starts with: that nothing is left to do, or nothing but a word of state."""
    single = True
    if isinstance(block, Listing) and block.entries[0].box is None:
        text, single = block.entries[0].text.text, len(block.entries) == 1
    else:
        text = Line.joined(block.lines).text if isinstance(block, Paragraph) else ""
    if words("status", "already").start(text[:120]):
        return "completed"
    return status_of(text) if single and is_state_alone(text) else None


def _read_labelled(candidate: Candidate) -> None:
    """Read the title of a heading or bold line: what follows the label, without marks."""
    label, text = candidate.label, candidate.text
    if label is None or label.kind == "baseline":
        marked = read_title(text)
    else:
        at = text.text.rfind(label.title)
        marked = read_title(text.part(at) if at > 0 else text if label.kind == "band" else Line(label.title))
        if marked.status is None:
            noted = status_of(label.note.strip(" ()[]")) if label.note else None
            marked.status = noted or read_title(text).status
        if label.note:
            take_remark(marked, label.note.strip(" ()[]（）"))
        if label.kind == "band":
            marked.priority = level_of(marked.title) or marked.priority
        elif label.word == "p":
            marked.priority = label.id
    candidate.marked = marked


def _lead(block: Block) -> str:
    """The words that lead in to a list: a paragraph's last line in bold or before a colon."""
    if not isinstance(block, Paragraph):
        return ""
    line = block.lines[-1].stripped()
    return plain(line.text) if line.text.endswith((":", "：")) or line.lead == line.text else ""


def _bolds(block: Paragraph) -> list[tuple[Candidate, list[Line]]]:
    """The candidates of a paragraph that starts with a labelled line in bold, each with the lines below it.

    What follows the bold words is a bracket or a sign; where several lines are such, an arrow or dash with anything.
    """
    if (block.lines[0].stripped().lead or "") == "":
        return []
    told = [_bold(line, alone=False) for line in block.lines]
    if sum(bold is not None for bold in told) < 2 or told[0] is None:
        first = _bold(block.lines[0], alone=True)
        return [(first, block.lines[1:])] if first is not None else []
    found: list[tuple[Candidate, list[Line]]] = []
    for bold, line in zip(told, block.lines, strict=True):
        if bold is not None:
            found.append((bold, []))
        else:
            found[-1][1].append(line)
    return found


def _bold(line: Line, *, alone: bool) -> Candidate | None:
    line = line.stripped()
    lead = line.lead
    if lead is None or len(line.text) > 300:
        return None
    end = line.text.find(lead) + len(lead)
    closed = _TAIL.fullmatch(line.text, end) or (not alone and _GOES_ON.match(line.text, end))
    label = read_label(lead) if closed else None
    if label is None or label.kind not in ("word", "code", "dotted", "number"):
        return None
    if label.loose and not label.title:
        return None
    found = Candidate("bold", line.number, line if alone else line.part(0, end), label=label)
    found.prose = "" if alone else line.text[end:].lstrip(" :→—–-")
    _read_labelled(found)
    return found


def _entries(listing: Listing, above: Candidate, lead: str, *, own: bool) -> Iterator[Candidate]:
    """The entries of a list that could be items, each with those of its own lists below it."""
    for entry in listing.entries:
        text, blocks = entry.text, entry.blocks
        entry.blocks = ()
        attribute = entry.box is None and not listing.ordered and is_attribute(text)
        if attribute or not plain(text.text):
            continue
        entry.above, entry.group, entry.lead, entry.own = above, listing, lead, own
        entry.end = max([entry.line, *map(_last, blocks)])
        entry.label = _entry_label(entry)
        _read_entry(entry)
        inner = ""
        for block in blocks:
            if isinstance(block, Listing):
                _hold(entry, list(_entries(block, entry, inner, own=True)))
            inner = _lead(block)
        if blocks:
            _describe(entry, list(blocks))
        if entry.prose:
            entry.attributes = (*entry.attributes, *known_in(entry.prose, entry.line))
        evaluate(entry)
        yield entry


def _read_entry(entry: Candidate) -> None:
    """Read an entry's title: its bold start, or what stands before a dash."""
    label = entry.label
    title, entry.prose = split_title(
        entry.text, label.title if label is not None and label.kind != "baseline" else None
    )
    marked = read_title(title, locations=True)
    if marked.status is None or (title.is_struck and marked.status == "cancelled"):
        after = status_of(entry.prose[:160]) if _is_mark(entry.prose) else None
        marked.status = after or marked.status
    if entry.box is not None:
        marked.status = _BOXES.get(entry.box, "cancelled" if marked.status == "cancelled" else None)
    if label is None and entry.number is not None:
        entry.own_id = str(entry.number)
    if marked.priority is not None:
        marked.priority = level_of(marked.priority) or marked.priority
    entry.marked = marked


def _is_mark(prose: str) -> bool:
    """Whether what follows a title starts with a word of state in capitals or a sign, so that it tells its state."""
    head = prose.lstrip(" :*—–-(")
    word = re.match(r"\w+", head)
    loud = word is None or (word[0].isupper() and len(word[0]) > 2)
    return bool(head) and (loud or len(head.split()) == 1 or not head.isascii())


def _entry_label(entry: Candidate) -> Label | None:
    label = read_label(entry.text.text) or _bold_label(entry.text)
    if label is None or label.loose or label.kind in ("number", "band", "other"):
        return None
    if label.kind == "dotted" and entry.box is None:
        above = entry.above.written_id if entry.above is not None else None
        return label if above is not None and (label.id or "").startswith(f"{above}.") else None
    return label


def _bold_label(line: Line) -> Label | None:
    """The label that a line's bold start is as a whole (`**S1.1** Set up`), with the rest as title."""
    lead = line.lead
    label = read_label(f"{lead}: x") if lead is not None and len(lead) < 24 else None
    if lead is None or label is None or label.title != "x" or label.kind not in ("code", "word"):
        return None
    rest = line.text[line.text.find(lead) + len(lead) :].lstrip(" :.—–-")
    return replace(label, title=rest) if rest else None


def _last(block: Block) -> int:
    """The last line of a block that a recipe may stand in."""
    if isinstance(block, Fence):
        return block.line + block.content.count("\n") + 1
    if isinstance(block, Listing):
        return max(max([entry.line, *map(_last, entry.blocks)]) for entry in block.entries)
    return block.line

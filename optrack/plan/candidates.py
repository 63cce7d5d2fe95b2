"""Candidates: every heading, entry, bold line and table row that could be an item, with what can be seen of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from optrack.model.plan import Status
from optrack.plan.attributes import canonical, is_property_table
from optrack.plan.blocks import Block, Entry, Fence, Inline, Listing, Paragraph, Section, Table
from optrack.plan.candidate import Candidate
from optrack.plan.fences import checklist
from optrack.plan.labels import Label, read_label
from optrack.plan.marks import read_title, split_title, status_of, take_remark
from optrack.plan.vocabulary import level_of, plain

_TAIL = re.compile(r"\s*(?:[(\[（][^()\[\]（）]{1,60}[)\]）]|[^\w\s(\[]{1,4})?\s*[:：]?\s*")
_BOXES: dict[str, Status] = {
    **dict.fromkeys("xX✓✔", "completed"), **dict.fromkeys("~-", "cancelled"), "/": "in_progress",
}  # fmt: skip


def find_candidates(root: Section, title: Section | None) -> Candidate:
    """Return the document as a candidate that holds all others.

    The document's title is no candidate: what stands directly below it stands in the document.
    """
    top = Candidate("heading", root.line, root.heading, 0, end=10**9)
    stack: list[tuple[Section, Candidate]] = [(root, top)]
    while stack:
        section, above = stack.pop()
        here = above
        if section is not root and section is not title:
            if read_label(section.heading.text) is None and canonical(section.heading.text) is not None:
                above.blocks += [
                    Paragraph(section.line, [Inline.of(f"{plain(section.heading.text)}:")]),
                    *section.blocks,
                ]
                continue
            here = heading_candidate(section, above)
            above.below.append(here)
        _read_blocks(here, section.blocks, section.end)
        stack.extend((inner, here) for inner in reversed(section.sections))
    for candidate in walk(top):
        if candidate.form in ("heading", "bold"):
            candidate.read()
    return top


def walk(top: Candidate) -> Iterator[Candidate]:
    """Yield all candidates below one, in document order."""
    stack = list(reversed(top.below))
    while stack:
        candidate = stack.pop()
        yield candidate
        stack.extend(reversed(candidate.below))


def heading_candidate(section: Section, above: Candidate) -> Candidate:
    """Return the candidate of a heading; its title is what follows the label, without marks."""
    label = read_label(section.heading.text)
    found = Candidate(
        "heading",
        section.line,
        section.heading,
        section.level,
        above,
        label,
        mark=section.mark,
        end=section.end,
    )
    _read_labelled(found)
    return found


def _read_labelled(candidate: Candidate) -> None:
    label, text = candidate.label, candidate.text
    if label is None or label.kind == "baseline":
        marked = read_title(text)
    else:
        at = text.text.rfind(label.title)
        marked = read_title(
            text.after(at) if at > 0 else text if label.kind == "band" else Inline.of(label.title)
        )
        if marked.status is None:
            before = status_of(label.note.strip(" ()[]")) if label.note else None
            marked.status = before or read_title(text).status
        if label.note:
            take_remark(marked, label.note.strip(" ()[]（）"))
    if label is not None and label.kind == "band":
        marked.priority = level_of(marked.title) or marked.priority
    elif label is not None and label.word == "p":
        marked.priority = label.id
    candidate.marked = marked


def _read_blocks(here: Candidate, blocks: list[Block], end: int) -> None:
    """Put a section's blocks where they belong: to it, to the bold line above them, or as candidates of their own."""
    current, lead, own = here, "", True
    for block in blocks:
        if isinstance(block, Paragraph) and (bold := _bold(block, here)) is not None:
            if current is not here:
                current.end = block.line - 1
            bold.end = end
            here.below.append(bold)
            current, lead, own = bold, "", True
            continue
        current.blocks.append(block)
        if isinstance(block, Listing):
            current.below += _entries(block, current, lead, own=own)
        elif isinstance(block, Table):
            current.below += _rows(block, current, lead)
        elif isinstance(block, Fence):
            for listing, above in checklist(block):
                current.below += _entries(listing, current, above or lead, own=False)
        lead = _lead(block)
        own = own and (not isinstance(block, Listing) or not current.below)


def _lead(block: Block) -> str:
    """The words that lead in to a list: a paragraph's last line in bold or before a colon."""
    if not isinstance(block, Paragraph):
        return ""
    line = block.lines[-1].stripped()
    return plain(line.text) if line.text.endswith((":", "：")) or line.lead == line.text else ""


def _bold(block: Paragraph, here: Candidate) -> Candidate | None:
    """The candidate of a labelled line in bold, but for a bracket or a sign at its end."""
    line = block.lines[0].stripped()
    lead = line.lead
    if (
        lead is None
        or len(block.lines[0].text) > 300
        or not _TAIL.fullmatch(line.text[line.text.find(lead) + len(lead) :])
    ):
        return None
    label = read_label(lead)
    if (
        label is None
        or label.id is None
        or (label.loose and not label.title)
        or label.kind in ("other", "baseline")
    ):
        return None
    found = Candidate("bold", block.line, line, here.level + 1, here, label)
    _read_labelled(found)
    rest = [Paragraph(block.line + 1, block.lines[1:])] if len(block.lines) > 1 else []
    found.blocks = list(rest)
    return found


def _rows(table: Table, above: Candidate, lead: str) -> Iterator[Candidate]:
    if is_property_table(table):
        return
    for row in table.rows:
        text = " | ".join(cell.text.strip() for cell in row.cells)
        yield Candidate(
            "row",
            row.line,
            Inline.of(text[:400], row.line),
            above.level + 1,
            above,
            lead=lead,
            group=table,
            mark=row.mark,
            end=row.line,
        )


def _entries(listing: Listing, above: Candidate, lead: str, *, own: bool) -> Iterator[Candidate]:
    for entry in listing.entries:
        if not entry.lines or not plain(entry.lines[0].text):
            continue
        if entry.box is None and not listing.ordered and is_attribute(entry):
            continue
        found = entry_candidate(entry, above, listing)
        found.lead, found.own = lead, own
        inner = ""
        for block in entry.blocks:
            if isinstance(block, Listing):
                found.below += _entries(block, found, inner, own=True)
            inner = _lead(block)
        yield found


def entry_candidate(entry: Entry, above: Candidate, listing: Listing) -> Candidate:
    """Return the candidate of a list's entry: its bold start or what stands before a dash is the title."""
    line = Inline.joined(entry.lines)
    label = _entry_label(entry, above)
    end = max([entry.line, *(_last(block) for block in entry.blocks)])
    found = Candidate(
        "entry",
        entry.line,
        line,
        above.level + 1,
        above,
        label,
        entry.box,
        entry.number,
        entry.mark,
        group=listing,
        blocks=entry.blocks,
        end=end,
    )
    title, prose = split_title(line, label.title if label is not None and label.kind != "baseline" else None)
    marked = read_title(title, locations=True)
    if marked.status is None or (title.is_struck and marked.status == "cancelled"):
        after = status_of(prose[:160]) if _is_mark(prose) else None
        marked.status = after or marked.status
    if entry.box is not None:
        marked.status = _BOXES.get(entry.box, "cancelled" if marked.status == "cancelled" else None)
    if label is None and entry.number is not None:
        found.own_id = str(entry.number)
    if marked.priority is not None:
        marked.priority = level_of(marked.priority) or marked.priority
    found.marked, found.prose = marked, prose
    found.read()
    return found


def _is_mark(prose: str) -> bool:
    """Whether what follows a title starts with a word of state in capitals or a sign, so that it tells its state."""
    head = prose.lstrip(" :*—–-(")
    word = re.match(r"\w+", head)
    return bool(head) and (
        (word is None)
        or (word[0].isupper() and len(word[0]) > 2)
        or len(head.split()) == 1
        or not head.isascii()
    )


def _entry_label(entry: Entry, above: Candidate) -> Label | None:
    label = read_label(entry.lines[0].text) or _bold_label(entry.lines[0])
    if label is None or label.loose or label.kind in ("number", "band", "other"):
        return None
    if label.kind == "dotted" and entry.box is None:
        id_above = above.written_id
        if id_above is None or label.id is None or not label.id.startswith(f"{id_above}."):
            return None
    return label


def _bold_label(line: Inline) -> Label | None:
    """The label that a line's bold start is as a whole (`**S1.1** Set up`), with the rest as title."""
    lead = line.lead
    label = read_label(f"{lead}: x") if lead is not None and len(lead) < 24 else None
    if lead is None or label is None or label.title != "x" or label.kind not in ("code", "word"):
        return None
    rest = line.text[line.text.find(lead) + len(lead) :].lstrip(" :.—–-")
    return replace(label, title=rest) if rest else None


def is_attribute(entry: Entry) -> bool:
    """Whether an entry is an attribute with a known name (`**Effort**: 2 days`, `Risk: low`)."""
    head = entry.lines[0].text[:80]
    cut = re.search(r"[:：]", head)
    return cut is not None and canonical(head[: cut.start()]) is not None


def _last(block: Block) -> int:
    if isinstance(block, Fence):
        return block.line + block.content.count("\n") + 1
    if isinstance(block, Listing):
        return max((max([e.line, *(_last(b) for b in e.blocks)]) for e in block.entries), default=block.line)
    return block.line

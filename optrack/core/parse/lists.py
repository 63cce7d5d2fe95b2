"""Items written as entries of lists: task boxes, labels, numbers with bold titles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from optrack.core.parse.document import Block, Entry, Fence, Listing, Paragraph
from optrack.core.parse.draft import Draft
from optrack.core.parse.inline import Inline
from optrack.core.parse.labels import Label, read_label
from optrack.core.parse.marks import Marked, read_title
from optrack.core.parse.names import canonical
from optrack.core.parse.recipes import is_recipe
from optrack.core.parse.words import is_context, is_planlike, level_of, plain
from optrack.core.quantity import is_quantity
from optrack.core.status import Status

_DASH = re.compile(r"\s+(?:—|–|--)\s+|\s—|—\s")
_HYPHEN = re.compile(r"\s+-\s+")
_BOXES: dict[str, Status] = {
    "x": "completed", "X": "completed", "✓": "completed", "✔": "completed",
    "~": "cancelled", "-": "cancelled",
    "/": "in_progress",
}  # fmt: skip


def entry_drafts(listing: Listing, parent: Draft | None, *, numbered: bool, bullets: bool) -> list[Draft]:
    """Return the items among a list's entries and those nested in them, in order.

    Task boxes and labels (`1B: …`) always make an item; numbers do with `numbered`, bullets with `bullets`.
    """
    found: list[Draft] = []
    for entry in listing.entries:
        if not entry.lines or not plain(entry.lines[0].text):
            continue
        label = _label(entry, parent)
        has_recipe = any(isinstance(b, Fence) and is_recipe(b) for b in entry.blocks)
        if not (entry.box is not None or label is not None or has_recipe):
            if not (numbered if listing.ordered else bullets):
                continue
            if not listing.ordered and _is_known_attribute(entry):
                continue
        draft = draft_of_entry(entry, label)
        if parent is not None:
            parent.adopt(draft)
        found.append(draft)
        for block in entry.blocks:
            if isinstance(block, Listing):
                found += entry_drafts(block, draft, numbered=False, bullets=False)
    return found


def draft_of_entry(entry: Entry, label: Label | None) -> Draft:
    """Return the draft of a list entry: its bold start or what stands before a dash is the title."""
    line = Inline.joined(entry.lines)
    title, prose = split_title(line, label)
    draft = Draft("list", "", entry.line, label=label, boxed=entry.box is not None, blocks=entry.blocks)
    marked: Marked = read_title(title, locations=True)
    if entry.box is not None:
        marked.status = _BOXES.get(entry.box, "cancelled" if line.is_struck else None)
    elif line.is_struck and marked.status is None:
        marked.status = "cancelled"
    if label is None and entry.number is not None:
        draft.own_id = str(entry.number)
    draft.take_marks(marked)
    if draft.priority is not None:
        draft.priority = level_of(draft.priority) or draft.priority
    draft.read_attributes(prose)
    return draft


def lists_of(blocks: list[Block]) -> Iterator[tuple[Listing, str | None]]:
    """Yield the lists among blocks, each with the words ending in a colon that lead in to it, if any."""
    lead: str | None = None
    for block in blocks:
        if isinstance(block, Listing):
            yield block, lead
        lead = None
        if isinstance(block, Paragraph):
            last = block.lines[-1].text.strip()
            lead = plain(last) if last.endswith((":", "：")) or block.lines[-1].lead == last else None


def has_boxes(listing: Listing) -> bool:
    """Whether most entries have a task box."""
    return sum(entry.box is not None for entry in listing.entries) * 2 > len(listing.entries)


def has_labels(listing: Listing, parent: Draft | None = None) -> bool:
    """Whether most entries, and without a parent at least two, start with a label."""
    labelled = sum(_label(entry, parent) is not None for entry in listing.entries)
    return labelled >= (2 if parent is None else 1) and labelled * 2 > len(listing.entries)


def has_titles(listing: Listing) -> bool:
    """Whether most entries start with a bold title that isn't an attribute's name."""
    titled = sum(
        bool(entry.lines) and entry.lines[0].lead is not None and not _is_attribute(entry)
        for entry in listing.entries
    )
    return titled * 2 > len(listing.entries)


def has_amounts(listing: Listing) -> bool:
    """Whether at least half of the entries say a gain or an effort."""
    drafts = [draft_of_entry(entry, None) for entry in listing.entries[:50] if entry.lines]
    said = sum(d.gain is not None or d.effort is not None for d in drafts)
    return bool(drafts) and said * 2 >= len(drafts)


def says_amounts(listing: Listing) -> bool:
    """Whether most entries, and at least two, have a bold title and name a gain or an effort after it."""
    said = 0
    for entry in listing.entries:
        lead = entry.lines[0].lead if entry.lines else None
        if lead is not None and canonical(lead) is None:
            attributes = draft_of_entry(entry, None).attributes
            said += any(attribute.key in ("gain", "effort") for attribute in attributes)
    return said >= 2 and said * 2 > len(listing.entries)


def leads_astray(lead: str | None) -> bool:
    """Whether a lead-in says that the list is no list of things to do (`Deliverables:`, `Files:`)."""
    return lead is not None and (is_context(lead) or not is_planlike(lead))


def _is_known_attribute(entry: Entry) -> bool:
    lead = entry.lines[0].lead
    return _is_attribute(entry) and lead is not None and canonical(lead) is not None


def _label(entry: Entry, parent: Draft | None = None) -> Label | None:
    if not entry.lines:
        return None
    label = read_label(entry.lines[0].text) or _bold_label(entry.lines[0])
    if label is None or label.loose or label.kind in ("number", "band"):
        return None
    if label.kind == "dotted" and entry.box is None and not _continues(label, parent):
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


def _continues(label: Label, parent: Draft | None) -> bool:
    """Whether a dotted number goes on from the parent's id, so that it is no amount (`1.5 GB`)."""
    above = parent.written_id if parent is not None else None
    return above is not None and label.id is not None and label.id.startswith(f"{above}.")


def _is_attribute(entry: Entry) -> bool:
    line = entry.lines[0]
    lead = line.lead
    return lead is not None and (
        lead.endswith((":", "：")) or line.text[len(lead) :].lstrip().startswith((":", "："))
    )


def split_title(line: Inline, label: Label | None) -> tuple[Inline, str]:
    """Return the title's part of an entry's text, and the prose that follows it."""
    if label is not None and label.kind != "baseline":
        at = line.text.find(label.title[:40])
        line = line.after(at) if at > 0 else line
    lead = line.stripped().lead
    if line.is_struck and not line.all_struck and lead is None:
        end = line.struck_end
        return line.cut(end), line.text[end:].lstrip(" :—–-")
    text = line.text
    if lead is not None and len(plain(lead).split()) >= 1 and len(plain(lead)) > 2:
        at = text.find(lead) + len(lead)
        tail = text[at:]
        bracket = re.match(r"\s*\([^()]*\)", tail)
        if bracket is not None:
            at, tail = at + bracket.end(), tail[bracket.end() :]
        return line.cut(at), tail.lstrip(" :—–-")
    dash = _DASH.search(text, 2)
    if dash is None:
        hyphen = _HYPHEN.search(text, 2)
        dash = hyphen if hyphen is not None and is_quantity(text[hyphen.end() :]) else None
    if dash is not None:
        return line.cut(dash.start()), text[dash.end() :]
    return line, ""

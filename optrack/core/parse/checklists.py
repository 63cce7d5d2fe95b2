"""Checklists that break down items written elsewhere, also those set in a code fence without a language."""

from __future__ import annotations

import re
from collections.abc import Iterator

from optrack.core.parse.document import Block, Fence, Listing, Paragraph, Section, read_document
from optrack.core.parse.draft import Draft
from optrack.core.parse.inline import Inline
from optrack.core.parse.labels import read_label
from optrack.core.parse.lists import entry_drafts, has_boxes
from optrack.core.parse.marks import read_title
from optrack.core.parse.words import is_context, is_order, is_planlike, is_sample, plain

_LANGUAGES = ("", "markdown", "md", "text", "txt", "plain", "plaintext", "todo", "tasks")
_BOX = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])\s+\[[ xX✓✔~\-/]\]\s+\S")
_LEAD = re.compile(r"[^\W_]|[*_#]|[^\x00-\x7f]")
_BELOW = re.compile(r"\s{2,}\S")

_Led = tuple[Listing, Inline | None]


def breakdown_drafts(root: Section, title: Section | None, drafts: list[Draft]) -> list[Draft]:
    """Return the boxes that stand below the name of an item that holds nothing else (`Phase 2: Cleanup`).

    Each box becomes a part of the item named; the first section that breaks an item down counts.
    """
    named = _named(drafts)
    held = {id(d.section) for d in drafts if d.section is not None}
    found: list[Draft] = []
    if not named:
        return found
    where: dict[int, Section] = {}
    for section in (root, *root.walk()):
        if id(section) in held or (section is not title and _is_aside(section, title)):
            continue
        parts = [*_led(section.blocks, section.heading if section is not title else None)]
        for fence, lead in _fences(section):
            if not is_sample(lead):
                parts += _within(fence)
        for listing, above in parts:
            parent = _parent(above, named) if above is not None and has_boxes(listing) else None
            if parent is not None and where.setdefault(id(parent), section) is section:
                found += entry_drafts(listing, parent, numbered=False, bullets=False)
    return found


def fenced_drafts(root: Section, title: Section | None, *, planlike: bool) -> list[Draft]:
    """Return the items of checklists in fences, for a document of things to do that has no others.

    What leads in to such a list there, a line or a heading, is the item that holds it.
    """
    found: list[Draft] = []
    for section in (root, *root.walk()):
        heading = section.heading.text
        top = section is title or section.level == 0
        if not (top and planlike) and (not (is_planlike(heading) or is_order(heading)) or is_sample(heading)):
            continue
        for fence, lead in _fences(section):
            if is_sample(lead) or (is_context(lead) and not is_order(lead)):
                continue
            for listing, above in _within(fence):
                parent = _group(above) if above is not None else None
                found += [parent] if parent is not None else []
                found += entry_drafts(listing, parent, numbered=False, bullets=False)
    return found


def is_checklist(fence: Fence) -> bool:
    """Whether a fence holds a checklist and nothing else: boxes, what stands below them, lines above them."""
    if fence.info.split(" ")[0].casefold() not in _LANGUAGES:
        return False
    lines = fence.content.split("\n")
    boxes = [_BOX.match(line) is not None for line in lines]
    said = [index for index, line in enumerate(lines) if line.strip()]
    if sum(boxes) < 2:
        return False
    for place, index in enumerate(said):
        line, following = lines[index], said[place + 1] if place + 1 < len(said) else index
        starts = index == 0 or not lines[index - 1].strip() or not place
        leads = starts and boxes[following] and _LEAD.match(line)
        below = _BELOW.match(line) and any(boxes[:index])
        if not (boxes[index] or leads or below or line.startswith("#")):
            return False
    return sum(boxes) * 2 >= len(said)


def _is_aside(section: Section, title: Section | None) -> bool:
    """Whether a section, or one around it, is a sample or context, such as criteria of success."""
    at: Section | None = section
    while at is not None and at is not title and at.level:
        heading = at.heading.text
        if is_sample(heading) or (is_context(heading) and not is_order(heading)):
            return True
        at = at.parent
    return False


def _named(drafts: list[Draft]) -> dict[str, Draft]:
    """The items that hold no others, by label and by title, where only one has it."""
    named: dict[str, Draft | None] = {}
    for draft in drafts:
        names = {_folded(draft.title)}
        if draft.label is not None and draft.label.id is not None and draft.label.kind in ("word", "code"):
            names.add(_folded(f"{draft.label.word} {draft.label.id}"))
        for name in names:
            named[name] = None if name in named else draft
    return {name: draft for name, draft in named.items() if draft is not None and not draft.children}


def _parent(lead: Inline, named: dict[str, Draft]) -> Draft | None:
    label = read_label(lead.text) or read_label(f"{plain(lead.text)}:")
    if label is not None and label.id is not None and label.kind in ("word", "code"):
        return named.get(_folded(f"{label.word} {label.id}"))
    return named.get(_folded(read_title(lead).title))


def _group(lead: Inline) -> Draft:
    label = read_label(lead.text)
    label = label if label is not None and label.kind in ("word", "code", "band") else None
    draft = Draft("list", "", lead.line, label=label)
    draft.take_marks(read_title(Inline.of(label.title, lead.line) if label is not None else lead))
    return draft


def _fences(section: Section) -> Iterator[tuple[Fence, str]]:
    lead = ""
    for block in section.blocks:
        if isinstance(block, Fence) and block.closed and is_checklist(block):
            yield block, lead
        lead = block.lines[-1].text if isinstance(block, Paragraph) else ""


def _within(fence: Fence) -> Iterator[_Led]:
    inner = read_document(fence.content, first=fence.line + 1)
    for section in (inner, *inner.walk()):
        yield from _led(section.blocks, section.heading if section.level else None)


def _led(blocks: list[Block], heading: Inline | None) -> Iterator[_Led]:
    """The lists among blocks, each with the line right above it, else the heading around it."""
    lead = heading
    for block in blocks:
        if isinstance(block, Listing):
            yield block, lead
        lead = block.lines[-1] if isinstance(block, Paragraph) else heading


def _folded(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()

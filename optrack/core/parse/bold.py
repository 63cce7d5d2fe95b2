"""Labelled paragraphs in bold (`**Experiment 1: Tree**`) as the headings that they stand for."""

from __future__ import annotations

import re
from itertools import pairwise

from optrack.core.parse.document import Block, Paragraph, Section
from optrack.core.parse.inline import Inline
from optrack.core.parse.labels import Label, read_label
from optrack.core.parse.words import is_context, plain

_TAIL = re.compile(r"\s*(?:[(\[][^()\[\]]{1,60}[)\]]|[^\w\s(\[]{1,4})?\s*[:：]?\s*")


def raise_bold(root: Section, title: Section | None) -> None:
    """Make sections of labelled paragraphs in bold, each with the blocks up to the next one.

    Only sections that aren't single items themselves and that hold two of a kind, or one beside headings
    of that kind, have such paragraphs; a bold line that only names an item elsewhere stays a line.
    """
    sections = [root, *root.walk()]
    words = {
        label.word for s in sections if s is not title and (label := read_label(s.heading.text)) is not None
    }
    for section in sections:
        own = read_label(section.heading.text) if section is not title and section.level else None
        if (own is not None and not _is_group(own)) or (own is None and _is_context(section, title)):
            continue
        _split(section, own, words)


def _split(section: Section, own: Label | None, words: set[str]) -> None:
    found = [(at, label) for at, block in enumerate(section.blocks) if (label := _label(block)) is not None]
    kinds = [_kind(label) for _, label in found]
    found = [
        (at, label)
        for at, label in found
        if kinds.count(_kind(label)) > 1 or (label.word in words and label.kind != "number")
    ]
    if not found or (own is not None and any(label.word == own.word for _, label in found)):
        return
    places = [at for at, _ in found]
    raised = [
        _section(section, section.blocks[start:end])
        for start, end in pairwise([*places, len(section.blocks)])
    ]
    for one, following in pairwise([*raised, *section.sections]):
        one.end = min(one.end, following.line - 1)
    section.sections[:0] = raised
    del section.blocks[places[0] :]


def _section(parent: Section, blocks: list[Block]) -> Section:
    first = blocks[0]
    assert isinstance(first, Paragraph)
    rest = [Paragraph(first.lines[1].line, first.lines[1:])] if len(first.lines) > 1 else []
    return Section(
        parent.level + 1,
        first.line,
        first.lines[0],
        parent=parent,
        end=parent.end,
        blocks=[*rest, *blocks[1:]],
    )


def _label(block: Block) -> Label | None:
    """The label of a paragraph whose first line is bold as a whole, but for a bracket or a sign at its end."""
    if not isinstance(block, Paragraph):
        return None
    line: Inline = block.lines[0].stripped()
    lead = line.lead
    if lead is None or not _TAIL.fullmatch(line.text[line.text.find(lead) + len(lead) :]):
        return None
    label = read_label(lead)
    if label is None or label.id is None or label.loose or is_context(label.title):
        return None
    if label.kind not in ("word", "code", "number", "dotted") or label.title == plain(lead):
        return None
    return label


def _kind(label: Label) -> str:
    return label.kind if label.kind != "word" else label.word


def _is_group(label: Label) -> bool:
    return label.is_group or label.kind in ("number", "dotted")


def _is_context(section: Section, title: Section | None) -> bool:
    return section is not title and section.level > 0 and is_context(section.heading.text)

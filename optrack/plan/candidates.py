"""Candidates: every heading, entry, bold line and table row that could be an item, with what can be seen of it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from optrack.model.plan import Quantity, RecipeLayer, Status
from optrack.plan.attributes import (
    Attribute,
    attributes_in,
    canonical,
    effort_of,
    gain_of,
    is_property_table,
    known_in,
    said_in,
)
from optrack.plan.document import Block, Entry, Fence, Listing, Paragraph, Section, Table
from optrack.plan.fences import checklist
from optrack.plan.labels import Label, read_label
from optrack.plan.marks import Marked, read_title, status_of, take_remark
from optrack.plan.quantity import EFFORT_UNITS, is_quantity
from optrack.plan.recipe_blocks import is_recipe
from optrack.plan.text import Inline
from optrack.plan.vocabulary import level_of, plain, words

Form = Literal["heading", "bold", "entry", "row"]
NOTE = ".note"
_DASH = re.compile(r"\s+(?:—|–|--)\s+|\s—|—\s")
_HYPHEN = re.compile(r"\s+-\s+")
_TAIL = re.compile(r"\s*(?:[(\[（][^()\[\]（）]{1,60}[)\]）]|[^\w\s(\[]{1,4})?\s*[:：]?\s*")
_BOXES: dict[str, Status] = {
    **dict.fromkeys("xX✓✔", "completed"), **dict.fromkeys("~-", "cancelled"), "/": "in_progress",
}  # fmt: skip


@dataclass(eq=False, slots=True)
class Candidate:
    """One place that could be an item; `above` is the candidate in whose place it stands, `lead` the words before
    its list or table, `group` what its list or table is counted as."""

    form: Form
    line: int
    text: Inline
    level: int
    above: Candidate | None = None
    label: Label | None = None
    box: str | None = None
    number: int | None = None
    mark: str | None = None
    lead: str = ""
    group: Listing | Table | None = None
    own: bool = False
    blocks: list[Block] = field(default_factory=list)
    below: list[Candidate] = field(default_factory=list)
    end: int = 0
    marked: Marked = field(default_factory=lambda: Marked(""))
    prose: str = ""
    title: str = ""
    status: Status | None = None
    priority: str | None = None
    risk: str | None = None
    gain: Quantity | None = None
    effort: Quantity | None = None
    attributes: list[Attribute] = field(default_factory=list)
    recipe: RecipeLayer | None = None
    taken: bool = False
    joins_groups: bool = False
    reason: str = ""
    parent: Candidate | None = None
    own_id: str | None = None
    id: str = ""

    @property
    def children(self) -> list[Candidate]:
        """The candidates in its place that were taken as items."""
        return [c for c in self.below if c.taken]

    @property
    def written_id(self) -> str | None:
        """The id that the document itself gives, if it does."""
        if self.mark is not None and self.mark != NOTE:
            return self.mark
        return self.label.id if self.label is not None and self.label.id is not None else self.own_id

    @property
    def is_group(self) -> bool:
        """Whether such items usually hold others, or it stands among such."""
        return self.joins_groups or (self.label is not None and self.label.is_group)

    @property
    def has_recipe(self) -> bool:
        """Whether a recipe block stands in it."""
        return any(isinstance(block, Fence) and is_recipe(block) for block in self.blocks)

    def has(self, *keys: str) -> bool:
        """Whether it has an attribute with one of these canonical keys."""
        return any(attribute.key in keys for attribute in self.attributes)

    def weight(self) -> int:
        """How much it says beyond its title: a recipe most, then its box, then attributes."""
        own = (self.gain is not None) + (self.effort is not None) + self.has("needs", "risk", "skip_if")
        return own + 4 * self.has_recipe + 2 * (self.box is not None) + sum(c.weight() for c in self.children)

    def read(self, without: Collection[int] = ()) -> None:
        """Read title, gain, effort and status from the marks of its line, its blocks and the prose after its title;
        `without` the lists whose entries are items of their own."""
        marked, prose = self.marked, self.prose
        self.title, self.status, self.priority = marked.title, marked.status, marked.priority
        self.risk, self.gain, self.effort = marked.risk, marked.gain, marked.effort
        blocks = [b for b in self.blocks if id(b) not in without] if without else self.blocks
        self.attributes = list(attributes_in(blocks))
        self.attributes += known_in(prose, self.line)
        gain, effort = gain_of(self.attributes), effort_of(self.attributes)
        if gain is not None and (self.gain is None or gain.low is not None or gain.high is not None):
            self.gain = gain
        if effort is not None and effort.unit and effort.unit not in EFFORT_UNITS:
            self.gain, effort = self.gain or effort, None
        self.effort = effort or self.effort
        if prose and (self.gain is None or self.effort is None):
            said = said_in(prose)
            self.gain, self.effort = self.gain or said[0], self.effort or said[1]
        status = next((a for a in self.attributes if a.key == "status"), None)
        if self.box is None and status is not None:
            self.status = status_of(status.value) or self.status
        if self.box is None and self.status is None and _starts_done(blocks):
            self.status = "completed"


def is_baseline(candidate: Candidate) -> bool:
    """Whether it is the baseline, which holds nothing to do."""
    return candidate.label is not None and candidate.label.kind == "baseline"


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
    title, prose = split_title(line, label)
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


def split_title(line: Inline, label: Label | None) -> tuple[Inline, str]:
    """Return the title's part of an entry's text, and the prose that follows it."""
    if label is not None and label.kind != "baseline":
        at = line.text.find(label.title[:40])
        line = line.after(at) if at > 0 else line
    lead = line.stripped().lead
    if line.is_struck and not line.all_struck:
        end = line.struck_end
        return line.cut(end), line.text[end:].lstrip(" :—–-.")
    text = line.text
    at = text.find(lead) + len(lead) if lead is not None else 0
    tail = text[at:]
    if lead is not None and (len(plain(lead)) > 2 or tail.lstrip()[:1] in (":", "：")):
        bracket = re.match(r"\s*[(（][^()（）]*[)）]", tail)
        if bracket is not None:
            at, tail = at + bracket.end(), tail[bracket.end() :]
        return line.cut(at), tail.lstrip(" :：—–-")
    dash = _DASH.search(text, 2)
    if dash is None:
        hyphen = _HYPHEN.search(text, 2)
        coded = bool(line.spans) and line.spans[0].code and hyphen is not None
        dash = hyphen if hyphen is not None and (coded or is_quantity(text[hyphen.end() :])) else None
    if dash is not None:
        return line.cut(dash.start()), text[dash.end() :]
    return line, ""


def _starts_done(blocks: list[Block]) -> bool:
    """Whether an item's text starts by saying that nothing is left to do."""
    first = next(iter(blocks), None)
    if isinstance(first, Listing) and first.entries and first.entries[0].box is None:
        lines = first.entries[0].lines
    elif isinstance(first, Paragraph):
        lines = first.lines
    else:
        return False
    return bool(lines) and words("status", "already").start(Inline.joined(lines).text[:120]) > 0


def _last(block: Block) -> int:
    if isinstance(block, Fence):
        return block.line + block.content.count("\n") + 1
    if isinstance(block, Listing):
        return max((max([e.line, *(_last(b) for b in e.blocks)]) for e in block.entries), default=block.line)
    return block.line

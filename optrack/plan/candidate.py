"""A candidate: one heading, entry, bold line or row that could be an item, what was read of it, what that shows."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal

from optrack.model.plan import Quantity, RecipeLayer, Status
from optrack.plan.attributes import Attribute, attributes_in, effort_of, gain_of, known_in, said_in
from optrack.plan.blocks import Block, Fence, Inline, Listing, Paragraph, Table
from optrack.plan.fences import is_recipe
from optrack.plan.labels import Label
from optrack.plan.marks import Marked, status_of
from optrack.plan.quantity import EFFORT_UNITS
from optrack.plan.vocabulary import (
    entries,
    is_context,
    is_order,
    is_plan_title,
    is_planlike,
    is_sample,
    words,
)

Form = Literal["heading", "bold", "entry", "row"]
NOTE = ".note"


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


@dataclass(frozen=True, slots=True)
class Place:
    """What stands around a series: the item that holds it, and what the headings above it speak of."""

    item: Candidate | None = None
    planlike: bool = False
    context: bool = False
    order: bool = False
    sample: bool = False
    sure: bool = False
    depth: int = 0

    def below(self, heading: Candidate) -> Place:
        """Return the place below a heading that is no item; context holds for all that stands below it."""
        words = heading.text.text
        order = is_order(words)
        planlike = is_planlike(words)
        context = is_context(words) and not order and not (planlike and not self.context and self.depth == 0)
        return Place(
            self.item,
            planlike,
            self.context or context,
            self.order or order,
            self.sample or is_sample(words),
            self.sure or (heading.label is None and is_plan_title(words)),
            self.depth + 1,
        )

    def within(self, item: Candidate) -> Place:
        """Return the place below a heading that is an item."""
        return Place(item, is_planlike(item.text.text), depth=self.depth + 1)


def of_label(members: list[Candidate]) -> float:
    label = members[0].label
    assert label is not None
    kinds = {c.label.kind for c in members if c.label is not None}
    match label.kind:
        case "word":
            points = 0.5 if label.word in entries("labels", "soft") else 2.0
        case "code":
            points = 1.5
        case "band" | "baseline":
            points = 2.0
        case _:
            points = 0.5
    return max(points, 1.5) if "code" in kinds else points


def of_parent(members: list[Candidate], item: Candidate) -> float:
    """What it says for a series to stand below an item: numbers go on from the item's, or from a group."""
    label, above = members[0].label, item.written_id
    assert label is not None
    if label.kind == "dotted" and above is not None and (label.id or "").startswith(f"{above}."):
        return 2.0
    if label.kind == "dotted":
        return (
            2.0
            if item.label is not None and item.label.kind in ("word", "number", "code", "dotted", "band")
            else 0.5
        )
    if item.is_group:
        return 1.5
    return 0.5 if label.kind == "word" and members[0].form == "heading" else -0.5


def of_list_parent(group: Listing, item: Candidate, *, bold: bool) -> float:
    band = item.label is not None and item.label.kind == "band"
    if group.ordered:
        return 1.5 if item.is_group else 0.0
    return 2.5 if band else 1.5 if item.is_group and bold else 0.0


def is_told(candidate: Candidate) -> bool:
    """Whether a candidate shows what only something to do has: an amount, a state, a box, a recipe."""
    if candidate.gain is not None or candidate.effort is not None or candidate.status is not None:
        return True
    if candidate.has("needs", "skip_if", "status", "priority", "effort") or candidate.has_recipe:
        return True
    inner = (e for c in candidate.below for e in (c, *(c.below if c.label is not None else ())))
    return any(e.box is not None for e in inner)


def is_titled(candidate: Candidate, group: Listing) -> bool:
    """Whether an entry starts with a title in bold, and not with a name before a colon (`**Before:** 3 ms`)."""
    lead = candidate.text.lead
    return candidate.text.is_struck or (
        lead is not None and (group.ordered or not lead.endswith((":", "：")))
    )


def is_aside(candidate: Candidate) -> bool:
    return is_order(candidate.text.text) or (
        is_context(candidate.text.text) and not is_planlike(candidate.title)
    )


def is_leaf(item: Candidate | None) -> bool:
    """Whether an item is one single thing to do, so that numbers below it are its steps."""
    return (
        item is not None and not item.is_group and not (item.label is not None and item.label.kind == "band")
    )


def holds_groups(candidate: Candidate) -> bool:
    return (
        sum(c.form == "heading" and c.label is not None and c.label.kind == "word" for c in candidate.below)
        > 1
    )

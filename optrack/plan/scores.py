"""What members of a series show, in points: their labels, their parents, and what only things to do have."""

from __future__ import annotations

from dataclasses import dataclass

from optrack.plan.blocks import Listing
from optrack.plan.candidate import Candidate
from optrack.plan.vocabulary import entries, is_context, is_order, is_plan_title, is_planlike, is_sample


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

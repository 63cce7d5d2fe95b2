"""What stands around a series, and what its members show: the features that its score is made of."""

from __future__ import annotations

from dataclasses import dataclass

from optrack.plan.parts import Candidate, Listing
from optrack.plan.vocabulary import is_context, is_order, is_plan_title, is_planlike, is_sample


@dataclass(frozen=True, slots=True)
class Place:
    """The item that holds a series, and what the headings above it speak of; context holds for all below it."""

    item: Candidate | None = None
    planlike: bool = False
    context: bool = False
    order: bool = False
    sample: bool = False
    sure: bool = False
    depth: int = 0

    def below(self, heading: Candidate) -> Place:
        """Return the place below a heading."""
        words = heading.words
        planlike, order = is_planlike(words), is_order(words)
        if heading.taken:
            return Place(heading, planlike, depth=self.depth + 1)
        sure = heading.label is None and is_plan_title(words)
        context = is_context(words)
        named_plan = planlike and not self.context and self.depth == 0
        return Place(
            self.item,
            planlike,
            (self.context and (context or not sure)) or (context and not order and not named_plan),
            self.order or order,
            self.sample or is_sample(words),
            self.sure or sure,
            self.depth + 1,
        )


def is_leaf(item: Candidate | None) -> bool:
    """Whether an item is one single thing to do, so that numbers below it are its steps."""
    return item is not None and not item.is_group


def is_evident(candidate: Candidate) -> bool:
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
    named = lead is not None and not group.ordered and lead.endswith((":", "："))
    return candidate.text.is_struck or (lead is not None and not named)


def is_aside(candidate: Candidate) -> bool:
    """Whether a candidate speaks of what surrounds a plan and shows nothing else."""
    context = is_context(candidate.words) and not is_planlike(candidate.title)
    return (is_order(candidate.words) or context) and not is_evident(candidate)


def holds_groups(candidate: Candidate) -> bool:
    """Whether labelled headings stand below it."""
    return sum(c.form == "heading" and c.kind == "word" for c in candidate.below) > 1


def label_points(members: list[Candidate]) -> float:
    """What the kind of a series' labels says."""
    label = members[0].label
    if label is None:
        return 0.0
    if label.kind in ("word", "band", "baseline") and not label.is_soft:
        return 2.0
    return 1.5 if any(c.kind == "code" for c in members) else 0.5


def parent_points(members: list[Candidate], item: Candidate) -> float:
    """What it says for a series to stand below an item: numbers go on from the item's, or from a group."""
    first, above = members[0], item.written_id
    if first.kind == "dotted":
        goes_on = above is not None and (first.written_id or "").startswith(f"{above}.")
        return 2.0 if goes_on or item.kind not in ("", "other", "baseline") else 0.5
    if item.is_group:
        return 1.5
    return 0.5 if first.kind == "word" and first.form == "heading" else -0.5


def list_points(group: Listing, item: Candidate, *, bold: bool) -> float:
    """What it says for a list to stand directly below an item."""
    if group.ordered:
        return 1.5 if item.is_group else 0.0
    return 2.5 if item.kind == "band" else 1.5 if item.is_group and bold else 0.0

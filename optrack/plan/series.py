"""Series of candidates: those of one place and kind whose labels go on, taken or left as a whole by a score.

A score is a sum of what members show (labels, boxes, attributes, marks, recipes) and of where they stand (below
an item, below a heading that speaks of things to do, below one of context). Words of a title never drop a
numbered member; they only weigh in the score of a series that nothing else supports.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from optrack.plan.blocks import Listing, Table
from optrack.plan.candidate import (
    NOTE,
    Candidate,
    Place,
    holds_groups,
    is_aside,
    is_baseline,
    is_leaf,
    is_titled,
    is_told,
    of_label,
    of_list_parent,
    of_parent,
)
from optrack.plan.tables import Columns, columns_of, read_rows
from optrack.plan.vocabulary import entries, is_context, is_planlike, is_sample

ENOUGH = 1.5
ENOUGH_BULLETS = 2.0
SURE = 3.0
"""Score from which entries are items although headings are too, and wherever they stand."""


@dataclass(slots=True)
class Reader:
    """Decides about every candidate; `certain` documents are plans, `other` ones are named as something else."""

    planlike: bool
    other: bool
    orders: bool = False
    context: bool = False
    first_recipe: int = 0
    titled: set[tuple[str, str]] = field(default_factory=set)
    taken_ids: set[str | None] = field(default_factory=set)

    def take_headings(self, top: Candidate) -> None:
        """Take the series of headings and bold lines, each under the item that holds it."""
        stack: list[tuple[Candidate, Place]] = [(top, Place(planlike=self.planlike))]
        while stack:
            here, place = stack.pop()
            headings = [c for c in here.below if c.form in ("heading", "bold")]
            self._take_below(here, headings, place)
            for candidate in reversed(headings):
                if candidate.taken:
                    stack.append((candidate, place.within(candidate)))
                else:
                    stack.append((candidate, place.below(candidate)))

    def _take_below(self, here: Candidate, headings: list[Candidate], place: Place) -> None:
        groups: defaultdict[tuple[str, str], list[Candidate]] = defaultdict(list)
        for candidate in headings:
            if candidate.label is not None:
                groups[candidate.form, candidate.label.series].append(candidate)
            if (candidate.mark is not None and candidate.mark != NOTE) or (
                candidate.has_recipe and self._runs_alone(candidate, headings, place)
            ):
                _take(candidate, place.item)
        firm = {c.label.word for c in headings if c.label is not None and not c.label.loose}
        for (form, _), members in groups.items():
            members = [c for c in members if c.mark != NOTE and not self._only_mentions(c, firm)]
            taken = any(c.taken for c in headings if c.form == "heading" and c.label is not None)
            if not members or (form == "bold" and (taken or is_leaf(place.item))):
                continue
            beside_baseline = any(is_baseline(c) for c in headings) and not is_baseline(members[0])
            if self._score(members, place) + 2.0 * beside_baseline >= ENOUGH or (
                form == "heading" and any(c.has_recipe for c in members)
            ):
                for member in members:
                    _take(member, place.item)
        _take_unlabelled(headings, place)

    def _only_mentions(self, candidate: Candidate, firm: set[str]) -> bool:
        """Whether a label without title, or without a sign behind it, only mentions an item (`Tier 1 verification`)."""
        label = candidate.label
        if label is not None and label.is_bare and (label.word, label.id) in self.titled:
            return True
        if label is None or not label.loose:
            return False
        return label.word in firm or is_context(label.title) or label.title[:1].islower()

    def _score(self, members: list[Candidate], place: Place) -> float:
        label = members[0].label
        assert label is not None
        points = of_label(members)
        points += 1.5 * sum(is_told(c) for c in members) / len(members)
        numbered = label.kind in ("number", "dotted", "other") or label.word in entries("labels", "soft")
        item = place.item
        if item is not None:
            points += of_parent(members, item)
        else:
            other = self.other and not place.sure
            points += 1.0 * (not other and (place.planlike or (self.planlike and place.depth <= 1)))
            if numbered:
                points -= 2.5 * sum(is_aside(c) and not is_told(c) for c in members) / len(members)
                points += 1.5 * sum(holds_groups(c) for c in members) / len(members)
                points += 0.8 * sum(is_planlike(c.title) for c in members) / len(members)
                points -= 1.0 * (len(members) == 1 and not self.planlike)
            points -= 2.0 * other
        if members[0].form == "bold" and len(members) == 1:
            points -= 1.0
        points -= 2.5 * (place.context and not self.context) + 4.0 * place.sample
        return points - 2.0 * (place.order and not self.orders)

    def _runs_alone(self, candidate: Candidate, headings: list[Candidate], place: Place) -> bool:
        """Whether a heading's recipe is its own: not the base recipe, nor that of the item around."""
        if candidate.label is not None or candidate.mark == NOTE:
            return False
        if place.item is None:
            return candidate.line > self.first_recipe and not is_context(candidate.text.text)
        return sum(c.has_recipe for c in headings) > 1

    def take_entries(self, top: Candidate, *, items: bool) -> None:
        """Take the series of entries and rows; where headings are items, only below these or beyond doubt."""
        signature: tuple[str, ...] | None = None
        stack: list[tuple[Candidate, Place]] = [(top, Place(planlike=self.planlike))]
        while stack:
            here, place = stack.pop()
            for group, members in _groups(here):
                if isinstance(group, Table):
                    signature = self._take_rows(group, members, here, place, signature, items=items)
                elif here.taken and is_baseline(here):
                    continue
                elif self._takes_entries(group, members, here, place, items=items):
                    boxes = any(c.box is not None for c in members) and not group.ordered
                    for member in members:
                        marked = member.box is not None or member.label is not None or member.mark is not None
                        if member.mark != NOTE and (marked or not boxes):
                            _take_entry(member, place.item)
            for candidate in reversed(here.below):
                if candidate.form in ("heading", "bold"):
                    stack.append(
                        (candidate, place.within(candidate) if candidate.taken else place.below(candidate))
                    )

    def _takes_entries(
        self, group: Listing, members: list[Candidate], here: Candidate, place: Place, *, items: bool
    ) -> bool:
        points = self._entry_points(group, members, here, place)
        points -= 1.5 * (items and place.order)
        if any(c.mark not in (None, NOTE) or c.has_recipe for c in members):
            return True
        if here.label is not None and not here.taken and (here.label.word, here.label.id) in self.titled:
            return False
        boxed = sum(c.box is not None for c in members) * 2 > len(group.entries)
        loose = place.item is None and items and not boxed
        again = sum(c.label is not None and c.label.id in self.taken_ids for c in members)
        if loose and again * 2 > len(members):
            return False
        return points >= (SURE if loose else ENOUGH if group.ordered or boxed else ENOUGH_BULLETS)

    def _entry_points(self, group: Listing, members: list[Candidate], here: Candidate, place: Place) -> float:
        count = len(group.entries)
        labels = sum(c.label is not None and c.label.kind != "baseline" for c in members)
        boxes = sum(c.box is not None for c in members)
        told = sum(c.has("gain", "effort") or (group.ordered and bool(c.gain or c.effort)) for c in members)
        marked = sum(c.status is not None and c.box is None for c in members)
        bold = sum(is_titled(c, group) for c in members) * 2 > count
        points = (
            0.5 * group.ordered
            + 0.5 * bold
            + 3.0 * (boxes * 2 > count)
            + 1.5 * told / count
            + 1.0 * bool(marked)
        )
        points += 2.0 * (labels * 2 > count and (labels > 1 or place.item is not None))
        points -= 3.0 * ((count - len(members)) * 2 >= count)
        lead = members[0].lead
        item = place.item
        direct = here is item
        if item is not None and direct and not lead and members[0].own:
            points += of_list_parent(group, item, bold=bold)
        elif lead:
            points += 1.0 if is_planlike(lead) else -1.5
            points -= 2.5 * (is_context(lead) and not is_planlike(lead)) + 4.0 * is_sample(lead)
        elif place.planlike or (self.planlike and not place.depth):
            points += 1.0
        if item is not None and is_leaf(item) and not boxes:
            points -= 2.0
        points -= 2.0 * (self.other and not place.sure and item is None)
        aside = place.context and not self.context and not (marked and is_planlike(lead))
        points -= 2.5 * aside + 4.0 * place.sample
        return points - (1.5 if item is None else 3.0) * (place.order and not self.orders)

    def _take_rows(
        self,
        table: Table,
        members: list[Candidate],
        here: Candidate,
        place: Place,
        signature: tuple[str, ...] | None,
        *,
        items: bool,
    ) -> tuple[str, ...] | None:
        columns = columns_of(table)
        if (
            columns is None
            or (place.context and not self.context)
            or (place.order and not self.orders)
            or place.sample
        ):
            return signature
        item = place.item
        if item is not None:
            ranked = columns.is_ranked or columns.says_amounts
            if ranked and not is_leaf(item) and not any(c.taken for c in here.below if c.form == "heading"):
                self._take_all(read_rows(table, columns, members), place)
            return signature
        if items or (self.other and not columns.is_ranked):
            return signature
        if not _lists_items(columns, place) or (signature is not None and signature != columns.names):
            return signature
        self._take_all(read_rows(table, columns, members), place)
        return columns.names

    def _take_all(self, members: Iterable[Candidate], place: Place) -> None:
        for member in members:
            if member.mark != NOTE:
                _take(member, place.item)


def _lists_items(columns: Columns, place: Place) -> bool:
    ranked = columns.is_ranked and (columns.says_amounts or "status" in columns.keys.values())
    return ranked or (place.planlike and (columns.says_amounts or columns.is_ranked))


def _groups(here: Candidate) -> list[tuple[Listing | Table, list[Candidate]]]:
    groups: dict[int, tuple[Listing | Table, list[Candidate]]] = {}
    for candidate in here.below:
        if candidate.group is not None:
            groups.setdefault(id(candidate.group), (candidate.group, []))[1].append(candidate)
    return list(groups.values())


def _take(candidate: Candidate, parent: Candidate | None) -> None:
    candidate.taken = True
    candidate.parent = parent


def _take_entry(candidate: Candidate, parent: Candidate | None) -> None:
    """Take an entry, and the boxed and labelled ones nested in it."""
    stack = [(candidate, parent)]
    while stack:
        entry, above = stack.pop()
        _take(entry, above)
        for inner in entry.below:
            if inner.mark != NOTE and (
                inner.box is not None or inner.label is not None or inner.has_recipe or inner.mark
            ):
                stack.append((inner, entry))


def _take_unlabelled(headings: list[Candidate], place: Place) -> None:
    """Take headings without a label that stand in a series: below a band, or beside its members with their kind of
    amounts or the numbers that go on."""
    free = [c for c in headings if c.label is None and not c.taken and c.mark != NOTE and c.form == "heading"]
    taken = [c for c in headings if c.taken and c.form == "heading" and c.label is not None]
    bands = [c for c in taken if c.label is not None and c.label.kind == "band"]
    told = sum(bool(c.effort or c.gain) for c in taken)
    numbers = {
        c.label.id for band in bands for c in band.below if c.label is not None and c.label.kind == "number"
    }
    numbers |= {c.own_id for band in bands for c in band.below if c.own_id is not None}
    for candidate in free:
        if not taken:
            break
        amounts = candidate.line > taken[0].line and bool(candidate.effort) and told * 2 >= len(taken)
        goes_on = bool(bands) and any(_follows(c, numbers) for c in candidate.below)
        if (amounts and not is_context(candidate.title)) or goes_on:
            candidate.joins_groups = taken[0].is_group
            _take(candidate, place.item)
    if place.item is None or taken:
        return
    free = [c for c in free if not is_context(c.text.text) and not c.text.text.rstrip().endswith(":")]
    band = place.item.label is not None and place.item.label.kind == "band"
    telling = [c for c in free if c.has("gain", "effort", "weak_gain") and (c.gain or c.effort)]
    if band or (place.item.is_group and telling and len(telling) * 2 >= len(free)):
        for candidate in free if band else telling:
            _take(candidate, place.item)


def _follows(candidate: Candidate, numbers: set[str | None]) -> bool:
    number = candidate.own_id or (candidate.label.id if candidate.label is not None else None)
    return (
        number is not None and number.isdigit() and number not in numbers and str(int(number) - 1) in numbers
    )

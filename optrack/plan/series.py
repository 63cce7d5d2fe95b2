"""Series of candidates: those of one place and kind whose labels go on, taken or left as a whole by a score.

A score is a sum of what members show (labels, boxes, attributes, marks, recipes) and of where they stand (below
an item, below a heading that speaks of things to do, below one of context). Words of a title never drop a
numbered member; they only weigh in the score of a series that nothing else supports.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from optrack.plan.parts import NOTE, Candidate, Listing, Table
from optrack.plan.place import (
    Place,
    holds_groups,
    is_aside,
    is_evident,
    is_leaf,
    is_titled,
    label_points,
    list_points,
    parent_points,
)
from optrack.plan.tables import columns_of, read_rows
from optrack.plan.vocabulary import is_context, is_planlike, is_sample

_ENOUGH = 1.5
_ENOUGH_BULLETS = 2.0
_SURE = 3.0
"""Score from which entries are items although headings are too, and wherever they stand."""


@dataclass(slots=True)
class Chooser:
    """Decides about every series; the document's title says that it is a plan (`planlike`) or something `other`.

    With `orders` and `context`, headings that speak of an order, or of what surrounds a plan, count against nothing.
    """

    planlike: bool
    other: bool
    orders: bool = False
    context: bool = False
    first_recipe: int = 0
    titled: set[str] = field(default_factory=set)
    taken_ids: set[str | None] = field(default_factory=set)

    def take_headings(self, top: Candidate) -> None:
        """Take the series of headings and bold lines, each under the item that holds it."""
        for here, place in self._places(top):
            self._take_below([c for c in here.below if c.form in ("heading", "bold")], place)

    def take_entries(self, top: Candidate, *, items: bool) -> None:
        """Take the series of entries and rows; where headings are `items`, only below these or beyond doubt."""
        names: tuple[str, ...] | None = None
        for here, place in self._places(top):
            for group, members in _groups(here):
                if isinstance(group, Table):
                    names = self._take_rows(group, here, place, names, items=items) or names
                elif not (here.taken and here.kind == "baseline") and self._takes(
                    group, members, here, place, items=items
                ):
                    boxes = any(c.box is not None for c in members) and not group.ordered
                    for member in members:
                        marked = member.box is not None or member.label is not None or member.mark is not None
                        if marked or not boxes:
                            _take_entry(member, place.item)

    def _places(self, top: Candidate) -> Iterator[tuple[Candidate, Place]]:
        """Yield what headings and bold lines hold, each after what is above it was decided."""
        stack: list[tuple[Candidate, Place]] = [(top, Place(planlike=self.planlike))]
        while stack:
            here, place = stack.pop()
            yield here, place
            below = [c for c in reversed(here.below) if c.form in ("heading", "bold")]
            stack.extend((candidate, place.below(candidate)) for candidate in below)

    def _take_below(self, headings: list[Candidate], place: Place) -> None:
        groups: defaultdict[tuple[str, str], list[Candidate]] = defaultdict(list)
        firm = {c.label.word for c in headings if c.label is not None and not c.label.loose}
        recipes = sum(c.has_recipe for c in headings)
        for candidate in headings:
            if candidate.label is not None and candidate.mark != NOTE and not self._mentions(candidate, firm):
                groups[candidate.form, candidate.label.series].append(candidate)
            if candidate.mark is not None or (
                candidate.has_recipe and self._runs_alone(candidate, recipes, place)
            ):
                _take(candidate, place.item)
        baseline = any(c.kind == "baseline" for c in headings)
        for (form, _), members in groups.items():
            numbered = any(c.taken for c in headings if c.form == "heading" and c.label is not None)
            if form == "bold" and (numbered or is_leaf(place.item)):
                continue
            runs = form == "heading" and any(c.has_recipe for c in members)
            beside = 2.0 * (baseline and members[0].kind != "baseline")
            if runs or self._series_points(members, place) + beside >= _ENOUGH:
                for member in members:
                    _take(member, place.item)
        _take_unlabelled(headings, place)

    def _mentions(self, candidate: Candidate, firm: set[str]) -> bool:
        """Whether a label without title, or without a sign behind it, only mentions an item (`Tier 1 verification`)."""
        label = candidate.label
        if label is None or (label.name in self.titled and label.is_bare):
            return True
        return label.loose and (label.word in firm or is_context(label.title) or label.title[:1].islower())

    def _runs_alone(self, candidate: Candidate, recipes: int, place: Place) -> bool:
        """Whether a heading's recipe is its own: not the base recipe, nor that of the item around."""
        if candidate.label is not None:
            return False
        if place.item is not None:
            return recipes > 1
        return candidate.line > self.first_recipe and not is_context(candidate.words)

    def _series_points(self, members: list[Candidate], place: Place) -> float:
        def share(shows: Callable[[Candidate], bool]) -> float:
            return sum(map(shows, members)) / len(members)

        label, alone = members[0].label, len(members) == 1
        points = label_points(members) + 1.5 * share(is_evident)
        points -= 1.0 * (alone and members[0].form == "bold")
        points -= 2.5 * (place.context and not self.context) + 4.0 * place.sample
        points -= 2.0 * (place.order and not self.orders)
        if place.item is not None:
            return points + parent_points(members, place.item)
        other = self.other and not place.sure
        points -= 2.0 * other
        points += 1.0 * (not other and (place.planlike or (self.planlike and place.depth <= 1)))
        if label is not None and label.is_soft:
            points += 1.5 * share(holds_groups) + 0.8 * share(lambda c: is_planlike(c.title))
            points -= 2.5 * share(is_aside) + 1.0 * (alone and not self.planlike)
        return points

    def _takes(
        self, group: Listing, members: list[Candidate], here: Candidate, place: Place, *, items: bool
    ) -> bool:
        if any(c.mark not in (None, NOTE) or c.has_recipe for c in members):
            return True
        if here.label is not None and not here.taken and here.label.name in self.titled:
            return False
        boxed = sum(c.box is not None for c in members) * 2 > len(group.entries)
        beside = place.item is None and items and not boxed
        if beside and sum(c.label is not None and c.label.id in self.taken_ids for c in members) * 2 > len(
            members
        ):
            return False
        points = self._list_points(group, members, here, place) - 1.5 * (items and place.order)
        return points >= (_SURE if beside else _ENOUGH if group.ordered or boxed else _ENOUGH_BULLETS)

    def _list_points(self, group: Listing, members: list[Candidate], here: Candidate, place: Place) -> float:
        def count(shows: Callable[[Candidate], bool]) -> int:
            return sum(map(shows, members))

        size, item, lead = len(group.entries), place.item, members[0].lead
        labels = count(lambda c: c.kind not in ("", "baseline"))
        boxes = count(lambda c: c.box is not None)
        amounts = count(lambda c: c.has("gain", "effort") or (group.ordered and bool(c.gain or c.effort)))
        marked = count(lambda c: c.status is not None and c.box is None) > 0
        bold = count(lambda c: is_titled(c, group)) * 2 > size
        points = 0.5 * group.ordered + 0.5 * bold + 1.0 * marked + 1.5 * amounts / size
        points += 3.0 * (boxes * 2 > size) - 3.0 * ((size - len(members)) * 2 >= size)
        points += 2.0 * (labels * 2 > size and (labels > 1 or item is not None))
        if item is not None and here is item and not lead and members[0].own:
            points += list_points(group, item, bold=bold)
        elif lead:
            planlike = is_planlike(lead)
            points += 1.0 if planlike else -1.5
            points -= 2.5 * (is_context(lead) and not planlike) + 4.0 * is_sample(lead)
        else:
            points += 1.0 * (place.planlike or (self.planlike and not place.depth))
        points -= 2.0 * (is_leaf(item) and not boxes)
        points -= 2.0 * (self.other and not place.sure and item is None)
        points -= 2.5 * (place.context and not self.context and not (marked and is_planlike(lead)))
        points -= 4.0 * place.sample
        return points - (1.5 if item is None else 3.0) * (place.order and not self.orders)

    def _take_rows(
        self, table: Table, here: Candidate, place: Place, names: tuple[str, ...] | None, *, items: bool
    ) -> tuple[str, ...] | None:
        """Take a table's rows, where no table with other columns (`names`) was taken; return its columns' names."""
        columns = columns_of(table)
        aside = (place.context and not self.context) or (place.order and not self.orders) or place.sample
        if columns is None or aside:
            return None
        ranked, amounts = columns.is_ranked, columns.has_amounts
        if place.item is not None:
            headings = any(c.taken for c in here.below if c.form == "heading")
            takes = (ranked or amounts) and not is_leaf(place.item) and not headings
        else:
            stated = ranked and (amounts or "status" in columns.keys.values())
            takes = stated or (place.planlike and (amounts or ranked))
            takes = takes and not items and not (self.other and not ranked) and names in (None, columns.names)
        for row in read_rows(table, columns) if takes else ():
            if row.mark != NOTE:
                _take(row, place.item)
        return columns.names if takes and place.item is None else None


def _groups(here: Candidate) -> list[tuple[Listing | Table, list[Candidate]]]:
    groups: dict[int, tuple[Listing | Table, list[Candidate]]] = {}
    for candidate in here.below:
        if candidate.group is not None:
            groups.setdefault(id(candidate.group), (candidate.group, []))[1].append(candidate)
    return list(groups.values())


def _take(candidate: Candidate, parent: Candidate | None) -> None:
    if candidate.mark != NOTE:
        candidate.taken = True
        candidate.parent = parent


def _take_entry(candidate: Candidate, parent: Candidate | None) -> None:
    """Take an entry, and the boxed and labelled ones nested in it."""
    stack = [(candidate, parent)]
    while stack:
        entry, above = stack.pop()
        _take(entry, above)
        if entry.taken:
            stack.extend((c, entry) for c in entry.below if c.box or c.label or c.has_recipe or c.mark)


def _take_unlabelled(headings: list[Candidate], place: Place) -> None:
    """Take headings without a label that stand in a series: below a band, or beside its members with their kind of
    amounts or the numbers that go on."""
    free = [c for c in headings if c.label is None and not c.taken and c.mark != NOTE and c.form == "heading"]
    taken = [c for c in headings if c.taken and c.form == "heading" and c.label is not None]
    if taken:
        below = [c for band in taken if band.kind == "band" for c in band.below]
        numbers = {c.own_id if c.label is None else c.label.id for c in below}
        evident = sum(bool(c.effort or c.gain) for c in taken) * 2 >= len(taken)
        for candidate in free:
            amounts = candidate.line > taken[0].line and candidate.effort is not None and evident
            goes_on = any(_follows(c, numbers) for c in candidate.below)
            if goes_on or (amounts and not is_context(candidate.title)):
                candidate.joins_groups = taken[0].is_group
                _take(candidate, place.item)
        return
    if place.item is None:
        return
    free = [c for c in free if not is_context(c.words) and not c.words.rstrip().endswith(":")]
    telling = [c for c in free if c.has("gain", "effort", "weak_gain") and (c.gain or c.effort)]
    most = place.item.is_group and telling and len(telling) * 2 >= len(free)
    for candidate in free if place.item.kind == "band" else telling if most else ():
        _take(candidate, place.item)


def _follows(candidate: Candidate, numbers: set[str | None]) -> bool:
    number = candidate.own_id or (candidate.label.id if candidate.label is not None else None)
    if number is None or not number.isdigit() or number in numbers:
        return False
    return str(int(number) - 1) in numbers

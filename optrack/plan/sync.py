"""What an edited plan means for the items already known: which are the same, new, renamed, moved or gone."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence

from optrack.errors import PlanError
from optrack.model.item import Transition
from optrack.model.plan import Item, Plan
from optrack.model.value import Frozen, canonical, digest, value_text


class Known(Frozen):
    """An item as the database has it: `key` is its own number there, which nothing changes.

    `added` ones were never in the plan's text, so that they don't vanish with it.
    """

    key: int
    id: str
    title: str
    parent: str | None
    rank: int
    archived: bool = False
    added: bool = False


class Renamed(Frozen):
    """An item whose label or title changed and whose history went with it."""

    before_id: str
    after_id: str
    before_title: str
    after_title: str


class Matching(Frozen):
    """Which known item each of the plan's is (`keys`, in plan order, None for a new one), and what follows.

    `gone` are the keys of items no longer in the plan; `displaced` has the key of an archived item and the id
    it gets because another item took its own. `ambiguous` has a sentence for each item that could have been
    several.
    """

    keys: tuple[int | None, ...]
    gone: tuple[int, ...] = ()
    displaced: tuple[tuple[int, str], ...] = ()
    renamed: tuple[Renamed, ...] = ()
    moved: tuple[str, ...] = ()
    revived: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()


class Synced(Frozen):
    """What syncing a plan changed, by item id; all empty when the plan is as it was."""

    plan: str
    first: bool = False
    added: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    revived: tuple[str, ...] = ()
    renamed: tuple[Renamed, ...] = ()
    moved: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()
    transitions: tuple[Transition, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything about the items is other than before."""
        return bool(self.added or self.archived or self.revived or self.renamed or self.moved or self.edited)


def stamp_of(plan: Plan, digests: Mapping[str, str]) -> str:
    """Return the digest of all that a sync reads: a plan with the stamp of its last sync needs none."""
    return digest(value_text(plan) + canonical(digests))


class _Entry:
    """An item on either side of the matching: its place in the sequence, its label, its titles' path."""

    __slots__ = ("id", "index", "path", "title")

    def __init__(self, index: int, label: str, title: str, path: tuple[str, ...]) -> None:
        self.index = index
        self.id = label
        self.title = title
        self.path = path


def match_items(known: Sequence[Known], items: Sequence[Item]) -> Matching:
    """Tell which known item each item of the plan is.

    An item keeps its history under its id. Labels such as "Priority 2" are positions, though, and move on
    when something is inserted above: so a title that occurs once on both sides outweighs a label, and a label
    alone decides only for items whose titles are found nowhere else. Archived items come back by title only;
    one whose label was given to something else keeps its history under `label~1`.
    """
    _refuse_duplicates(items)
    old = _entries(known)
    new = _entries(items)
    found: dict[int, int] = {}
    live = [entry for entry in old if not known[entry.index].archived]
    archived = [entry for entry in old if known[entry.index].archived]
    for key in (_by_label_and_title, _by_path, _by_title):
        for side in (live, archived):
            _pair(found, side, new, key)
    _pair(found, live, new, _by_label)
    return _consequences(known, items, found)


def _by_label_and_title(entry: _Entry) -> Hashable:
    return entry.id, entry.title


def _by_path(entry: _Entry) -> Hashable:
    return entry.path


def _by_title(entry: _Entry) -> Hashable:
    return entry.title


def _by_label(entry: _Entry) -> Hashable:
    return entry.id


def _pair(
    found: dict[int, int], old: Sequence[_Entry], new: Sequence[_Entry], key: Callable[[_Entry], Hashable]
) -> None:
    """Add to `found` (index in the plan -> index in the known) what `key` tells apart on both sides."""
    taken = set(found.values())
    mine = [entry for entry in new if entry.index not in found]
    theirs = [entry for entry in old if entry.index not in taken]
    once = Counter(key(entry) for entry in mine)
    there = Counter(key(entry) for entry in theirs)
    by_key = {key(entry): entry.index for entry in theirs}
    for entry in mine:
        name = key(entry)
        if once[name] == 1 and there[name] == 1:
            found[entry.index] = by_key[name]


def _consequences(known: Sequence[Known], items: Sequence[Item], found: dict[int, int]) -> Matching:
    taken = set(found.values())
    pairs = [(known[found[i]], item) for i, item in enumerate(items) if i in found]
    live_pairs = [(before, item) for before, item in pairs if not before.archived]
    labels = {item.id for item in items}
    gone = [entry for index, entry in enumerate(known) if index not in taken]
    return Matching(
        keys=tuple(known[found[i]].key if i in found else None for i in range(len(items))),
        gone=tuple(entry.key for entry in gone if not (entry.archived or entry.added)),
        displaced=_displaced(known, gone, labels),
        renamed=tuple(
            Renamed(before_id=b.id, after_id=item.id, before_title=b.title, after_title=item.title)
            for b, item in pairs
            if b.id != item.id or (b.title != item.title and folded(b.title) != folded(item.title))
        ),
        moved=_moved(live_pairs),
        revived=tuple(item.id for before, item in pairs if before.archived),
        ambiguous=_ambiguous(gone, items, found),
    )


def _displaced(
    known: Sequence[Known], gone: Sequence[Known], labels: set[str]
) -> tuple[tuple[int, str], ...]:
    used = labels | {entry.id for entry in known}
    displaced = []
    for entry in gone:
        if entry.id in labels:
            number = next(n for n in range(1, len(used) + 2) if f"{entry.id}~{n}" not in used)
            label = f"{entry.id}~{number}"
            used.add(label)
            displaced.append((entry.key, label))
    return tuple(displaced)


def _moved(pairs: Sequence[tuple[Known, Item]]) -> tuple[str, ...]:
    """Return the ids of those with another parent, or not in a longest chain of unchanged order."""
    renamed = {before.id: item.id for before, item in pairs}
    in_order = _longest_increasing([before.rank for before, _ in pairs])
    return tuple(
        item.id
        for position, (before, item) in enumerate(pairs)
        if position not in in_order or renamed.get(before.parent or "", before.parent) != item.parent
    )


def _longest_increasing(ranks: Sequence[int]) -> set[int]:
    """Return the positions of a longest increasing subsequence, by patience sorting."""
    tails: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for position, rank in enumerate(ranks):
        pile = bisect_left(tails, rank)
        previous.append(ends[pile - 1] if pile else -1)
        if pile == len(tails):
            tails.append(rank)
            ends.append(position)
        else:
            tails[pile] = rank
            ends[pile] = position
    chain: set[int] = set()
    position = ends[-1] if ends else -1
    while position >= 0:
        chain.add(position)
        position = previous[position]
    return chain


def _ambiguous(gone: Sequence[Known], items: Sequence[Item], found: dict[int, int]) -> tuple[str, ...]:
    by_title: dict[str, list[str]] = {}
    for entry in gone:
        by_title.setdefault(folded(entry.title), []).append(entry.id)
    return tuple(
        f"{item.id} ({item.title}) could be what was {' or '.join(by_title[folded(item.title)])}: "
        "taken as a new item, the history stays with the old ids"
        for index, item in enumerate(items)
        if index not in found and folded(item.title) in by_title
    )


def folded(title: str) -> str:
    """Return the title without what editing changes by the way: case, spaces, emphasis, a last full stop."""
    return re.sub(r"[\s*_`~]+", " ", title).strip(" .:").casefold()


def _entries(items: Sequence[Known | Item]) -> list[_Entry]:
    titles = {item.id: (folded(item.title), item.parent) for item in items}
    return [
        _Entry(index, item.id, titles[item.id][0], _path(item.id, titles)) for index, item in enumerate(items)
    ]


def _path(label: str, titles: dict[str, tuple[str, str | None]]) -> tuple[str, ...]:
    """Return the titles from the item up to its outermost parent; a circle of parents ends there."""
    path: list[str] = []
    seen: set[str] = set()
    step: str | None = label
    while step is not None and step in titles and step not in seen:
        seen.add(step)
        title, step = titles[step]
        path.append(title)
    return tuple(path)


def _refuse_duplicates(items: Sequence[Item]) -> None:
    lines: dict[str, int] = {}
    problems = []
    for item in items:
        if item.id in lines:
            problems.append(
                f"the id {item.id} is used twice: on line {lines[item.id]} and on line {item.line}"
            )
        lines.setdefault(item.id, item.line)
    if problems:
        raise PlanError(
            problems[0], hint="give one of them an id of its own: {#id}", problems=tuple(problems)
        )

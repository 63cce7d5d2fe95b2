"""What an edited plan's items were before: by id, then by title, so that history follows them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from pydantic import Field

from optrack.core.frozen import Frozen
from optrack.core.plan import Item, Plan


class Sync(Frozen):
    """How the plan's items relate to the known ones.

    `kept` are ids in both; `renamed` maps a known id to the new id under which its title now stands; `added`
    and `archived` are ids that came and went. `ambiguous` says in sentences where a title could be several
    items: nothing is attached there.
    """

    kept: tuple[str, ...] = ()
    renamed: Mapping[str, str] = Field(default_factory=dict)
    added: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    ambiguous: tuple[str, ...] = ()


def sync(known: Sequence[Item], plan: Plan) -> Sync:
    """Match known items (archived ones too) to the plan's: by id, else by title where it is unique.

    Two labels that changed places are told by their titles: where an id now bears the title of another known
    item, and that item's id is gone or bears the first one's, both follow their titles.
    """
    old = {item.id: item for item in known}
    new = {item.id: item for item in plan.items}
    old_titles, new_titles = _by_title(known), _by_title(plan.items)
    renamed: dict[str, str] = {}
    ambiguous: list[str] = []
    for item in known:
        title = _plain(item.title)
        here = new.get(item.id)
        if here is not None and (
            _plain(here.title) == title or not _moved(here, item, old_titles, new_titles)
        ):
            continue
        places = [p for p in new_titles.get(title, []) if p.id != item.id]
        if len(places) == 1 and len(old_titles[title]) == 1 and _is_free(places[0], old, new_titles):
            renamed[item.id] = places[0].id
        elif places:
            names = " and ".join(f"`{p.id}`" for p in places)
            ambiguous.append(
                f"`{item.id}` ({item.title}) could be {names}: give it an id with {{#{item.id}}}"
            )
    targets = Counter(renamed.values())
    renamed = {a: b for a, b in renamed.items() if targets[b] == 1}
    taken = set(renamed.values())
    kept = tuple(i for i in new if i in old and i not in renamed and i not in taken)
    keeping = set(kept)
    stays = {*kept, *taken}
    return Sync(
        kept=kept,
        renamed=renamed,
        added=tuple(i for i in new if i not in stays),
        archived=tuple(i for i in old if i not in renamed and i not in keeping),
        ambiguous=tuple(ambiguous),
    )


def _moved(
    here: Item, item: Item, old_titles: Mapping[str, list[Item]], new_titles: Mapping[str, list[Item]]
) -> bool:
    """Whether the item's id now stands for another known item, while its own title stands elsewhere."""
    return bool(old_titles.get(_plain(here.title))) and bool(new_titles.get(_plain(item.title)))


def _is_free(place: Item, old: Mapping[str, Item], new_titles: Mapping[str, list[Item]]) -> bool:
    """Whether the place isn't where another known item still stands."""
    holder = old.get(place.id)
    return holder is None or _plain(holder.title) != _plain(place.title)


def _by_title(items: Sequence[Item]) -> dict[str, list[Item]]:
    found: dict[str, list[Item]] = {}
    for item in items:
        found.setdefault(_plain(item.title), []).append(item)
    return found


def _plain(title: str) -> str:
    return re.sub(r"\W+", " ", title.casefold()).strip()

"""The plan as a todo list, both ways: entries for an agent's list, and such a list laid on the plan."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from optrack.model.item import ItemState
from optrack.model.plan import Item, Plan, Status
from optrack.model.text import all_near
from optrack.model.value import Frozen
from optrack.plan.todo_read import Todo, TodoList, read_todos

TodoPriority = Literal["high", "medium", "low"]

_RANKED = re.compile(r"P?(\d+)", re.IGNORECASE)


class TodoChange(Frozen):
    """A status that a todo list gives an item: from what to what, and which entry says so."""

    item: str
    before: Status
    after: Status
    content: str


class TodoMatch(Frozen):
    """A todo list laid on a plan: the changes it asks for, the entries that fit no item, with why, and the items
    that entries give different statuses."""

    changes: tuple[TodoChange, ...]
    same: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()
    contradictions: tuple[str, ...] = ()


def todos(plan: Plan, states: Sequence[ItemState] = ()) -> list[dict[str, str]]:
    """Return the plan as a todo list by rank: `content`, `status`, `priority` (high, medium, low), `id`."""
    known = {state.item.id: state for state in states if not state.archived}
    by_id = {item.id: item for item in plan.items}
    tops = [item.id for item in plan.items if item.parent is None and item.id != plan.baseline]
    groups = {name: place for place, name in enumerate(tops)}
    return [
        {
            "content": content_of(item),
            "status": known[item.id].status if item.id in known else item.status,
            "priority": priority_of(plan, item, by_id, groups),
            "id": item.id,
        }
        for item in sorted(plan.items, key=lambda i: i.rank)
    ]


def content_of(item: Item) -> str:
    """Return an item's line in a todo list: `1A: title`, or the title alone where the id is made from it."""
    derived = re.sub(r"[\W_]+", "", item.title.casefold()).startswith(
        re.sub(r"[\W_]+", "", item.id.casefold())
    )
    return item.title if derived else f"{item.id}: {item.title}"


def priority_of(plan: Plan, item: Item, by_id: Mapping[str, Item], groups: Mapping[str, int]) -> TodoPriority:
    """Return `high`, `medium` or `low`: as the item or one above says, else by thirds of the top ranks."""
    at: Item | None = item
    top = item
    while at is not None:
        said = _said_priority(at.priority)
        if said is not None:
            return said
        top, at = at, by_id.get(at.parent) if at.parent is not None else None
    if top.id == plan.baseline or not groups or top.id not in groups:
        return "high"
    third = groups[top.id] * 3 // max(len(groups), 3)
    return ("high", "medium", "low")[min(third, 2)]


def match_todos(plan: Plan, states: Sequence[ItemState], entries: Sequence[Todo]) -> TodoMatch:
    """Lay todo entries on the plan's items: by id where the content doesn't contradict it, else by content.

    An entry that fits two items, or whose id names one item and whose content another, changes nothing; nor do
    entries that give one item different statuses.
    """
    status = {state.item.id: state.status for state in states if not state.archived}
    names = _names(plan)
    given: dict[str, list[Todo]] = {}
    unmatched: list[str] = []
    for entry in entries:
        item, why = _item_for(plan, names, entry)
        if item is None:
            unmatched.append(f"{entry.content or entry.id!s}: {why}")
            continue
        given.setdefault(item.id, []).append(entry)
    contradictions = {
        name: f"{name} is given {len(entries)} times: "
        + " and ".join(f"`{entry.status}` ({entry.content or entry.id})" for entry in entries)
        for name, entries in given.items()
        if len({entry.status for entry in entries}) > 1
    }
    known = {item.id: status.get(item.id, item.status) for item in plan.items}
    agreed = {name: entries[-1] for name, entries in given.items() if name not in contradictions}
    return TodoMatch(
        changes=tuple(
            TodoChange(item=name, before=known[name], after=entry.status, content=entry.content)
            for name, entry in agreed.items()
            if entry.status != known[name]
        ),
        same=tuple(name for name, entry in agreed.items() if entry.status == known[name]),
        unmatched=tuple(unmatched),
        contradictions=tuple(contradictions.values()),
    )


def _said_priority(text: str | None) -> TodoPriority | None:
    folded = (text or "").casefold()
    if folded in ("high", "critical", "urgent", "highest"):
        return "high"
    if folded in ("medium", "moderate", "normal"):
        return "medium"
    if folded in ("low", "lowest"):
        return "low"
    ranked = _RANKED.fullmatch(folded)
    if ranked is None:
        return None
    number = int(ranked[1])
    return "high" if number <= 1 else "medium" if number == 2 else "low"


def _names(plan: Plan) -> dict[str, list[Item]]:
    names: dict[str, list[Item]] = {}
    for item in plan.items:
        for name in {_plain(item.title), _plain(content_of(item)), _plain(f"{item.id} {item.title}")}:
            names.setdefault(name, []).append(item)
    return names


def _item_for(plan: Plan, names: Mapping[str, list[Item]], entry: Todo) -> tuple[Item | None, str]:
    by_content = names.get(_plain(entry.content), [])
    if not by_content:
        by_content = _by_label(plan, entry.content)
    by_id = plan.item(entry.id) if entry.id is not None else None
    if by_id is not None:
        if by_id in by_content or not entry.content:
            return by_id, ""
        if by_content:
            return None, f"its id names `{by_id.id}`, its words name `{by_content[0].id}`"
        if not by_id.id.isdigit() or _is_like(by_id, entry.content):
            return by_id, ""
    if len(by_content) == 1:
        return by_content[0], ""
    if by_content:
        return None, f"its words fit {' and '.join(f'`{item.id}`' for item in by_content)}"
    return None, f"no item has this title{_nearest(plan, entry)}"


def _is_like(item: Item, content: str) -> bool:
    """Whether words may be about the item: a number alone, which lists give their entries too, doesn't tell."""
    title, words = _plain(item.title), _plain(content)
    likeness = difflib.SequenceMatcher(None, title, words).ratio()
    shared = {word for word in title.split() if len(word) > 3} & set(words.split())
    return likeness >= 0.5 or bool(shared) or content.startswith(f"{item.id}:")


def _nearest(plan: Plan, entry: Todo) -> str:
    ids = {item.id.casefold(): item.id for item in plan.items}
    titles = {_plain(item.title): item.id for item in plan.items}
    label = (entry.id or entry.content.partition(":")[0]).casefold()
    near = [ids[name] for name in all_near(label, ids, count=2, cutoff=0.6)]
    near += [titles[name] for name in all_near(_plain(entry.content), titles, count=2, cutoff=0.6)]
    return f"; the nearest are {', '.join(f'`{name}`' for name in dict.fromkeys(near))}" if near else ""


def _by_label(plan: Plan, content: str) -> list[Item]:
    """`Run experiment 1A: title`: the label counts where the words after it are the item's title."""
    found = re.match(r"^(?:[\w\-]+\s+){0,3}?(?P<id>[\w.\-/]+)\s*[:.)—–-]\s+(?P<title>.+)$", content[:400])
    item = plan.item(found["id"]) if found is not None else None
    return (
        [item]
        if item is not None and found is not None and _plain(item.title) == _plain(found["title"])
        else []
    )


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


__all__ = ["Todo", "TodoChange", "TodoList", "TodoMatch", "match_todos", "read_todos", "todos"]

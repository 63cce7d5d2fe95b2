"""The plan as a todo list, both ways: entries for an agent's list, and such a list laid on the plan."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from optrack.core.frozen import Frozen
from optrack.core.plan import Item, Plan
from optrack.core.planning.todo_read import Todo, TodoList, read_todos
from optrack.core.state import ItemState
from optrack.core.status import Status

TodoPriority = Literal["high", "medium", "low"]

_RANKED = re.compile(r"P?(\d+)", re.IGNORECASE)


class TodoChange(Frozen):
    """A status that a todo list gives an item: from what to what, and which entry says so."""

    item: str
    before: Status
    after: Status
    content: str


class TodoMatch(Frozen):
    """A todo list laid on a plan: the changes it asks for, and the entries that fit no item, with why."""

    changes: tuple[TodoChange, ...]
    same: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()


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

    An entry that fits two items, or whose id names one item and whose content another, changes nothing.
    """
    status = {state.item.id: state.status for state in states if not state.archived}
    names = _names(plan)
    changes: dict[str, TodoChange] = {}
    same: list[str] = []
    unmatched: list[str] = []
    for entry in entries:
        item, why = _item_for(plan, names, entry)
        if item is None:
            unmatched.append(f"{entry.content or entry.id!s}: {why}")
            continue
        before = status.get(item.id, item.status)
        if before == entry.status:
            changes.pop(item.id, None)
            same.append(item.id)
        else:
            changes[item.id] = TodoChange(
                item=item.id, before=before, after=entry.status, content=entry.content
            )
    return TodoMatch(changes=tuple(changes.values()), same=tuple(same), unmatched=tuple(unmatched))


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
        likeness = difflib.SequenceMatcher(None, _plain(by_id.title), _plain(entry.content)).ratio()
        if likeness >= 0.5 or entry.content.startswith(f"{by_id.id}:"):
            return by_id, ""
    if len(by_content) == 1:
        return by_content[0], ""
    if by_content:
        return None, f"its words fit {' and '.join(f'`{item.id}`' for item in by_content)}"
    return None, "no item has this title"


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

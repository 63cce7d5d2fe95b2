"""The plan as a todo list, both ways: entries for an agent's list, and such a list laid on the plan."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from optrack.model.item import ItemState
from optrack.model.plan import Item, Plan, Status
from optrack.model.text import all_near
from optrack.model.value import Frozen

TodoPriority = Literal["high", "medium", "low"]

_STATUS_WORDS: dict[str, Status] = {
    **dict.fromkeys(("pending", "todo", "open", "not_started", "blocked"), "pending"),
    "in_progress": "in_progress", "active": "in_progress", "doing": "in_progress", "started": "in_progress",
    "running": "in_progress", "wip": "in_progress",
    "completed": "completed", "done": "completed", "closed": "completed", "complete": "completed",
    "finished": "completed", "cancelled": "cancelled", "canceled": "cancelled", "deleted": "cancelled",
    "rejected": "cancelled", "wontfix": "cancelled", "skipped": "cancelled",
}  # fmt: skip
_CONTENT_KEYS = ("content", "subject", "title", "text", "description", "task", "name")
_START = re.compile(r"[\s●•*\->]*(?:[\w ]{0,24}:\s*)?[\[{]")
_LIST_KEYS = ("todos", "newTodos", "tasks", "items", "input", "tool_input", "todo_list", "result")
_PRIORITY_WORDS: dict[str, TodoPriority] = {
    **dict.fromkeys(("high", "critical", "urgent", "highest"), "high"),
    **dict.fromkeys(("medium", "moderate", "normal"), "medium"), **dict.fromkeys(("low", "lowest"), "low"),
}  # fmt: skip


class Todo(Frozen):
    """One entry of a todo list as written elsewhere; `id` is whatever that list calls it."""

    content: str
    status: Status
    priority: str | None = None
    id: str | None = None


class TodoList(Frozen):
    """The entries read, and in sentences what could not be read."""

    todos: tuple[Todo, ...]
    problems: tuple[str, ...] = ()


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
    title, name = (re.sub(r"[\W_]+", "", text.casefold()) for text in (item.title, item.id))
    return item.title if title.startswith(name) else f"{item.id}: {item.title}"


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
    return ("high", "medium", "low")[min(groups[top.id] * 3 // max(len(groups), 3), 2)]


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
        if item is not None:
            given.setdefault(item.id, []).append(entry)
        else:
            unmatched.append(f"{entry.content or entry.id!s}: {why}")
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
    ranked = re.fullmatch(r"p?(\d+)", folded)
    if ranked is None:
        return _PRIORITY_WORDS.get(folded)
    return "high" if int(ranked[1]) <= 1 else "medium" if int(ranked[1]) == 2 else "low"


def _names(plan: Plan) -> dict[str, list[Item]]:
    names: dict[str, list[Item]] = {}
    for item in plan.items:
        for name in {_plain(item.title), _plain(content_of(item)), _plain(f"{item.id} {item.title}")}:
            names.setdefault(name, []).append(item)
    return names


def _item_for(plan: Plan, names: Mapping[str, list[Item]], entry: Todo) -> tuple[Item | None, str]:
    by_content = names.get(_plain(entry.content)) or _by_label(plan, entry.content)
    by_id = plan.item(entry.id) if entry.id is not None else None
    if by_id is not None:
        alone = not by_content and (not by_id.id.isdigit() or _is_like(by_id, entry.content))
        if by_id in by_content or not entry.content or alone:
            return by_id, ""
        if by_content:
            return None, f"its id names `{by_id.id}`, its words name `{by_content[0].id}`"
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
    same = item is not None and found is not None and _plain(item.title) == _plain(found["title"])
    return [item] if item is not None and same else []


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()


def read_todos(text: str) -> TodoList:
    """Read a todo list in any of the known shapes; what is torn or odd is left out and said.

    Known are: a JSON list of `{content, status, priority, id | activeForm}`, the same under `todos`, JSON lines,
    the events of a task tool (`TaskCreate`, `TaskUpdate`) folded to their end, and a transcript with any of them.
    """
    problems: list[str] = []
    entries: list[Mapping[str, Any]] = []
    seen_list = False
    for value in _json_values(text.lstrip("\ufeff"), problems):
        found = list(_entries(value))
        is_list = isinstance(value, list) or (
            isinstance(value, Mapping) and not value.keys().isdisjoint(_LIST_KEYS)
        )
        if is_list and seen_list and found:
            problems.append("another list follows the first; the last one counts")
            entries = []
        seen_list = seen_list or (is_list and bool(found))
        entries += found
    if not entries:
        problems.append("there is no todo list in it")
    made = (_todo(task, problems) for task in _folded(entries, problems))
    return TodoList(todos=tuple(todo for todo in made if todo is not None), problems=tuple(problems))


def _json_values(text: str, problems: list[str]) -> list[Any]:
    """The whole text as JSON, else each of its lines that is, else the first value over several lines."""
    found = _json_at(text, 0)
    if found is not None and not text[found[1] :].strip():
        return [found[0]]
    values: list[Any] = []
    torn: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        start = _START.match(line)
        found = _json_at(line, start.end() - 1) if start is not None else None
        if found is not None and not line[found[1] :].strip(" \t\r,;"):
            values.append(found[0])
        elif '"content"' in line or '"subject"' in line:
            torn.append(f"line {number} holds a torn piece of a list, which is left out")
    if values:
        problems += torn
        return values
    starts = re.finditer(r"^[^\S\n]*[\[{]", text, re.MULTILINE)
    return [found[0] for start in starts if (found := _json_at(text, start.end() - 1)) is not None][:1]


def _json_at(text: str, start: int) -> tuple[Any, int] | None:
    """The JSON value that starts there, and where it ends."""
    start += len(text) - start - len(text[start:].lstrip())
    try:
        return json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None


def _entries(value: Any, depth: int = 6) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, list) and depth:
        for entry in value:
            yield from _entries(entry, depth - 1)
    elif isinstance(value, Mapping) and depth:
        if "tool_name" in value and isinstance(value.get("task"), Mapping):
            yield {**value["task"], "_event": str(value["tool_name"])}
            return
        inner = next((value[key] for key in _LIST_KEYS if isinstance(value.get(key), list | Mapping)), None)
        if inner is not None and not any(isinstance(value.get(key), str) for key in ("content", "subject")):
            yield from _entries(inner, depth - 1)
        elif any(isinstance(value.get(key), str) for key in _CONTENT_KEYS):
            yield value


def _folded(entries: Sequence[Mapping[str, Any]], problems: list[str]) -> list[dict[str, Any]]:
    """The entries, with the events of one task folded into its last state."""
    tasks: dict[str, dict[str, Any]] = {}
    for entry in entries:
        given = entry.get("id", entry.get("taskId"))
        key = str(given) if given is not None else str(len(tasks) + 1)
        if entry.get("_event") != "TaskUpdate":
            while key in tasks:
                key += "'"
            tasks[key] = dict(entry)
        elif given is not None and key in tasks:
            tasks[key] |= {k: v for k, v in entry.items() if v not in ("", None)}
        else:
            problems.append(f"an update names task {given}, which was never created")
    return list(tasks.values())


def _todo(task: Mapping[str, Any], problems: list[str]) -> Todo | None:
    content = next((task[k] for k in _CONTENT_KEYS if isinstance(task.get(k), str) and task[k]), "")
    word = str(task.get("status", "pending")).casefold().replace("-", "_").replace(" ", "_")
    status = _STATUS_WORDS.get(word)
    if status is None:
        problems.append(f"`{word}` is no status, so {content!r} is left out")
        return None
    priority, name = (str(task[k]) if task.get(k) is not None else None for k in ("priority", "id"))
    name = None if "_event" in task else name
    return Todo(content=" ".join(content.split()), status=status, priority=priority, id=name)

"""The plan as a todo list, both ways: entries for an agent's list, and such a list read back as changes.

Read are: a JSON list of `{content, status, priority, id | activeForm}`, the same under `todos`, JSON lines, the
events of a task tool (`TaskCreate`, `TaskUpdate`) folded to their end, and a transcript that holds any of these.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from optrack.core.frozen import Frozen
from optrack.core.plan import Item, Plan
from optrack.core.state import ItemState
from optrack.core.status import Status

TodoPriority = Literal["high", "medium", "low"]

_STATUS_WORDS: dict[str, Status] = {
    "pending": "pending", "todo": "pending", "open": "pending", "not_started": "pending", "blocked": "pending",
    "in_progress": "in_progress", "active": "in_progress", "doing": "in_progress", "started": "in_progress",
    "running": "in_progress", "wip": "in_progress",
    "completed": "completed", "done": "completed", "closed": "completed", "complete": "completed",
    "finished": "completed", "cancelled": "cancelled", "canceled": "cancelled", "deleted": "cancelled",
    "rejected": "cancelled", "wontfix": "cancelled", "skipped": "cancelled",
}  # fmt: skip
_CONTENT_KEYS = ("content", "subject", "title", "text", "description", "task", "name")
_LIST_KEYS = ("todos", "newTodos", "tasks", "items", "input", "tool_input", "todo_list", "result")
_RANKED = re.compile(r"P?(\d+)", re.IGNORECASE)


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
    """A todo list laid on a plan: the changes it asks for, and the entries that fit no item, each with why."""

    changes: tuple[TodoChange, ...]
    same: tuple[str, ...] = ()
    unmatched: tuple[str, ...] = ()


def todos(plan: Plan, states: Sequence[ItemState] = ()) -> list[dict[str, str]]:
    """Return the plan as a todo list: `content`, `status`, `priority` (high, medium, low) and `id`, by rank."""
    known = {state.item.id: state for state in states if not state.archived}
    by_id = {item.id: item for item in plan.items}
    groups = [item.id for item in plan.items if item.parent is None and item.id != plan.baseline]
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


def priority_of(plan: Plan, item: Item, by_id: Mapping[str, Item], groups: Sequence[str]) -> TodoPriority:
    """Return `high`, `medium` or `low`: as the item or one above it says, else by thirds of the top-level rank."""
    at: Item | None = item
    top = item
    while at is not None:
        said = _said_priority(at.priority)
        if said is not None:
            return said
        top, at = at, by_id.get(at.parent) if at.parent is not None else None
    if top.id == plan.baseline or not groups or top.id not in groups:
        return "high"
    third = groups.index(top.id) * 3 // max(len(groups), 3)
    return ("high", "medium", "low")[min(third, 2)]  # type: ignore[return-value]


def read_todos(text: str) -> TodoList:
    """Read a todo list in any of the known shapes; what is torn or odd is left out and said."""
    problems: list[str] = []
    values = _json_values(text, problems)
    entries: list[Mapping[str, Any]] = []
    seen_list = False
    for value in values:
        found = list(_entries(value))
        is_list = isinstance(value, list) or (
            isinstance(value, Mapping) and any(k in value for k in _LIST_KEYS)
        )
        if is_list and seen_list and found:
            problems.append("another list follows the first; the last one counts")
            entries = []
        seen_list = seen_list or (is_list and bool(found))
        entries += found
    if not entries:
        problems.append("there is no todo list in it")
    return TodoList(todos=tuple(_folded(entries, problems)), problems=tuple(problems))


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


def _json_values(text: str, problems: list[str]) -> list[Any]:
    text = text.lstrip("\ufeff")
    try:
        return [json.loads(text)]
    except (ValueError, RecursionError):
        pass
    decoder = json.JSONDecoder()
    values: list[Any] = []
    torn: list[int] = []
    offset = 0
    for number, line in enumerate(text.split("\n"), 1):
        start = re.search(r"[\[{]", line)
        if start is not None and offset <= start.start():
            pass
        if start is None:
            continue
        try:
            value, _ = decoder.raw_decode(line, start.start())
        except (ValueError, RecursionError):
            if '"content"' in line or '"subject"' in line:
                torn.append(number)
            continue
        if isinstance(value, list | Mapping):
            values.append(value)
            rest = line[start.start() :]
            if '"content"' in rest and not list(_entries(value)):
                torn.append(number)
    problems += [f"line {number} holds a torn piece of a list, which is left out" for number in torn]
    return values or _spread(text, decoder)


def _spread(text: str, decoder: json.JSONDecoder) -> list[Any]:
    """A list written over several lines with other text around it."""
    for start in re.finditer(r"^[^\S\n]*[\[{]", text, re.MULTILINE):
        try:
            return [decoder.raw_decode(text, start.end() - 1)[0]]
        except (ValueError, RecursionError):
            continue
    return []


def _entries(value: Any, depth: int = 6) -> Iterator[Mapping[str, Any]]:
    if depth == 0:
        return
    if isinstance(value, list):
        for entry in value:
            yield from _entries(entry, depth - 1)
    elif isinstance(value, Mapping):
        if "tool_name" in value and isinstance(value.get("task"), Mapping):
            yield {**value["task"], "_event": str(value["tool_name"])}
            return
        inner = next((value[key] for key in _LIST_KEYS if isinstance(value.get(key), list | Mapping)), None)
        if inner is not None and not any(isinstance(value.get(key), str) for key in ("content", "subject")):
            yield from _entries(inner, depth - 1)
        elif any(isinstance(value.get(key), str) for key in _CONTENT_KEYS):
            yield value


def _folded(entries: Sequence[Mapping[str, Any]], problems: list[str]) -> list[Todo]:
    """The entries as todos; events of one task folded into its last state."""
    tasks: dict[str, dict[str, Any]] = {}
    for entry in entries:
        event = entry.get("_event", "")
        given = entry.get("id", entry.get("taskId"))
        if event == "TaskUpdate":
            key = str(given)
            if key not in tasks:
                problems.append(f"an update names task {key}, which was never created")
                continue
            tasks[key] |= {k: v for k, v in entry.items() if v not in ("", None)}
        else:
            key = str(given) if given is not None else str(len(tasks) + 1)
            while key in tasks:
                key += "'"
            tasks[key] = dict(entry)
    found = []
    for key, task in tasks.items():
        content = next((str(task[k]) for k in _CONTENT_KEYS if isinstance(task.get(k), str) and task[k]), "")
        word = str(task.get("status", "pending")).casefold().replace("-", "_").replace(" ", "_")
        status = _STATUS_WORDS.get(word)
        if status is None:
            problems.append(f"`{word}` is no status, so {content!r} is left out")
            continue
        priority = task.get("priority")
        is_event = "_event" in task
        found.append(
            Todo(
                content=" ".join(content.split()),
                status=status,
                priority=str(priority) if priority is not None else None,
                id=key if "id" in task and not is_event else None,
            )
        )
    return found


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
    found = re.match(r"^(?:[\w\-]+\s+){0,3}?(?P<id>[\w.\-/]+)\s*[:.)—–-]\s+(?P<title>.+)$", content)
    item = plan.item(found["id"]) if found is not None else None
    return (
        [item]
        if item is not None and found is not None and _plain(item.title) == _plain(found["title"])
        else []
    )


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text.casefold()).strip()

"""A todo list as agents and trackers write it, read to entries whatever its shape.

Known are: a JSON list of `{content, status, priority, id | activeForm}`, the same under `todos`, JSON lines,
the events of a task tool (`TaskCreate`, `TaskUpdate`) folded to their end, and a transcript with any of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from optrack.model.plan import Status
from optrack.model.value import Frozen

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


def _json_values(text: str, problems: list[str]) -> list[Any]:
    text = text.lstrip("\ufeff")
    try:
        return [json.loads(text)]
    except (ValueError, RecursionError):
        pass
    decoder = json.JSONDecoder()
    values: list[Any] = []
    torn: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        start = _START.match(line)
        if start is not None:
            try:
                value, end = decoder.raw_decode(line, start.end() - 1)
            except (ValueError, RecursionError):
                end = -1
            if end >= 0 and not line[end:].strip(" \t\r,;"):
                values.append(value)
                continue
        if '"content"' in line or '"subject"' in line:
            torn.append(number)
    if not values:
        return _spread(text, decoder)
    problems += [f"line {number} holds a torn piece of a list, which is left out" for number in torn]
    return values


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
    for task in tasks.values():
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
                id=str(task["id"]) if task.get("id") is not None and not is_event else None,
            )
        )
    return found

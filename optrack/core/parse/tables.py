"""Items written as rows of a table with a rank, id or priority, and columns for gain, effort, status."""

from __future__ import annotations

import re
from dataclasses import dataclass

from optrack.core.parse.attributes import Attribute, amount_of
from optrack.core.parse.document import Row, Table
from optrack.core.parse.draft import Draft
from optrack.core.parse.inline import Inline
from optrack.core.parse.labels import read_label
from optrack.core.parse.lists import split_title
from optrack.core.parse.marks import read_title, status_of
from optrack.core.parse.names import column_key
from optrack.core.parse.words import level_of, plain
from optrack.core.status import Status

_ID = (
    "id",
    "#",
    "no",
    "nr",
    "№",
    "nº",
    "item #",
    "key",
    "ref",
    "exp",
    "experiment id",
    "item id",
    "code",
    "编号",
    "番号",
)
_RANK = (
    "rank",
    "order",
    "step",
    "phase",
    "tier",
    "stage",
    "ranking",
    "rang",
    "fase",
    "paso",
    "序号",
    "排名",
    "順位",
)
_PRIORITY = (
    "priority",
    "prio",
    "p",
    "prioridad",
    "prioridade",
    "priorität",
    "priorité",
    "приоритет",
    "优先级",
    "優先度",
)
_TITLE = (
    *(
        "item",
        "work item",
        "task",
        "change",
        "technique",
        "optimization",
        "optimisation",
        "title",
        "name",
        "what",
    ),
    *(
        "action",
        "experiment",
        "idea",
        "improvement",
        "opportunity",
        "feature",
        "proposal",
        "description",
        "approach",
    ),
    *(
        "fix",
        "initiative",
        "todo",
        "candidate",
        "option",
        "variant",
        "setting",
        "knob",
        "tweak",
        "flag",
        "what we change",
        "lever",
        "area",
        "recommendation",
    ),
    *(
        "tarefa",
        "tarea",
        "aufgabe",
        "maßnahme",
        "ação",
        "acción",
        "cambio",
        "mudança",
        "tâche",
        "задача",
        "任务",
        "项目",
    ),
    *(
        "优化项",
        "タスク",
        "項目",
        "issue",
        "gap",
        "strategy",
        "method",
        "hypothesis",
        "test",
        "step",
        "phase",
        "goal",
    ),
)
_NOT_ITEMS = (
    *("file", "files", "metric", "component", "path", "module", "config", "configuration", "before", "after"),
    *(
        "version",
        "date",
        "risk",
        "model",
        "command",
        "term",
        "question",
        "criterion",
        "criteria",
        "parameter",
    ),
    "variable",
)
_TOTAL = re.compile(
    r"^(?:grand |sub-?|combined |estimated )?(?:total|sum|overall|gesamt|всего|合计)\b|\btotal$",
    re.IGNORECASE,
)
_ID_CELL = re.compile(r"^[#\[]?([A-Za-z]{0,8}[-_.]?\d{1,4}(?:\.\d+)*[a-zA-Z]?(?:[-/][A-Za-z0-9]+)*)[\].:)]?$")


@dataclass(frozen=True)
class Columns:
    """Which column holds what: positions, None where there is none."""

    title: int
    id: int | None
    rank: int | None
    priority: int | None
    keys: dict[int, str]
    names: tuple[str, ...]

    @property
    def is_ranked(self) -> bool:
        """Whether the rows have a place of their own: an id, a rank or a priority."""
        return any(place is not None for place in (self.id, self.rank, self.priority))

    @property
    def says_amounts(self) -> bool:
        """Whether there is a column for gain or effort."""
        return bool({"gain", "effort"} & set(self.keys.values()))


def columns_of(table: Table) -> Columns | None:
    """Return what a table's columns hold, or None if it can't be a table of items."""
    names = tuple(plain(cell.text).casefold().rstrip(".?") or cell.text.strip() for cell in table.header)
    if len(names) < 2 or not table.rows:
        return None
    keys = {i: key for i, name in enumerate(names) if (key := column_key(name)) and key != "priority"}
    ident = next((i for i, name in enumerate(names) if name in _ID), None)
    rank = next((i for i, name in enumerate(names) if name in _RANK), None)
    priority = next((i for i, name in enumerate(names) if name in _PRIORITY), None)
    used = {ident, rank, priority, *keys}
    free = [i for i in range(len(names)) if i not in used]
    title = next((i for i in free if names[i] in _TITLE), None)
    if title is None and rank is not None and names[rank] in ("phase", "step", "tier") and not free:
        title, rank = rank, None
    if title is None:
        named = ident is not None and bool({"gain", "status"} & set(keys.values()))
        ranked = ident is not None or rank is not None
        ranked = ranked or (priority is not None and {"gain", "effort"} <= set(keys.values()))
        title = next((i for i in free if ranked and (named or names[i] not in _NOT_ITEMS)), None)
    if title is None and keys and not free:
        title = next((i for i, key in keys.items() if key == "hypothesis"), None)
    if title is None or names[0] in _NOT_ITEMS:
        return None
    return Columns(title, ident, rank, priority, keys, names)


def row_drafts(table: Table, columns: Columns, parent: Draft | None) -> list[Draft]:
    """Return the items in a table's rows; rows of totals and rows without a title are none."""
    found = []
    for row in table.rows:
        cell = _cell(row, columns.title)
        title = read_title(split_title(cell, None)[0])
        first = plain(row.cells[0].text) if row.cells else ""
        if not re.search(r"\w", title.title) or _TOTAL.search(title.title) or _TOTAL.search(first):
            continue
        draft = Draft("table", "", row.line)
        if cell.all_struck or (title.status is None and cell.is_struck):
            title.status = "cancelled"
        draft.take_marks(title)
        _take_cells(draft, row, columns)
        if parent is not None:
            parent.adopt(draft)
        found.append(draft)
    return found


def _take_cells(draft: Draft, row: Row, columns: Columns) -> None:
    for place in (columns.id, columns.rank):
        if place is not None and draft.own_id is None:
            draft.own_id = _id_in(_cell(row, place))
    label = read_label(draft.title)
    if label is not None and label.id is not None and label.kind in ("code", "word") and not label.loose:
        draft.label, draft.title = label, read_title(Inline.of(label.title)).title
    if columns.priority is not None:
        text = plain(_cell(row, columns.priority).text)
        draft.priority = (level_of(text) or text) if text else None
    for place, key in columns.keys.items():
        cell = _cell(row, place)
        if cell.text.strip():
            draft.attributes.append(Attribute(columns.names[place], key, cell.text.strip(), row.line))
    draft.gain = amount_of(_first(draft, "gain")) or draft.gain
    draft.effort = amount_of(_effort(draft)) or draft.effort
    said = _first(draft, "status")
    if said is not None:
        draft.status = status_of(said.value) or draft.status
    if draft.status is None:
        draft.status = _emphasized_status(row, columns)


def _emphasized_status(row: Row, columns: Columns) -> Status | None:
    for place, cell in enumerate(row.cells):
        if place != columns.title and cell.lead is not None:
            status = status_of(cell.lead)
            if status is not None:
                return status
    return None


def _first(draft: Draft, key: str) -> Attribute | None:
    return next((a for a in draft.attributes if a.key == key), None)


def _effort(draft: Draft) -> Attribute | None:
    efforts = [a for a in draft.attributes if a.key == "effort"]
    timed = [a for a in efforts if re.search(r"effort|time|estimate|duration", a.name)]
    return next(iter(timed or efforts), None)


def _id_in(cell: Inline) -> str | None:
    text = plain(cell.text)
    label = read_label(text + ":")
    if label is not None and label.id is not None and label.kind in ("word", "code"):
        return label.id
    found = _ID_CELL.match(text)
    return found[1] if found is not None else None


def _cell(row: Row, place: int) -> Inline:
    return row.cells[place].stripped() if place < len(row.cells) else Inline.of("", row.line)

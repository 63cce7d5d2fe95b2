"""Tables whose rows may be items: which column holds what, and a row read by it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from optrack.plan.attributes import canonical, evaluate
from optrack.plan.labels import read_label
from optrack.plan.marks import read_title, split_title, status_of
from optrack.plan.parts import Attribute, Candidate, Line, Table
from optrack.plan.vocabulary import entries, level_of, plain, words

_PARTLY_NAMED = (
    (
        "gain",
        r"\b(?:gain|speed-?up|savings?|impact|improvement|benefit|reduction)\b|[δ∆]|提升|收益|効果|효과",
    ),
    ("effort", r"\b(?:effort|time|difficulty|complexity|estimate|duration)\b"),
    ("needs", r"\b(?:depend\w*|requires|prerequisites?)\b"),
    ("gain", r"^(?:est|expected|estimated|projected|erwartete\w*|erhoffte\w*)\b"),
)
_ID_CELL = re.compile(r"^[#\[]?([A-Za-z]{0,8}[-_.]?\d{1,4}(?:\.\d+)*[a-zA-Z]?(?:[-/][A-Za-z0-9]+)*)[\].:)]?$")


@dataclass(frozen=True, slots=True)
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
    def has_amounts(self) -> bool:
        """Whether there is a column for gain or effort."""
        return not {"gain", "effort"}.isdisjoint(self.keys.values())


def _column_key(name: str) -> str | None:
    """What a column's name stands for, also where it says what is gained (`Battery Gain`)."""
    key = canonical(name) or ("status" if name in _named("status") else None)
    if key is not None:
        return "gain" if key == "weak_gain" else key
    return next((key for key, pattern in _PARTLY_NAMED if re.search(pattern, name)), None)


@cache
def _named(column: str) -> frozenset[str]:
    return frozenset(entries("columns", column))


def columns_of(table: Table) -> Columns | None:
    """Return what a table's columns hold, or None if it can't be a table of items."""
    names = tuple(plain(cell.text).casefold().rstrip(".?") or cell.text.strip() for cell in table.header)
    if len(names) < 2 or not table.rows or names[0] in _named("not_items"):
        return None
    keys = {i: key for i, name in enumerate(names) if (key := _column_key(name)) and key != "priority"}
    ident, rank = (
        next((i for i, n in enumerate(names) if n in _named(kind)), None) for kind in ("id", "rank")
    )
    priority = next((i for i, name in enumerate(names) if canonical(name) == "priority" or name == "p"), None)
    free = [i for i in range(len(names)) if i not in {ident, rank, priority, *keys}]
    title = next((i for i in free if names[i] in _named("title")), None)
    if title is None and not free and rank is not None and names[rank] in _named("title"):
        title, rank = rank, None
    if title is None:
        stated = ident is not None and not {"gain", "status"}.isdisjoint(keys.values())
        valued = priority is not None and {"gain", "effort"} <= set(keys.values())
        if ident is not None or rank is not None or valued:
            title = next((i for i in free if stated or names[i] not in _named("not_items")), None)
    if title is None and not free:
        title = next((i for i, key in keys.items() if key == "hypothesis"), None)
    return Columns(title, ident, rank, priority, keys, names) if title is not None else None


def read_rows(table: Table, columns: Columns) -> list[Candidate]:
    """Read a table's rows; return those that can be items: not totals, not without a title."""
    total = words("columns", "total")
    found = []
    for row in table.rows:
        marked = read_title(split_title(_cell(row, columns.title))[0])
        first = plain(row.lines[0].text) if row.lines else ""
        summed = total.start(marked.title) or total.start(first) or total.ends(first)
        if summed or not re.search(r"\w", marked.title):
            row.reason = "a row of totals, or without a title"
            continue
        row.marked = marked
        _read_cells(row, columns)
        found.append(row)
    return found


def _read_cells(row: Candidate, columns: Columns) -> None:
    row.attributes = [
        Attribute(columns.names[place], key, cell.text.strip(), row.line)
        for place, key in columns.keys.items()
        if (cell := _cell(row, place)).text.strip()
    ]
    evaluate(row)
    for place in (columns.id, columns.rank):
        if place is not None and row.own_id is None:
            row.own_id = _id_in(_cell(row, place))
    label = read_label(row.title)
    if label is not None and label.id is not None and label.kind in ("code", "word") and not label.loose:
        row.label, row.title = label, read_title(Line(label.title)).title
    if columns.priority is not None:
        text = plain(_cell(row, columns.priority).text)
        row.priority = level_of(text) or text or None
    loud = [cell.lead for place, cell in enumerate(row.lines) if place != columns.title and cell.lead]
    states = [a.value for a in row.attributes if a.key == "status"]
    stated = next((status for value in states if (status := status_of(value))), None)
    bold = (status for lead in loud if lead.isupper() and (status := status_of(lead)))
    row.status = stated or row.marked.status or next(bold, None)


def _id_in(cell: Line) -> str | None:
    text = plain(cell.text)
    label = read_label(text + ":")
    if label is not None and label.id is not None and label.kind in ("word", "code"):
        return label.id
    found = _ID_CELL.match(text)
    return found[1] if found is not None else None


def _cell(row: Candidate, place: int) -> Line:
    return row.lines[place].stripped() if place < len(row.lines) else Line("", row.line)

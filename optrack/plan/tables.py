"""Tables whose rows may be items: which column holds what, and a row read by it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from optrack.model.plan import Status
from optrack.plan.attributes import Attribute, amount_of, canonical, effort_of
from optrack.plan.blocks import Inline, Row, Table
from optrack.plan.candidate import Candidate
from optrack.plan.labels import read_label
from optrack.plan.marks import read_title, split_title, status_of
from optrack.plan.vocabulary import entries, level_of, plain, words

_GAIN = re.compile(
    r"\b(?:gain|speed-?up|savings?|impact|improvement|benefit|reduction)\b|[δ∆]|提升|收益|効果|효과"
)
_EFFORT = re.compile(r"\b(?:effort|time|difficulty|complexity|estimate|duration)\b")
_FORECAST = re.compile(r"(?:est|expected|estimated|projected|erwartete\w*|erhoffte\w*)\b")
_NEEDS = re.compile(r"\b(?:depend\w*|requires|prerequisites?)\b")
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
    def says_amounts(self) -> bool:
        """Whether there is a column for gain or effort."""
        return bool({"gain", "effort"} & set(self.keys.values()))


def column_key(name: str) -> str | None:
    """Return what a column's name stands for, also where it says what is gained (`Battery Gain`)."""
    found = canonical(name)
    bare = plain(name).casefold()
    if found is not None:
        return "gain" if found == "weak_gain" else found
    if bare in _named("status"):
        return "status"
    for pattern, key in ((_GAIN, "gain"), (_EFFORT, "effort"), (_NEEDS, "needs")):
        if pattern.search(bare):
            return key
    return "gain" if _FORECAST.match(bare) else None


@cache
def _named(column: str) -> frozenset[str]:
    return frozenset(entries("columns", column))


def _first(names: tuple[str, ...], column: str) -> int | None:
    return next((i for i, name in enumerate(names) if name in _named(column)), None)


def columns_of(table: Table) -> Columns | None:
    """Return what a table's columns hold, or None if it can't be a table of items."""
    names = tuple(plain(cell.text).casefold().rstrip(".?") or cell.text.strip() for cell in table.header)
    if len(names) < 2 or not table.rows:
        return None
    keys = {i: key for i, name in enumerate(names) if (key := column_key(name)) and key != "priority"}
    ident, rank = _first(names, "id"), _first(names, "rank")
    priority = next((i for i, name in enumerate(names) if canonical(name) == "priority" or name == "p"), None)
    used = {ident, rank, priority, *keys}
    free = [i for i in range(len(names)) if i not in used]
    title = next((i for i in free if names[i] in _named("title")), None)
    if (
        title is None
        and rank is not None
        and names[rank] in ("phase", "step", "tier", "fase", "阶段")
        and not free
    ):
        title, rank = rank, None
    if title is None:
        named = ident is not None and bool({"gain", "status"} & set(keys.values()))
        ranked = ident is not None or rank is not None
        ranked = ranked or (priority is not None and {"gain", "effort"} <= set(keys.values()))
        title = next((i for i in free if ranked and (named or names[i] not in _named("not_items"))), None)
    if title is None and keys and not free:
        title = next((i for i, key in keys.items() if key == "hypothesis"), None)
    if title is None or names[0] in _named("not_items"):
        return None
    return Columns(title, ident, rank, priority, keys, names)


def read_rows(table: Table, columns: Columns, candidates: list[Candidate]) -> list[Candidate]:
    """Read the candidates of a table's rows; return those that can be items: not totals, not without a title."""
    rows = {row.line: row for row in table.rows}
    found = []
    for candidate in candidates:
        row = rows[candidate.line]
        cell = _cell(row, columns.title)
        marked = read_title(split_title(cell, None)[0])
        first = plain(row.cells[0].text) if row.cells else ""
        total = words("columns", "total")
        if (
            not re.search(r"\w", marked.title)
            or total.start(marked.title)
            or total.start(first)
            or total.ends(first)
        ):
            candidate.reason = "a row of totals, or without a title"
            continue
        candidate.marked = marked
        candidate.read()
        _take_cells(candidate, row, columns)
        found.append(candidate)
    return found


def _take_cells(candidate: Candidate, row: Row, columns: Columns) -> None:
    for place in (columns.id, columns.rank):
        if place is not None and candidate.own_id is None:
            candidate.own_id = _id_in(_cell(row, place))
    label = read_label(candidate.title)
    if label is not None and label.id is not None and label.kind in ("code", "word") and not label.loose:
        candidate.label, candidate.title = label, read_title(Inline.of(label.title)).title
    if columns.priority is not None:
        text = plain(_cell(row, columns.priority).text)
        candidate.priority = (level_of(text) or text) if text else None
    candidate.attributes = [
        Attribute(columns.names[place], key, cell.text.strip(), row.line)
        for place, key in columns.keys.items()
        if (cell := _cell(row, place)).text.strip()
    ]
    gain = next((a for a in candidate.attributes if a.key == "gain"), None)
    candidate.gain = amount_of(gain) or candidate.gain
    candidate.effort = effort_of([a for a in candidate.attributes if a.key == "effort"]) or candidate.effort
    state = next(
        (status for a in candidate.attributes if a.key == "status" if (status := status_of(a.value))), None
    )
    candidate.status = state or candidate.status or _emphasized_status(row, columns)


def _emphasized_status(row: Row, columns: Columns) -> Status | None:
    """The state that a cell other than the title tells in bold: `**DONE** in March`."""
    for place, cell in enumerate(row.cells):
        if place != columns.title and cell.lead is not None and cell.lead.isupper():
            status = status_of(cell.lead)
            if status is not None:
                return status
    return None


def _id_in(cell: Inline) -> str | None:
    text = plain(cell.text)
    label = read_label(text + ":")
    if label is not None and label.id is not None and label.kind in ("word", "code"):
        return label.id
    found = _ID_CELL.match(text)
    return found[1] if found is not None else None


def _cell(row: Row, place: int) -> Inline:
    return row.cells[place].stripped() if place < len(row.cells) else Inline.of("", row.line)

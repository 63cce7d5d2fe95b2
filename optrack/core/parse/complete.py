"""What overview tables say of items written elsewhere: gains, efforts and states left out there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from optrack.core.parse.document import Row, Section, Table
from optrack.core.parse.draft import Draft
from optrack.core.parse.labels import read_label
from optrack.core.parse.tables import Columns, columns_of, row_drafts
from optrack.core.parse.words import plain


def complete_from_tables(root: Section, drafts: list[Draft]) -> None:
    """Fill in what headings and entries leave out from rows that name them, by label (`Phase 2`) or title.

    Nothing that an item says itself is changed, and a bare number names nothing.
    """
    own = {draft.line for draft in drafts if draft.form == "table"}
    named: dict[str, Draft | None] = {}
    for draft in drafts:
        for name in _names(draft):
            named[name] = draft if name not in named else None
    if not named:
        return
    for table, columns in _tables(root):
        rows = {row.line: row for row in table.rows}
        for found in row_drafts(table, columns, None):
            row = rows[found.line]
            target = next((t for name in _mentions(row) if (t := named.get(name)) is not None), None)
            if target is not None and found.line not in own and target.form != "table":
                _fill(target, found)


def _fill(target: Draft, found: Draft) -> None:
    said = (found.gain, found.effort)
    target.gain = target.gain or (said[0] if said[0] is not None and said[0].unit else None)
    target.effort = target.effort or (said[1] if said[1] is not None and said[1].unit else None)
    if not target.boxed and target.status is None:
        target.status = found.status


def _names(draft: Draft) -> Iterator[str]:
    yield _folded(draft.title)
    bare = re.sub(r"\s*\([^()]*\)$", "", draft.title)
    if bare != draft.title:
        yield _folded(bare)
    if draft.label is not None and draft.label.id is not None:
        if draft.label.kind == "word":
            yield _folded(f"{draft.label.word} {draft.label.id}")
        elif draft.label.kind == "code":
            yield _folded(draft.label.id)


def _mentions(row: Row) -> Iterator[str]:
    for cell in row.cells[:3]:
        text = plain(cell.text)
        if not text:
            continue
        yield _folded(text)
        label = read_label(text) or read_label(f"{text}:")
        if label is not None and label.id is not None and label.kind in ("word", "code"):
            yield _folded(f"{label.word} {label.id}" if label.kind == "word" else label.id)


def _tables(root: Section) -> Iterator[tuple[Table, Columns]]:
    for section in (root, *root.walk()):
        for block in section.blocks:
            columns = columns_of(block) if isinstance(block, Table) else None
            if isinstance(block, Table) and columns is not None and columns.keys:
                yield block, columns


def _folded(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()

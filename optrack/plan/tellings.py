"""The same work told twice: which telling is taken, what the other lends it, and what only breaks an item down."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from optrack.model.plan import Problem
from optrack.plan.blocks import Table, warning_at
from optrack.plan.candidate import Candidate
from optrack.plan.labels import read_label
from optrack.plan.tables import columns_of, read_rows
from optrack.plan.vocabulary import folded, is_context, is_order, is_sample, plain

_CODE = re.compile(r"[\[(]([A-Z]{1,3}-?\d{1,4}[\w/-]{0,12})[\])]\s*$")
"""The id in brackets at a title's end: `Fused kernel [F1]`."""

AGAIN = "tells again what other items tell"


def leave_rivals(items: list[Candidate]) -> None:
    """Leave one of several top-level numberings that use the same ids (Tiers 1-3 and Phases 1-3)."""
    groups: defaultdict[tuple[str, int], list[Candidate]] = defaultdict(list)
    first: dict[tuple[str, str | None, str], Candidate] = {}
    for item in items:
        label = item.label
        if not item.taken or label is None or not label.id or item.form not in ("heading", "bold"):
            continue
        earlier = first.setdefault((label.word, label.id, _key(item)), item)
        if label.kind == "word" and earlier.above is not item.above and not item.has_recipe:
            leave(item, AGAIN)
        elif item.parent is None:
            groups[label.series, id(item.above)].append(item)
    ranked = sorted(groups.values(), key=lambda g: (-sum(c.weight() for c in g), -len(g), g[0].line))
    taken: Counter[str] = Counter()
    kinds: Counter[str] = Counter(group[0].label.series for group in ranked if group[0].label is not None)
    for group in ranked:
        ids = {c.label.id for c in group if c.label is not None and c.label.id}
        series = group[0].label.series if group[0].label is not None else ""
        again = sum(taken[i] > 0 for i in ids)
        if again * 2 > len(ids) and kinds[series] == 1 and not any(c.has_recipe for c in group):
            for item in group:
                leave(item, AGAIN)
            continue
        taken.update(i for i in ids if i)


def leave_retellings(items: list[Candidate]) -> None:
    """Leave a group of items most of whose titles are those of items elsewhere that say at least as much."""
    groups: defaultdict[tuple[int, int], list[Candidate]] = defaultdict(list)
    for item in items:
        at = item
        while at.parent is not None:
            at = at.parent
        groups[id(at.above), id(at.group)].append(item)
    places: defaultdict[str, set[tuple[int, int]]] = defaultdict(set)
    for where, members in groups.items():
        for member in members:
            places[_key(member)].add(where)
    for where, members in sorted(groups.items(), key=lambda g: sum(c.weight() for c in g[1])):
        leaves = [c for c in members if not c.children]
        again = sum(bool(places[_key(c)] - {where}) for c in leaves)
        if (
            len(groups) > 1
            and again > 1
            and again * 2 >= len(leaves)
            and not any(c.has_recipe for c in members)
        ):
            for member in members:
                places[_key(member)].discard(where)
                leave(member, AGAIN)


def _key(item: Candidate) -> str:
    return folded(re.split(r"\s*[(（]|\s[—–-]+\s", item.title)[0])


def leave(item: Candidate, reason: str) -> None:
    """Leave an item and all that it holds."""
    stack = [item]
    while stack:
        candidate = stack.pop()
        if candidate.taken:
            candidate.taken, candidate.reason = False, reason
            stack.extend(candidate.below)


def own_what_is_theirs(item: Candidate) -> None:
    """Leave to an item's parts what lists of theirs say, and give to an item without parts what headings below it
    that are none say, but for their states."""
    lists = {id(c.group) for c in item.below if c.taken and c.group is not None}
    if lists:
        item.read(lists)
    if any(c.taken for c in item.below):
        return
    for below in item.below:
        if below.form == "heading" and below.label is None:
            item.gain, item.effort = item.gain or below.gain, item.effort or below.effort
            item.attributes += [
                a
                for a in below.attributes
                if a.key not in (None, "status", "priority") and not item.has(a.key)
            ]


def ranking(everything: list[Candidate]) -> list[Candidate]:
    """Return the rows of the document's fullest ranking: a table with ids or ranks, gains and efforts."""
    best: list[Candidate] = []
    for table, rows in sorted(_tables(everything), key=lambda t: -len(t[1])):
        columns = columns_of(table) if len(rows) > 4 else None
        if (
            columns is None
            or columns.rank is None
            or columns.id is None
            or len(rows) <= len(best)
            or rows[0].taken
        ):
            continue
        heading = rows[0].above.text.text if rows[0].above is not None else ""
        if {"gain", "effort"} <= set(columns.keys.values()) and not is_context(heading):
            best = read_rows(table, columns, rows)
    return best


def fuller_table(everything: list[Candidate], items: list[Candidate]) -> list[Candidate]:
    """Return the rows of a ranked table that names most of the items, and half as many again."""
    if any(c.has_recipe or c.box is not None or c.children or c.form == "row" for c in items):
        return []
    for table, rows in _tables(everything):
        columns = columns_of(table)
        if columns is None or not columns.is_ranked or not columns.keys or len(rows) < 1.5 * len(items):
            continue
        known = _by_name(read_rows(table, columns, rows))
        if sum(any(name in known for name in _names(item)) for item in items) * 5 >= 3 * len(items) > 0:
            return [row for row in rows if row.title]
    return []


def _tables(everything: list[Candidate]) -> list[tuple[Table, list[Candidate]]]:
    """The tables whose rows are no items."""
    found: dict[int, tuple[Table, list[Candidate]]] = {}
    for candidate in everything:
        if candidate.form == "row" and not candidate.taken and isinstance(candidate.group, Table):
            found.setdefault(id(candidate.group), (candidate.group, []))[1].append(candidate)
    return list(found.values())


def lend_from_tables(everything: list[Candidate], items: list[Candidate], problems: list[Problem]) -> None:
    """Fill in what items leave out from rows that name them, by label (`Phase 2`) or title.

    Nothing that an item says itself is changed, and a bare number names nothing. A row that says another state
    than the item becomes a warning.
    """
    known = _by_name(items)
    for table, rows in _tables(everything) if known else ():
        columns = columns_of(table)
        if columns is None or not columns.keys:
            continue
        cells = {row.line: row.cells for row in table.rows}
        for row in read_rows(table, columns, rows):
            names = (name for cell in cells[row.line][:3] for name in _mentions(plain(cell.text)))
            target = next((t for name in names if (t := known.get(name)) is not None), None)
            if target is not None and target.form != "row":
                row.reason = AGAIN
                _lend(row, target, problems)


def lend_from_tellings(everything: list[Candidate], items: list[Candidate], problems: list[Problem]) -> None:
    """Fill in what items leave out from headings and bold lines left that tell of them again."""
    known = _by_name(items)
    for candidate in everything:
        if candidate.taken or candidate.form not in ("heading", "bold") or not candidate.title:
            continue
        target = next((t for name in _names(candidate) if (t := known.get(name)) is not None), None)
        if target is not None and (candidate.reason == AGAIN or _key(target) == _key(candidate)):
            _lend(candidate, target, problems)


def _lend(source: Candidate, target: Candidate, problems: list[Problem]) -> None:
    target.gain = target.gain or (source.gain if source.gain is not None and source.gain.unit else None)
    target.effort = target.effort or source.effort
    target.risk = target.risk or source.risk
    target.attributes += [
        a
        for a in source.attributes
        if a.key in ("needs", "risk", "hypothesis", "skip_if") and not target.has(a.key)
    ]
    if target.box is None and target.status is None:
        target.status = source.status
    elif source.status is not None and target.status is not None and source.status != target.status:
        stated, other = target.status.replace("_", " "), source.status.replace("_", " ")
        problems.append(
            warning_at(
                source.line,
                f"`{target.title}` is {stated} on line {target.line}, and {other} here",
                f"the item's own mark counts: {stated}",
            )
        )


def take_breakdowns(everything: list[Candidate], items: list[Candidate]) -> None:
    """Take the boxes below a line or heading that names an item which holds nothing else (`Phase 2: Cleanup`).

    Each box becomes a part of the item named; the first place that breaks an item down counts.
    """
    known = {name: item for name, item in _by_name(items).items() if not item.children}
    where: dict[int, int] = {}
    for candidate in everything if known else ():
        if candidate.form != "entry" or candidate.box is None or candidate.taken or candidate.above is None:
            continue
        above = candidate.above
        if above.form == "entry" or above.taken or _is_aside(above) or is_sample(candidate.lead):
            continue
        text = candidate.lead or above.text.text
        target = next((t for name in _spoken(text) if (t := known.get(name)) is not None), None)
        outer = above.above if above.form == "bold" and above.above is not None else above
        if target is not None and where.setdefault(id(target), id(outer)) == id(outer):
            candidate.taken, candidate.parent = True, target


def _is_aside(candidate: Candidate) -> bool:
    at: Candidate | None = candidate
    while at is not None and at.level:
        words = at.text.text
        if is_sample(words) or (is_context(words) and not is_order(words)):
            return True
        at = at.above
    return False


def _spoken(text: str) -> Iterator[str]:
    label = read_label(text) or read_label(f"{plain(text)}:")
    if label is not None and label.id is not None and label.kind in ("word", "code"):
        yield folded(f"{label.word} {label.id}")
        return
    yield folded(text)


def _by_name(items: list[Candidate]) -> dict[str, Candidate]:
    """The items by label and by title, where only one has it."""
    found: dict[str, Candidate | None] = {}
    for item in items:
        for name in set(_names(item)):
            found[name] = None if name in found else item
    return {name: item for name, item in found.items() if item is not None}


def _names(item: Candidate) -> Iterator[str]:
    yield folded(item.title)
    bare = item.title.split("(")[0]
    if bare != item.title and folded(bare):
        yield folded(bare)
    if item.label is not None and item.label.id is not None and item.label.kind in ("word", "code"):
        yield folded(f"{item.label.word} {item.label.id}")
        if item.label.kind == "code":
            yield folded(item.label.id)
    elif item.form == "row" and item.own_id is not None and not item.own_id.isdigit():
        yield folded(item.own_id)
    code = _CODE.search(item.text.text)
    if code is not None:
        yield folded(code[1])


def _mentions(text: str) -> Iterator[str]:
    if not text:
        return
    yield folded(text)
    label = read_label(text) or read_label(f"{text}:")
    if label is not None and label.id is not None and label.kind in ("word", "code"):
        yield folded(f"{label.word} {label.id}")
        if label.kind == "code":
            yield folded(label.id)

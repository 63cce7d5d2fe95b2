"""The same work told twice: which telling is taken, what the other lends it, and what only breaks an item down."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from optrack.model.plan import Problem
from optrack.plan.attributes import evaluate
from optrack.plan.labels import read_label
from optrack.plan.parts import Candidate, Table, warning_at
from optrack.plan.tables import columns_of, read_rows
from optrack.plan.vocabulary import folded, is_context, is_order, is_sample, plain

_CODE = re.compile(r"[\[(]([A-Z]{1,3}-?\d{1,4}[\w/-]{0,12})[\])]\s*$")
"""The id in brackets at a title's end: `Fused kernel [F1]`."""

AGAIN = "tells again what other items tell"


def leave(item: Candidate, reason: str) -> None:
    """Leave an item and all that it holds."""
    stack = [item]
    while stack:
        candidate = stack.pop()
        if candidate.taken:
            candidate.taken, candidate.reason = False, reason
            stack.extend(candidate.below)


def leave_rivals(items: list[Candidate]) -> None:
    """Leave one of several top-level numberings that use the same ids (Tiers 1-3 and Phases 1-3)."""
    groups: defaultdict[tuple[str, int], list[Candidate]] = defaultdict(list)
    first: dict[tuple[str, str], Candidate] = {}
    for item in items:
        label = item.label
        if not item.taken or label is None or not label.id or item.form not in ("heading", "bold"):
            continue
        earlier = first.setdefault((label.name, _key(item)), item)
        if label.kind == "word" and earlier.above is not item.above and not item.has_recipe:
            leave(item, AGAIN)
        elif item.parent is None:
            groups[label.series, id(item.above)].append(item)
    ids: set[str | None] = set()
    kinds = Counter(series for series, _ in groups)
    ranked = sorted(groups.items(), key=lambda g: (-_weight(g[1]), -len(g[1]), g[1][0].line))
    for (series, _), members in ranked:
        own = {c.written_id for c in members}
        rival = len(own & ids) * 2 > len(own) and kinds[series] == 1
        if rival and not any(c.has_recipe for c in members):
            for item in members:
                leave(item, AGAIN)
        else:
            ids |= own


def leave_retellings(items: list[Candidate]) -> None:
    """Leave a group of items most of whose titles are those of items elsewhere that say at least as much."""
    groups: defaultdict[tuple[int, int], list[Candidate]] = defaultdict(list)
    places: defaultdict[str, set[tuple[int, int]]] = defaultdict(set)
    for item in items:
        at = item
        while at.parent is not None:
            at = at.parent
        where = id(at.above), id(at.group)
        groups[where].append(item)
        places[_key(item)].add(where)
    for where, members in sorted(groups.items(), key=lambda g: _weight(g[1])):
        leaves = [c for c in members if not c.children]
        again = sum(bool(places[_key(c)] - {where}) for c in leaves)
        if again > 1 and again * 2 >= len(leaves) and not any(c.has_recipe for c in members):
            for member in members:
                places[_key(member)].discard(where)
                leave(member, AGAIN)


def _weight(items: list[Candidate]) -> int:
    return sum(item.weight() for item in items)


def _key(item: Candidate) -> str:
    return folded(re.split(r"\s*[(（]|\s[—–-]+\s", item.title)[0])


def own_what_is_theirs(item: Candidate) -> None:
    """Leave to an item's parts what lists of theirs say, and give to an item without parts what headings below it
    that are none say, but for their states."""
    parts = item.children
    lists = {c.group.line for c in parts if c.group is not None}
    if lists:
        evaluate(item, lists)
    for below in () if parts else item.below:
        if below.form == "heading" and below.label is None:
            item.gain, item.effort = item.gain or below.gain, item.effort or below.effort
            lent = [a for a in below.attributes if a.key not in (None, "status", "priority")]
            item.attributes = (*item.attributes, *(a for a in lent if not item.has(a.key or "")))


def fuller_table(everything: list[Candidate], items: list[Candidate], *, certain: bool) -> list[Candidate]:
    """Return the rows of a ranked table that says more than the items do: one with the gain and effort of more of
    them, or one that names most of them, and half as many again."""
    said, told = (
        _weight([c for c in items if c.parent is None]),
        sum(c.weight() > 0 and not c.children for c in items),
    )
    plain_items = not any(c.has_recipe or c.box is not None or c.children or c.form == "row" for c in items)
    best: list[Candidate] = []
    for table in sorted(_tables(everything), key=lambda t: -len(t.rows)):
        columns = columns_of(table)
        if columns is None or not columns.is_ranked or not columns.keys or table.rows[0].taken:
            continue
        rows, above = read_rows(table, columns), table.rows[0].above
        full = {"gain", "effort"} <= set(columns.keys.values()) and columns.rank is not None
        full = full and columns.id is not None and not (above is not None and is_context(above.words))
        if full and not certain and len(rows) > max(4, told) and _weight(rows) > 1.5 * said:
            return rows
        if plain_items and len(rows) >= 1.5 * len(items) and not best:
            known = _by_name(rows)
            named = sum(any(name in known for name in _names(item)) for item in items)
            best = rows if named * 5 >= 3 * len(items) > 0 else []
    return best


def _tables(everything: list[Candidate]) -> list[Table]:
    """The tables whose rows are no items."""
    rows = (c for c in everything if c.form == "row" and not c.taken)
    return list({id(row.group): row.group for row in rows if isinstance(row.group, Table)}.values())


def lend(everything: list[Candidate], items: list[Candidate], problems: list[Problem]) -> None:
    """Fill in what items leave out from headings and bold lines left that tell of them again, and from rows that name
    them by label (`Phase 2`) or title.

    Nothing that an item says itself is changed, and a bare number names nothing. A telling that says another state
    than the item becomes a warning.
    """
    known = _by_name(items)
    for candidate in everything if known else ():
        if not candidate.taken and candidate.form in ("heading", "bold") and candidate.title:
            target = next((known[name] for name in _names(candidate) if name in known), None)
            if target is not None and (candidate.reason == AGAIN or _key(target) == _key(candidate)):
                _lend(candidate, target, problems)
    for table in _tables(everything) if known else ():
        columns = columns_of(table)
        for row in read_rows(table, columns) if columns is not None and columns.keys else ():
            names = (name for cell in row.lines[:3] for name in _mentioned(plain(cell.text)))
            target = next((known[name] for name in names if name in known), None)
            if target is not None and target.form != "row":
                row.reason = AGAIN
                _lend(row, target, problems)


def _lend(source: Candidate, target: Candidate, problems: list[Problem]) -> None:
    target.gain = target.gain or (source.gain if source.gain is not None and source.gain.unit else None)
    target.effort, target.risk = target.effort or source.effort, target.risk or source.risk
    lent = [a for a in source.attributes if a.key in ("needs", "risk", "hypothesis", "skip_if")]
    target.attributes = (*target.attributes, *(a for a in lent if not target.has(a.key or "")))
    if target.box is None and target.status is None:
        target.status = source.status
    elif source.status is not None and target.status is not None and source.status != target.status:
        stated, other = target.status.replace("_", " "), source.status.replace("_", " ")
        message = f"`{target.title}` is {stated} on line {target.line}, and {other} here"
        problems.append(warning_at(source.line, message, f"the item's own mark counts: {stated}"))


def take_breakdowns(everything: list[Candidate], items: list[Candidate]) -> None:
    """Take the boxes below a line or heading that names an item which holds nothing else (`Phase 2: Cleanup`).

    Each box becomes a part of the item named; the first place that breaks an item down counts.
    """
    known = {name: item for name, item in _by_name(items).items() if not item.children}
    where: dict[int, int] = {}
    for candidate in everything if known else ():
        above = candidate.above
        if candidate.form != "entry" or candidate.box is None or candidate.taken or above is None:
            continue
        if above.form == "entry" or above.taken or _is_aside(above) or is_sample(candidate.lead):
            continue
        name = next(iter(_mentioned(candidate.lead or above.words, alone=True)), "")
        target = known.get(name)
        outer = above.above if above.form == "bold" and above.above is not None else above
        if target is not None and where.setdefault(id(target), id(outer)) == id(outer):
            candidate.taken, candidate.parent = True, target


def _is_aside(candidate: Candidate) -> bool:
    at: Candidate | None = candidate
    while at is not None and at.level:
        if is_sample(at.words) or (is_context(at.words) and not is_order(at.words)):
            return True
        at = at.above
    return False


def _by_name(items: list[Candidate]) -> dict[str, Candidate]:
    """The items by label and by title, where only one has it."""
    found: dict[str, Candidate | None] = {}
    for item in items:
        for name in set(_names(item)):
            found[name] = None if name in found else item
    return {name: item for name, item in found.items() if item is not None}


def _names(item: Candidate) -> Iterator[str]:
    yield folded(item.title)
    bare = folded(item.title.split("(")[0])
    if bare:
        yield bare
    if item.label is not None and item.kind in ("word", "code"):
        yield folded(item.label.name)
        if item.kind == "code":
            yield folded(item.label.id or "")
    elif item.form == "row" and item.own_id is not None and not item.own_id.isdigit():
        yield folded(item.own_id)
    code = _CODE.search(item.words)
    if code is not None:
        yield folded(code[1])


def _mentioned(text: str, *, alone: bool = False) -> Iterator[str]:
    """The names by which a text may mention an item; `alone`, by its label only if it has one."""
    label = read_label(text) or read_label(f"{plain(text)}:")
    labelled = label is not None and label.id is not None and label.kind in ("word", "code")
    if text and not (alone and labelled):
        yield folded(text)
    if label is not None and labelled:
        yield folded(label.name)
        if label.kind == "code":
            yield folded(label.id or "")

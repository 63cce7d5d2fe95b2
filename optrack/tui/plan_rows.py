"""Which rows the plan's list shows and in what order: the tree by rank, or flat by value or result, filtered."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from optrack.core.state import ItemState
from optrack.tui import marks

Order = Literal["rank", "value", "result"]
ORDERS: tuple[Order, ...] = ("rank", "value", "result")
ONLY: tuple[str, ...] = ("", "pending", "in progress", "completed", "cancelled", "blocked", "failed", "stale")


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A row of the plan's list: an item's state, its depth in the tree, and whether its children show.

    `opened` is None for an item without children.
    """

    state: ItemState
    depth: int = 0
    opened: bool | None = None
    blocked: bool = False
    next: bool = False
    launches: int = 0


@dataclass(frozen=True, slots=True)
class Looking:
    """How the list is looked at: order, words that must occur, the one standing shown, folded items."""

    order: Order = "rank"
    words: str = ""
    only: str = ""
    folded: frozenset[str] = frozenset()


def arranged(
    items: Iterable[ItemState],
    looking: Looking,
    *,
    blocked: Collection[str] = (),
    next_item: str | None = None,
    launches: Mapping[str, int] | None = None,
) -> list[PlanRow]:
    """Return the rows for these items; ancestors of a match stay, so that it keeps its place in the tree."""
    states = list(items)
    counted = launches or {}

    def row(state: ItemState, depth: int = 0, opened: bool | None = None) -> PlanRow:
        name = state.item.id
        return PlanRow(state, depth, opened, name in blocked, name == next_item, counted.get(name, 0))

    filtering = bool(looking.words.strip() or looking.only)
    if looking.order != "rank":
        chosen = [row(s) for s in states if not filtering or matches(s, looking, s.item.id in blocked)]
        return sorted(chosen, key=_value if looking.order == "value" else _result)
    return _tree(states, looking, row, blocked, filtering)


def _tree(states, looking, row, blocked, filtering) -> list[PlanRow]:  # type: ignore[no-untyped-def]
    known = {s.item.id for s in states}
    below: dict[str | None, list[ItemState]] = {}
    for state in states:
        parent = state.item.parent if state.item.parent in known else None
        below.setdefault(parent, []).append(state)
    kept = known
    if filtering:
        parents = {s.item.id: s.item.parent for s in states}
        kept = set()
        for state in states:
            if matches(state, looking, state.item.id in blocked):
                at: str | None = state.item.id
                while at is not None and at not in kept:
                    kept.add(at)
                    at = parents.get(at)
    rows: list[PlanRow] = []
    stack = [(s, 0) for s in reversed(below.get(None, []))]
    while stack:
        state, depth = stack.pop()
        if state.item.id not in kept:
            continue
        children = [c for c in below.get(state.item.id, []) if c.item.id in kept]
        opened = (filtering or state.item.id not in looking.folded) if children else None
        rows.append(row(state, depth, opened))
        if opened:
            stack += [(c, depth + 1) for c in reversed(children)]
    return rows


def matches(state: ItemState, looking: Looking, blocked: bool) -> bool:
    """Whether the item has the standing that is shown alone and contains every word."""
    standing = marks.standing(state, blocked=blocked).word
    verdict = marks.verdict(state)
    flags = [mark.word for mark in marks.flags(state)]
    words = [standing, verdict.word if verdict else "", *flags]
    if looking.only and looking.only not in words:
        return False
    comparison = state.judgement.comparison if state.judgement else ""
    text = " ".join([state.item.id, state.item.title, *words, comparison]).casefold()
    return all(word in text for word in looking.words.casefold().split())


def _value(row: PlanRow) -> tuple[float, int]:
    gain, effort = row.state.item.gain, row.state.item.effort
    high = gain.high if gain and gain.high is not None else float("-inf")
    del effort
    return (-high, row.state.item.rank)


def _result(row: PlanRow) -> tuple[int, float, int]:
    judgement = row.state.judgement
    order = {"improvement": 0, "no_change": 1, "inconclusive": 2, "regression": 3, "failed": 4}
    if judgement is None:
        return (9, 0.0, row.state.item.rank)
    relative = abs(judgement.effect.relative) if judgement.effect else 0.0
    return (order.get(judgement.verdict or "", 5), -relative, row.state.item.rank)

"""Which rows the plan's list shows, in what order: a tree by rank, or flat by value or result."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from optrack.model.item import ItemState
from optrack.tui import marks
from optrack.tui.board import NextItem

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
    worth: float = 0.0


@dataclass(frozen=True, slots=True)
class Looking:
    """How the list is looked at: order, words that must occur, the one standing shown, folded items."""

    order: Order = "rank"
    words: str = ""
    only: str = ""
    folded: frozenset[str] = frozenset()

    @property
    def told(self) -> str:
        """How the list differs from the whole plan in its order: `by value, only pending`; nothing if it doesn't."""
        parts = [f"by {self.order}" if self.order != "rank" else "", f"only {self.only}" if self.only else ""]
        words = f"with '{self.words.strip()}'" if self.words.strip() else ""
        return ", ".join(part for part in (*parts, words) if part)


def arranged(
    items: Iterable[ItemState],
    looking: Looking,
    *,
    choice: NextItem | None = None,
    launches: Mapping[str, int] | None = None,
) -> list[PlanRow]:
    """Return the rows for these items; ancestors of a match stay, so that it keeps its place in the tree."""
    states = list(items)
    counted = launches or {}
    chosen = choice or NextItem(item=None, why="")
    blocked = chosen.blocked

    def row(state: ItemState, depth: int = 0, opened: bool | None = None) -> PlanRow:
        name = state.item.id
        return PlanRow(
            state,
            depth,
            opened,
            name in blocked,
            name == chosen.item,
            counted.get(name, 0),
            chosen.worth.get(name, 0.0),
        )

    filtering = bool(looking.words.strip() or looking.only)
    if looking.order != "rank":
        rows = [row(s) for s in states if not filtering or matches(s, looking, s.item.id in blocked)]
        return sorted(rows, key=_value if looking.order == "value" else _result)
    return _tree(states, looking, row, blocked, filtering)


def _tree(
    states: Sequence[ItemState],
    looking: Looking,
    row: Callable[[ItemState, int, bool | None], PlanRow],
    blocked: Collection[str],
    filtering: bool,
) -> list[PlanRow]:
    known = {state.item.id for state in states}
    below: dict[str | None, list[ItemState]] = {}
    for state in states:
        parent = state.item.parent if state.item.parent in known else None
        below.setdefault(parent, []).append(state)
    kept = _kept(states, looking, blocked) if filtering else known
    rows: list[PlanRow] = []
    stack = [(state, 0) for state in reversed(below.get(None, []))]
    while stack:
        state, depth = stack.pop()
        if state.item.id not in kept:
            continue
        children = [child for child in below.get(state.item.id, []) if child.item.id in kept]
        opened = (filtering or state.item.id not in looking.folded) if children else None
        rows.append(row(state, depth, opened))
        if opened:
            stack += [(child, depth + 1) for child in reversed(children)]
    return rows


def _kept(states: Sequence[ItemState], looking: Looking, blocked: Collection[str]) -> set[str]:
    """Return the ids of the matches and of all above them."""
    parents = {state.item.id: state.item.parent for state in states}
    kept: set[str] = set()
    for state in states:
        if matches(state, looking, state.item.id in blocked):
            at: str | None = state.item.id
            while at is not None and at not in kept:
                kept.add(at)
                at = parents.get(at)
    return kept


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
    return (-row.worth, row.state.item.rank)


def _result(row: PlanRow) -> tuple[int, float, int]:
    judgement = row.state.judgement
    order = {"improvement": 0, "no_change": 1, "inconclusive": 2, "regression": 3, "failed": 4}
    if judgement is None:
        return (9, 0.0, row.state.item.rank)
    relative = abs(judgement.effect.relative) if judgement.effect else 0.0
    return (order.get(judgement.verdict or "", 5), -relative, row.state.item.rank)

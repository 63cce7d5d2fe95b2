"""The ranked plan as a tree in aligned columns: which rows it has, in what order, and their cells."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar

from optrack.app.watching import View
from optrack.model.item import ItemState
from optrack.model.judgement import Effect
from optrack.render import format as fmt
from optrack.render.chart import Axis, axis_of, strip, tick_line
from optrack.tui.widgets.list import Cell, Column, RowList

V = TypeVar("V")
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
class ListFilter:
    """What the list shows: its order, words that must occur, the one status or verdict shown, folded items."""

    order: Order = "rank"
    words: str = ""
    only: str = ""
    folded: frozenset[str] = frozenset()

    @property
    def summary(self) -> str:
        """How the list differs from the whole plan in its order: `by value, only pending`; nothing if it doesn't."""
        parts = [f"by {self.order}" if self.order != "rank" else "", f"only {self.only}" if self.only else ""]
        words = f"with '{self.words.strip()}'" if self.words.strip() else ""
        return ", ".join(part for part in (*parts, words) if part)


def following(values: Sequence[V], value: V) -> V:
    """Return the value after this one, the first after the last."""
    return values[(values.index(value) + 1) % len(values)]


def arranged(view: View, by: ListFilter) -> list[PlanRow]:
    """Return the rows of the plan; ancestors of a match stay, so that it keeps its place in the tree."""
    blocked = view.blocked

    def row(state: ItemState, depth: int = 0, opened: bool | None = None) -> PlanRow:
        name = state.item.id
        return PlanRow(
            state,
            depth,
            opened,
            name in blocked,
            name == view.choice.item,
            view.launches.get(name, 0),
            view.worth.get(name, 0.0),
        )

    filtering = bool(by.words.strip() or by.only)
    if by.order != "rank":
        rows = [row(s) for s in view.items if not filtering or matches(s, by, s.item.id in blocked)]
        return sorted(rows, key=_value if by.order == "value" else _result)
    return _tree(view.items, by, row, blocked, filtering)


def _tree(
    states: Sequence[ItemState],
    by: ListFilter,
    row: Callable[[ItemState, int, bool | None], PlanRow],
    blocked: Collection[str],
    filtering: bool,
) -> list[PlanRow]:
    known = {state.item.id for state in states}
    below: dict[str | None, list[ItemState]] = {}
    for state in states:
        parent = state.item.parent if state.item.parent in known else None
        below.setdefault(parent, []).append(state)
    kept = _kept(states, by, blocked) if filtering else known
    rows: list[PlanRow] = []
    stack = [(state, 0) for state in reversed(below.get(None, []))]
    while stack:
        state, depth = stack.pop()
        if state.item.id not in kept:
            continue
        children = [child for child in below.get(state.item.id, []) if child.item.id in kept]
        opened = (filtering or state.item.id not in by.folded) if children else None
        rows.append(row(state, depth, opened))
        if opened:
            stack += [(child, depth + 1) for child in reversed(children)]
    return rows


def _kept(states: Sequence[ItemState], by: ListFilter, blocked: Collection[str]) -> set[str]:
    """Return the ids of the matches and of all above them."""
    parents = {state.item.id: state.item.parent for state in states}
    kept: set[str] = set()
    for state in states:
        if matches(state, by, state.item.id in blocked):
            at: str | None = state.item.id
            while at is not None and at not in kept:
                kept.add(at)
                at = parents.get(at)
    return kept


def matches(state: ItemState, by: ListFilter, blocked: bool) -> bool:
    """Whether the item has the status or verdict that is shown alone and contains every word."""
    verdict = fmt.verdict_mark(state.judgement)
    marks = [fmt.status_mark(state, blocked=blocked), *([verdict] if verdict else []), *fmt.flags(state)]
    words = [mark.word for mark in marks]
    if by.only and by.only not in words:
        return False
    comparison = state.judgement.comparison if state.judgement else ""
    text = " ".join([state.item.id, state.item.title, *words, comparison]).casefold()
    return all(word in text for word in by.words.casefold().split())


def _value(row: PlanRow) -> tuple[float, int]:
    return (-row.worth, row.state.item.rank)


def _result(row: PlanRow) -> tuple[int, float, int]:
    judgement = row.state.judgement
    order = {"improvement": 0, "no_change": 1, "inconclusive": 2, "regression": 3, "failed": 4}
    if judgement is None:
        return (9, 0.0, row.state.item.rank)
    relative = abs(judgement.effect.relative) if judgement.effect else 0.0
    return (order.get(judgement.verdict or "", 5), -relative, row.state.item.rank)


NARROW = 120
"""Below this width, in cells, status and verdict share a column, and so do all remarks."""


STRIP = 31
"""How wide the intervals are drawn on their common axis, in cells."""


def columns(rows: Sequence[PlanRow], width: int, min_effect: float = 0.02) -> tuple[Column[PlanRow], ...]:
    """Return the columns for these rows: the ids have the room that they need, within bounds."""
    axis = axis_of(map(_measured, rows), min_effect)
    drawn = Column(tick_line(axis, STRIP, 4), STRIP, partial(_interval, axis), yields=4)
    wide = max((2 * row.depth + 2 + len(row.state.item.id) for row in rows), default=8)
    first = Column("Item", max(8, min(wide, 26 if width >= NARROW else 14)), _item)
    title = Column("Title", 16, _title, elastic=True, wish=34)
    if width < NARROW:
        return (
            first,
            title,
            Column("Standing", 14, _standing),
            Column("Effect", 7, _effect, yields=1, right=True),
            Column("Note", 10, _note, yields=2),
        )
    return (
        first,
        title,
        Column("Status", 13, lambda row: _marked(_status(row))),
        Column("Verdict", 14, lambda row: _marked(fmt.verdict_mark(row.state.judgement)), yields=1),
        Column("Effect", 7, _effect, yields=2, right=True),
        drawn,
        Column("Note", 10, _note, yields=3),
        Column("Expected", 9, _expected, yields=5),
        Column("Launches", 8, lambda row: Cell(str(row.launches or ""), _tone(row)), yields=6, right=True),
        Column("95% interval", 16, lambda row: Cell(fmt.bounds(_measured(row)), "quiet"), yields=7),
    )


def _tone(row: PlanRow) -> fmt.Tone:
    return "quiet" if row.blocked or row.state.status == "cancelled" else "plain"


def _item(row: PlanRow) -> Cell:
    fold = "  " if row.opened is None else "- " if row.opened else "+ "
    return Cell("  " * row.depth + fold + row.state.item.id, "quiet" if _tone(row) == "quiet" else "strong")


def _title(row: PlanRow) -> Cell:
    return Cell(row.state.item.title, _tone(row))


def _status(row: PlanRow) -> fmt.Mark:
    return fmt.status_mark(row.state, blocked=row.blocked)


def _standing(row: PlanRow) -> Cell:
    verdict = fmt.verdict_mark(row.state.judgement)
    return _marked(verdict if verdict and row.state.status == "completed" else _status(row))


def _measured(row: PlanRow) -> Effect | None:
    return row.state.judgement.effect if row.state.judgement else None


def _effect(row: PlanRow) -> Cell:
    verdict, effect = fmt.verdict_mark(row.state.judgement), _measured(row)
    return Cell(fmt.short_effect(effect) if effect else "", verdict.tone if verdict else "plain")


def _interval(axis: Axis, row: PlanRow) -> Cell:
    verdict = fmt.verdict_mark(row.state.judgement)
    sign = verdict.sign if verdict else "│"
    return Cell(strip(axis, _measured(row), STRIP, sign), verdict.tone if verdict else "quiet")


def _fairness(row: PlanRow) -> fmt.Mark | None:
    judged = row.state.judgement
    return fmt.COMPARISON[judged.comparison] if judged and judged.verdict != "failed" else None


def _note(row: PlanRow) -> Cell:
    fair = _fairness(row)
    remarks = [*([fair] if fair and fair.sign else []), *_remarks(row)]
    return _marked(*remarks[:1])


def _remarks(row: PlanRow) -> list[fmt.Mark]:
    return [fmt.NEXT] if row.next else list(fmt.flags(row.state))


def _expected(row: PlanRow) -> Cell:
    gain = row.state.item.gain
    return Cell(gain.text if gain else "", _tone(row))


def _marked(*marks: fmt.Mark | None) -> Cell:
    given = [mark for mark in marks if mark]
    return Cell(" ".join(map(str, given)), given[0].tone if given else "quiet")


class PlanList(RowList[PlanRow]):
    """The plan's rows; how many columns there are depends on the width."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(columns((), 80), lambda row: row.state.item.id, empty="Reading the plan ...", id=id)
        self._min_effect = 0.02

    def show(
        self, rows: Sequence[PlanRow], *, empty: str | None = None, min_effect: float | None = None
    ) -> None:
        self._min_effect = self._min_effect if min_effect is None else min_effect
        self.columns = columns(rows, self.size.width, self._min_effect)
        super().show(rows, empty=empty)

    def on_resize(self) -> None:
        self.columns = columns(self.rows, self.size.width, self._min_effect)

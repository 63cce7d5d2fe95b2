"""What would run next, as the screens tell it, worked out anew only where an item stands otherwise."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from optrack.model.item import ItemState
from optrack.model.plan import Plan
from optrack.plan.schedule import blocked_by, choose
from optrack.plan.value import worths
from optrack.tui.board import NextItem


class Choosing:
    """Keeps the last choice and what it was made of."""

    def __init__(self) -> None:
        self._made_of: tuple[object, ...] = ()
        self._choice: NextItem | None = None

    def choice(self, plan: Plan, states: tuple[ItemState, ...]) -> NextItem:
        """Return what would run next and why."""
        made_of = (plan, *states)
        if self._choice is None or not _same(self._made_of, made_of):
            self._made_of, self._choice = made_of, _choice(plan, states)
        return self._choice


def _same(before: Sequence[object], now: Sequence[object]) -> bool:
    """Whether both hold the very same objects: the reader hands out one that it has for what is unchanged."""
    return len(before) == len(now) and all(map(operator.is_, before, now))


def _choice(plan: Plan, states: tuple[ItemState, ...]) -> NextItem:
    choice = choose(plan, states)
    known = {state.item.id: state for state in states}
    blocked = {item.id: blocked_by(item, known) for item in plan.items}
    chosen = choice.chosen
    return NextItem(
        item=choice.item,
        why=chosen.text if chosen else choice.summary,
        reasons={reason.item: reason.text for reason in choice.reasons},
        blocked={item: needs for item, needs in blocked.items() if needs},
        worth={item: worth.value for item, worth in worths(plan, states).items()},
    )

"""How the items of a plan stand to one another: who is runnable, what blocks whom, which parents are done."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from optrack.core.plan import Item, Plan
from optrack.core.state import ItemState
from optrack.core.status import Status

_OVER = ("completed", "cancelled")


def is_runnable(plan: Plan, item: Item) -> bool:
    """Whether the item has a recipe block of its own to run, or is the baseline of a base recipe."""
    return item.recipe is not None or (item.id == plan.baseline and plan.recipe is not None)


def children_of(plan: Plan) -> Mapping[str, list[Item]]:
    """Return each parent's children in plan order, in one pass."""
    found: defaultdict[str, list[Item]] = defaultdict(list)
    for item in plan.items:
        if item.parent is not None:
            found[item.parent].append(item)
    return found


def blocked_by(item: Item, states: Mapping[str, ItemState]) -> tuple[str, ...]:
    """Return the ids that `item` needs and that aren't completed."""
    return tuple(need for need in item.needs if need not in states or states[need].status != "completed")


def rollup(plan: Plan, states: Sequence[ItemState]) -> tuple[str, ...]:
    """Return the parents without a recipe that are done: some child completed, and none left open.

    Innermost first, so that a grandparent follows its last child. Only parents of items that run count: where
    nothing runs, people mark by hand.
    """
    known = _statuses(states)
    done: list[str] = []
    for item, below in _groups(plan):
        standing = [known.get(child.id, "pending") for child in below]
        if (
            known.get(item.id, "pending") not in _OVER
            and all(s in _OVER for s in standing)
            and "completed" in standing
        ):
            done.append(item.id)
            known[item.id] = "completed"
    return tuple(done)


def reopened(plan: Plan, states: Sequence[ItemState]) -> tuple[str, ...]:
    """Return the parents without a recipe that are completed although something under them is open, innermost
    first."""
    known = _statuses(states)
    found: list[str] = []
    for item, below in _groups(plan):
        if known.get(item.id) == "completed" and any(known.get(child.id) not in _OVER for child in below):
            found.append(item.id)
            known[item.id] = "pending"
    return tuple(found)


def _statuses(states: Sequence[ItemState]) -> dict[str, Status]:
    return {state.item.id: state.status for state in states if not state.archived}


def _groups(plan: Plan) -> Iterator[tuple[Item, Sequence[Item]]]:
    """Yield each parent without a recipe that holds items that run, with its children, innermost first."""
    children = children_of(plan)
    runs = {item.id for item in plan.items if is_runnable(plan, item)}
    for item in sorted(plan.items, key=lambda i: -i.rank):
        below = children.get(item.id, [])
        if below and item.id not in runs and _holds_runs(item.id, children, runs):
            runs.add(item.id)
            yield item, below


def _holds_runs(item_id: str, children: Mapping[str, list[Item]], runs: set[str]) -> bool:
    return any(child.id in runs for child in children.get(item_id, []))


def comparisons(plan: Plan) -> int:
    """Return how many comparisons with the baseline the plan holds: the family of its verdicts."""
    return sum(is_runnable(plan, item) and item.id != plan.baseline for item in plan.items)

"""Which item is next and why; who blocks whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from optrack.model.item import ItemState
from optrack.model.plan import Item, Plan, Status
from optrack.model.value import Frozen
from optrack.plan.resolve import combined_ids
from optrack.plan.skip import read_condition
from optrack.plan.value import Worth, worths

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


def comparisons(plan: Plan, states: Sequence[ItemState], judged: Mapping[str, int] | None = None) -> int:
    """Return how many comparisons with the baseline share the plan's error: the items that are open or were judged.

    An item that is measured again counts once more for each earlier run that was `judged` (how many, by item). One
    that was cancelled before it was ever judged doesn't count.
    """
    known = {state.item.id: state for state in states}
    runs = judged or {state.item.id: 1 for state in states if state.judgement is not None}
    open_ = {
        item.id
        for item in plan.items
        if is_runnable(plan, item)
        and (item.id not in known or known[item.id].status in ("pending", "in_progress"))
    }
    return sum(runs.get(item, 0) + (item in open_) for item in {*open_, *runs} - {plan.baseline})


Kind = Literal["chosen", "later", "done", "running", "blocked", "skipped", "by_hand", "group"]


class Reason(Frozen):
    """Why an item is chosen or isn't, as a kind and a sentence; `blocked_by` names what it waits for."""

    item: str
    kind: Kind
    text: str
    blocked_by: tuple[str, ...] = ()


class Choice(Frozen):
    """The next item, or None, and the reasons for every item in the order in which they were looked at."""

    item: str | None
    reasons: tuple[Reason, ...]

    @property
    def chosen(self) -> Reason | None:
        """The reason of the chosen item."""
        return next((reason for reason in self.reasons if reason.kind == "chosen"), None)

    @property
    def skipped(self) -> tuple[Reason, ...]:
        """The items whose `skip if` holds, which may be marked cancelled for that reason."""
        return tuple(reason for reason in self.reasons if reason.kind == "skipped")

    @property
    def summary(self) -> str:
        """What is next, or why nothing can be run: all done, or what is left and what it waits for."""
        if (chosen := self.chosen) is not None:
            return f"next is {chosen.item}: it {chosen.text}"
        left = [r for r in self.reasons if r.kind in ("blocked", "running", "skipped", "by_hand")]
        if not self.reasons:
            return "the plan has no items"
        if not left:
            return "all items are done"
        return "nothing can be run now: " + "; ".join(f"{r.item} {r.text}" for r in left[:8])


def choose(
    plan: Plan,
    states: Sequence[ItemState],
    *,
    by: Literal["rank", "value"] = "rank",
    attempts: int = 3,
    without: Collection[str] = (),
) -> Choice:
    """Choose the next pending item: the baseline, then by rank, or by expected gain per effort.

    An item waits for all it needs to be completed and for all it combines to be completed or cancelled; it is
    skipped where its condition holds. One that was interrupted is taken up again, up to `attempts` runs.
    Those in `without` were tried already and are passed over.
    """
    known = {state.item.id: state for state in states if not state.archived}
    children = children_of(plan)
    worth = worths(plan, states) if by == "value" else {}
    reasons: list[Reason] = []
    chosen: str | None = None
    for item in sorted(plan.items, key=lambda i: _order(plan, i, worth)):
        reason = _obstacle(plan, item, known, children, attempts)
        if reason is None and item.id in without:
            reason = Reason(item=item.id, kind="blocked", text="was tried just now")
        if reason is None and chosen is None:
            chosen = item.id
            reason = Reason(item=item.id, kind="chosen", text=_why(plan, item, known, worth))
        elif reason is None:
            reason = Reason(item=item.id, kind="later", text=f"comes after {chosen}")
        reasons.append(reason)
    return Choice(item=chosen, reasons=tuple(reasons))


def _order(plan: Plan, item: Item, worth: Mapping[str, Worth]) -> tuple[int, float, int]:
    return (item.id != plan.baseline, -worth[item.id].value if item.id in worth else 0.0, item.rank)


def _obstacle(
    plan: Plan, item: Item, known: Mapping[str, ItemState], children: Mapping[str, list[Item]], attempts: int
) -> Reason | None:
    state = known.get(item.id)
    status = state.status if state is not None else item.status
    if status in ("completed", "cancelled"):
        verdict = state.judgement.verdict if state is not None and state.judgement is not None else None
        stale = ", but its recipe was edited since" if state is not None and state.stale else ""
        return Reason(
            item=item.id, kind="done", text=f"is {status}{f' ({verdict})' if verdict else ''}{stale}"
        )
    if status == "in_progress":
        return Reason(item=item.id, kind="running", text="is in progress")
    if not is_runnable(plan, item):
        if children.get(item.id):
            return Reason(item=item.id, kind="group", text="is a group: it is done when its items are")
        return Reason(item=item.id, kind="by_hand", text="has no recipe: it is marked by hand")
    return (
        _waits(item, known)
        or _skips(plan, item, known)
        or _combines(plan, item, known)
        or _tired(state, attempts)
    )


def _waits(item: Item, known: Mapping[str, ItemState]) -> Reason | None:
    unmet = blocked_by(item, known)
    if not unmet:
        return None
    words = ", ".join(f"{need} ({_standing(known.get(need))})" for need in unmet)
    return Reason(item=item.id, kind="blocked", text=f"needs {words}", blocked_by=unmet)


def _skips(plan: Plan, item: Item, known: Mapping[str, ItemState]) -> Reason | None:
    condition = read_condition(item.skip_if, plan) if item.skip_if else None
    holds = condition.reason(known) if condition is not None else None
    return Reason(item=item.id, kind="skipped", text=f"is skipped, because {holds}") if holds else None


def _combines(plan: Plan, item: Item, known: Mapping[str, ItemState]) -> Reason | None:
    parts = [
        found.id if (found := plan.item(name)) is not None else name for name in combined_ids(plan, item)
    ]
    if not parts:
        return None
    unmet = tuple(p for p in parts if p not in known or known[p].status not in ("completed", "cancelled"))
    if unmet:
        words = ", ".join(f"{part} ({_standing(known.get(part))})" for part in unmet)
        return Reason(item=item.id, kind="blocked", text=f"combines {words}", blocked_by=unmet)
    if not set(parts) & improved_ids(known.values()):
        return Reason(
            item=item.id,
            kind="blocked",
            text=f"has nothing to combine: none of {', '.join(parts)} was an improvement in a fair comparison",
            blocked_by=tuple(parts),
        )
    return None


def _tired(state: ItemState | None, attempts: int) -> Reason | None:
    if state is None or state.last_outcome != "interrupted" or state.runs < attempts:
        return None
    text = f"was interrupted, after {state.runs} runs: `optrack run {state.item.id}` tries again"
    return Reason(item=state.item.id, kind="blocked", text=text)


def improved_ids(states: Iterable[ItemState]) -> set[str]:
    """Return the ids of the items whose judgement in force, of their present recipe, is an improvement in a
    fair comparison."""
    return {
        state.item.id
        for state in states
        if state.judgement is not None
        and state.judgement.verdict == "improvement"
        and state.judgement.comparison == "fair"
        and state.status == "completed"
        and not state.stale
    }


def _why(plan: Plan, item: Item, known: Mapping[str, ItemState], worth: Mapping[str, Worth]) -> str:
    state = known.get(item.id)
    if item.id == plan.baseline:
        why = "is the baseline, which everything is compared with"
    elif item.id in worth:
        why = f"is worth most for its effort: {worth[item.id].text}"
    else:
        why = "is the first in rank that can run"
    if state is not None and state.runs and state.last_outcome not in (None, "succeeded"):
        why += f"; its last run was {state.last_outcome}"
    return why


def _standing(state: ItemState | None) -> str:
    return state.status.replace("_", " ") if state is not None else "unknown"

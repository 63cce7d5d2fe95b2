"""What an item is worth: its expected gain for its effort, corrected by how far such estimates came true."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median

from optrack.model.item import ItemState
from optrack.model.plan import Item, Plan, Quantity
from optrack.model.value import Frozen
from optrack.model.wording import fixed, number

_HOURS = {"seconds": 1 / 3600, "minutes": 1 / 60, "hours": 1.0, "days": 8.0, "weeks": 40.0, "months": 160.0}
_TYPICAL = {"minutes": 0.5, "hours": 4.0, "days": 24.0, "weeks": 80.0, "months": 320.0}
_WORDS = {
    "trivial": 0.5,
    "easy": 2.0,
    "small": 2.0,
    "low": 2.0,
    "medium": 8.0,
    "moderate": 8.0,
    "hard": 40.0,
    "high": 40.0,
}
_LINES_PER_HOUR = 20.0


class Worth(Frozen):
    """Expected gain per hour (`value`), and how it came about in words. `gain` is a share: 0.1 is 10 %."""

    value: float
    gain: float
    hours: float
    trust: float
    text: str


def worths(plan: Plan, states: Sequence[ItemState]) -> dict[str, Worth]:
    """Return what each item is worth.

    Gains in `%` and `x` are shares as they stand; gains in another unit count as their part of all that the
    plan hopes for in that unit. Items without a gain or effort get the median of the others. `trust` is the
    mean of achieved / expected over the judged items with estimates of the same unit, and of the same parent,
    each starting from one imagined estimate that came true.
    """
    gains = _gains(plan)
    hours = {item.id: h for item in plan.items if (h := _hours(item.effort)) is not None}
    usual_gain = median(gains.values()) if gains else 0.05
    usual_hours = median(hours.values()) if hours else 1.0
    units, parents = _came_true(plan, states, gains)
    found: dict[str, Worth] = {}
    for item in plan.items:
        gain, effort = gains.get(item.id, usual_gain), max(hours.get(item.id, usual_hours), 0.05)
        trust = units.get(_unit(item), 1.0) * parents.get(item.parent, 1.0)
        found[item.id] = Worth(
            value=gain * trust / effort,
            gain=gain,
            hours=effort,
            trust=trust,
            text=_text(item, gain, effort, trust),
        )
    return found


def _gains(plan: Plan) -> dict[str, float]:
    sums: defaultdict[str, float] = defaultdict(float)
    for item in plan.items:
        sums[_unit(item)] += _middle(item.gain) or 0.0
    found: dict[str, float] = {}
    for item in plan.items:
        middle = _middle(item.gain)
        if middle is None:
            continue
        unit = _unit(item)
        if unit == "%":
            found[item.id] = middle / 100
        elif unit == "x":
            found[item.id] = max(middle - 1, 0.0)
        elif sums[unit]:
            found[item.id] = middle / sums[unit]
    return found


def _came_true(
    plan: Plan, states: Sequence[ItemState], gains: Mapping[str, float]
) -> tuple[dict[str, float], dict[str | None, float]]:
    by_unit: defaultdict[str, list[float]] = defaultdict(list)
    by_parent: defaultdict[str | None, list[float]] = defaultdict(list)
    for state in states:
        item, judgement = state.item, state.judgement
        if judgement is None or judgement.verdict is None or item.id not in gains or item.id == plan.baseline:
            continue
        ratio = 0.0
        if judgement.verdict == "improvement":
            relative = abs(judgement.effect.relative) if judgement.effect is not None else 0.0
            comparable = _unit(item) in ("%", "x") and gains[item.id] > 0 and relative > 0
            ratio = min(relative / gains[item.id], 2.0) if comparable else 1.0
        by_unit[_unit(item)].append(ratio)
        by_parent[item.parent].append(ratio)
    units = {unit: (1 + sum(ratios)) / (1 + len(ratios)) for unit, ratios in by_unit.items()}
    parents = {parent: (1 + sum(ratios)) / (1 + len(ratios)) for parent, ratios in by_parent.items()}
    return units, parents


def _middle(amount: Quantity | None) -> float | None:
    if amount is None or (amount.low is None and amount.high is None):
        return None
    low = amount.low if amount.low is not None else 0.0
    high = amount.high if amount.high is not None else low
    return (low + high) / 2


def _hours(effort: Quantity | None) -> float | None:
    if effort is None:
        return None
    middle = _middle(effort)
    if middle is not None:
        return middle / _LINES_PER_HOUR if effort.unit == "lines" else middle * _HOURS.get(effort.unit, 1.0)
    if effort.unit in _TYPICAL:
        return _TYPICAL[effort.unit]
    words = effort.text.casefold()
    return next((hours for word, hours in _WORDS.items() if word in words), None)


def _unit(item: Item) -> str:
    return item.gain.unit if item.gain is not None else ""


def _text(item: Item, gain: float, hours: float, trust: float) -> str:
    hoped = item.gain.text if item.gain is not None else "a usual gain"
    effort = item.effort.text if item.effort is not None else f"about {number(hours)} hours"
    corrected = (
        f", corrected by {fixed(trust, 2)} for how such estimates came true" if abs(trust - 1) > 0.005 else ""
    )
    return f"{hoped} for {effort} (expected {fixed(100 * gain, 1)}%{corrected})"

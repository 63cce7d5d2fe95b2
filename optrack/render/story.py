"""The first lines of a log, as an engineer would tell the campaign: items grouped by what came of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from optrack.model.item import ItemState
from optrack.model.judgement import Judgement
from optrack.render.format import counted, effect, interval, launches, percent, short_effect, words
from optrack.render.log import Log
from optrack.render.phrases import both_effects
from optrack.render.report import complete_pairs, is_set_by_hand, why

MOST_LINES = 16
"""So many lines the groups may take, beside the lines on goal, baseline, what is done and what is next."""
BRIEF = ("No effect that counts", "Set by hand")
"""Groups whose items are named in one line."""
_HEADINGS = {
    "improvement": "Gained",
    "regression": "Worse",
    "failed": "Failed, and no use to try again as it is",
    "no_change": BRIEF[0],
    "inconclusive": "Can't be told at this noise",
    None: "No verdict",
}
_POWER = 0.84
"""The normal quantile of an 80% chance to show an effect."""
_UNCERTAIN = "Better, though not known to be compared fairly"
_ORDER = ("Gained", _UNCERTAIN, *list(_HEADINGS.values())[1:], BRIEF[1])


class Entry(NamedTuple):
    """An item and what came of it, in plain text."""

    item: str
    title: str
    text: str


class Group(NamedTuple):
    """Items of which the same came; `more` counts those that are left out for want of lines."""

    heading: str
    entries: tuple[Entry, ...]
    more: int = 0

    @property
    def is_brief(self) -> bool:
        """Whether its items are named in one line."""
        return self.heading in BRIEF


def story(log: Log) -> list[Group]:
    """Return the items that something came of, grouped, the largest gains first, in at most `MOST_LINES` lines."""
    groups: dict[str, list[ItemState]] = {heading: [] for heading in _ORDER}
    for state in log.states:
        heading = _heading(log, state)
        if heading is not None:
            groups[heading].append(state)
    groups["Gained"].sort(key=lambda state: -_size(state))
    told = {heading: [_entry(log, state) for state in states] for heading, states in groups.items() if states}
    most = next((most for most in (12, 8, 5, 4, 3, 2) if _lines(told, most) <= MOST_LINES), 1)
    return [
        Group(heading, tuple(entries))
        if heading in BRIEF
        else Group(heading, tuple(entries[:most]), max(0, len(entries) - most))
        for heading, entries in told.items()
    ]


def _lines(told: dict[str, list[Entry]], most: int) -> int:
    """How many lines the groups take where each tells of `most` items: one item stands beside its heading."""
    long = [len(entries) for heading, entries in told.items() if heading not in BRIEF]
    return len(told) + sum(min(count, most) + (count > most) for count in long if count > 1)


def _heading(log: Log, state: ItemState) -> str | None:
    judgement = state.judgement
    if judgement is None:
        return BRIEF[1] if is_set_by_hand(log, state) else None
    if judgement.verdict == "improvement" and judgement.comparison != "fair":
        return _UNCERTAIN
    return _HEADINGS[judgement.verdict]


def _size(state: ItemState) -> float:
    return abs(state.judgement.effect.relative) if state.judgement and state.judgement.effect else 0.0


def _entry(log: Log, state: ItemState) -> Entry:
    judgement = state.judgement
    if judgement is None:
        text = words(state.status)
    elif judgement.verdict == "inconclusive":
        text = _undecided(log, state, judgement)
    else:
        text = _decided(log, state, judgement)
    remarks = [word for word in ("adopted", "stale", "archived") if getattr(state, word)]
    if judgement is not None and judgement.attribution.status == "confounded" and judgement.effect:
        remarks.append("confounded")
    return Entry(state.item.id, state.item.title, text + (f" ({', '.join(remarks)})" if remarks else ""))


def _decided(log: Log, state: ItemState, judgement: Judgement) -> str:
    """Return the effect, and why an item lost, failed or has no verdict."""
    if judgement.verdict == "no_change":
        return short_effect(judgement.effect)
    size = interval(judgement.effect) if judgement.effect else ""
    texts, reason = [size], why(log, state)
    blocking = [d.meaning for d in judgement.differences if d.severity == "blocking" and d.meaning]
    if judgement.comparison == "unfair" and judgement.verdict is None and blocking:
        more = f" and {counted(len(blocking) - 1, 'difference')} more" if blocking[1:] else ""
        texts.append(f"unfair: {blocking[0].rstrip('.')}{more}")
    elif not size or size not in reason:
        texts.append(reason)
    texts.append(both_effects(judgement, log.against_original(judgement)))
    if judgement.verdict == "failed" and (pairs := complete_pairs(log, log.run(judgement.candidate))):
        texts.append(f"its {counted(pairs.number, 'complete pair')} showed {percent(pairs.relative)}")
    return "; ".join(text.rstrip(".") for text in texts if text)


def _undecided(log: Log, state: ItemState, judgement: Judgement) -> str:
    """Return the effect as far as it is known, and what it would take to tell."""
    if judgement.effect is None:
        known = why(log, state).rstrip(".")
    else:
        known = effect(judgement.effect)
        if judgement.launches:
            known += f" after {launches(judgement.launches)} a side"
    if judgement.launches_needed:
        return f"{known}; about {launches(judgement.launches_needed)} a side would tell"
    if judgement.method == "block":
        return f"{known}; launches interleaved with the baseline's would show more"
    return f"{known}; more launches would hardly tell" if judgement.effect is not None else known


def reruns(states: Sequence[ItemState]) -> list[str]:
    """Return the ids of the items whose recipe was edited since they were measured."""
    return [state.item.id for state in states if state.stale and not state.archived]

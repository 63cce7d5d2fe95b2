"""`Skip if` conditions, like `1A failed or 1B is not an improvement`: read and evaluated."""

from __future__ import annotations

import re
from collections.abc import Mapping

from optrack.model.item import ItemState
from optrack.model.plan import Plan
from optrack.model.value import Frozen

_OUTCOMES = {
    **dict.fromkeys(("improvement", "improved", "improves", "faster", "helped", "helps"), "an improvement"),
    **dict.fromkeys(("succeeded", "won", "works", "worked"), "an improvement"),
    **dict.fromkeys(("regression", "regressed", "slower", "worse"), "a regression"),
    "no change": "no change", "no_change": "no change", "no effect": "no change", "neutral": "no change",
    "inconclusive": "inconclusive",
    "failed": "failed", "fails": "failed", "failure": "failed", "crashed": "failed", "crashes": "failed",
    "completed": "completed", "done": "completed", "cancelled": "cancelled", "canceled": "cancelled",
}  # fmt: skip
_VERDICTS = {
    "an improvement": "improvement", "a regression": "regression", "no change": "no_change",
    "inconclusive": "inconclusive", "failed": "failed",
}  # fmt: skip
_CLAUSE = re.compile(
    r"^(?P<ids>.+?)\s+(?:(?:is|was|are|were|has|have|had|does|did|gives?|gave|shows?)\s+)?(?P<not>(?:not|n't"
    r"|never|no longer)\s+)?"
    rf"(?:been\s+)?(?:an?\s+|the\s+)?(?P<outcome>{'|'.join(sorted(_OUTCOMES, key=len, reverse=True))})\.?$",
    re.IGNORECASE,
)
_MOST_CHARS = 400


class Clause(Frozen):
    """One statement about one item: its outcome is, or isn't, what `outcome` says."""

    item: str
    outcome: str
    negated: bool = False

    def holds(self, states: Mapping[str, ItemState]) -> bool:
        """Whether it is known to hold: an item that isn't done yet is neither an improvement nor none."""
        state = states.get(self.item)
        if state is None:
            return False
        if self.outcome in ("completed", "cancelled"):
            return (state.status == self.outcome) != self.negated
        verdict = state.judgement.verdict if state.judgement is not None else None
        if state.status != "completed" or verdict is None:
            return False
        return (verdict == _VERDICTS[self.outcome]) != self.negated

    def __str__(self) -> str:
        """The clause as a sentence."""
        return f"{self.item} is {'not ' if self.negated else ''}{self.outcome}"


class Condition(Frozen):
    """Clauses of which one group must hold whole: `any_of` is joined by `or`, each group by `and`."""

    any_of: tuple[tuple[Clause, ...], ...]

    def reason(self, states: Mapping[str, ItemState]) -> str | None:
        """Return in words what holds, or None while the condition doesn't."""
        for group in self.any_of:
            if all(clause.holds(states) for clause in group):
                return " and ".join(str(clause) for clause in group)
        return None


def read_condition(text: str, plan: Plan) -> Condition | None:
    """Read a condition on the plan's items; None where it isn't one that can be evaluated."""
    text = " ".join(text[: _MOST_CHARS + 1].split())
    if len(text) >= _MOST_CHARS:
        return None
    groups: list[tuple[Clause, ...]] = []
    shared = _shared_outcome(text, plan)
    for part in re.split(r"\s+or\s+|\s*\|\|\s*", shared, flags=re.IGNORECASE):
        clauses: list[Clause] = []
        for piece in re.split(r"\s+and\s+|\s*&&\s*", part, flags=re.IGNORECASE):
            clause = _clause(piece.strip(" ."), plan)
            if clause is None:
                return None
            clauses.append(clause)
        groups.append(tuple(clauses))
    return Condition(any_of=tuple(groups))


def _clause(text: str, plan: Plan) -> Clause | None:
    found = _CLAUSE.match(text.replace("isn't", "is not").replace("wasn't", "was not").replace("`", ""))
    if found is None:
        return None
    named = re.sub(
        r"^(?:item|experiment|priority|phase|tier|step|option)\s+", "", found["ids"].strip(), flags=re.I
    )
    item = plan.item(named)
    if item is None:
        return None
    return Clause(item=item.id, outcome=_OUTCOMES[found["outcome"].lower()], negated=bool(found["not"]))


def _shared_outcome(text: str, plan: Plan) -> str:
    """`1A or 1B is an improvement` with the outcome written out for each item."""
    found = re.match(
        r"^(?:either\s+)?(?P<first>\S+)\s+(?P<join>or|and)\s+(?P<rest>(?P<second>\S+)\s+(?P<what>.+))$",
        text,
        re.I,
    )
    if found is None or plan.item(found["first"]) is None or plan.item(found["second"]) is None:
        return text
    return f"{found['first']} {found['what']} {found['join']} {found['rest']}"

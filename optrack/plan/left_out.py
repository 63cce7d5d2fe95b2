"""What wasn't read as items, with the reason: nothing of a plan is dropped in silence."""

from __future__ import annotations

from optrack.model.plan import LeftOut, Problem
from optrack.plan.attributes import nearest_name
from optrack.plan.blocks import Table, warning_at
from optrack.plan.candidate import NOTE, Candidate, is_baseline
from optrack.plan.tables import columns_of
from optrack.plan.vocabulary import is_context, is_order, is_sample

_MOST_NAMES = 300
"""Unknown names that are held against the known ones."""

_KINDS = {"heading": "heading", "bold": "bold line", "entry": "entry", "row": "row"}


def left_out(everything: list[Candidate], items: list[Candidate]) -> tuple[LeftOut, ...]:
    """Return the candidates that are no items, in document order; bullets that nothing marks are text."""
    first, last = (items[0].line, items[-1].line) if items else (10**9, 0)
    ranked: dict[int, bool] = {}
    found = [
        LeftOut(
            line=candidate.line,
            text=" ".join(candidate.text.text.split())[:160],
            kind=_KINDS[candidate.form],
            reason=_reason(candidate),
            labelled=_is_labelled(candidate),
            doubtful=candidate.line > first
            and _is_doubtful(candidate, ranked, between=candidate.line < last),
        )
        for candidate in everything
        if not candidate.taken and _could_be(candidate)
    ]
    return tuple(sorted(found, key=lambda entry: entry.line))


def _could_be(candidate: Candidate) -> bool:
    if candidate.form in ("heading", "bold", "row"):
        return True
    return candidate.box is not None or candidate.number is not None or candidate.label is not None


def _is_doubtful(candidate: Candidate, ranked: dict[int, bool], *, between: bool) -> bool:
    """Whether what was left may have been meant as an item: numbered, labelled or boxed between items, or a row of a
    ranked table; the steps of an item and what only tells again are none."""
    if candidate.mark == NOTE or candidate.reason:
        return False
    if isinstance(candidate.group, Table) and candidate.form == "row":
        if id(candidate.group) not in ranked:
            columns = columns_of(candidate.group)
            ranked[id(candidate.group)] = columns is not None and columns.is_ranked and columns.says_amounts
        return ranked[id(candidate.group)]
    if candidate.box is not None:
        return between or (candidate.above is not None and candidate.above.taken)
    above = candidate.above
    step = candidate.label is None and above is not None and above.taken and not is_baseline(above)
    return between and not step and (candidate.label is not None or candidate.number is not None)


def _is_labelled(candidate: Candidate) -> bool:
    """Whether it has a label or a task box, and isn't known to be none or to tell again what others tell."""
    return (
        not candidate.reason
        and candidate.mark != NOTE
        and (candidate.box is not None or candidate.label is not None)
    )


def _reason(candidate: Candidate) -> str:
    if candidate.mark == NOTE:
        return "marked {.note}"
    if candidate.reason:
        return candidate.reason
    at: Candidate | None = candidate
    while at is not None and at.level:
        words = at.text.text
        here = "its" if at is candidate else "the heading's"
        if at.form in ("heading", "bold"):
            if is_sample(words):
                return f"{here} words speak of an example"
            if is_order(words):
                return f"{here} words speak of an order or overview"
            if is_context(words):
                return f"{here} words speak of what surrounds a plan"
        at = at.above
    if candidate.form == "heading" and candidate.label is None:
        return "no label or number"
    if candidate.form == "row":
        return "a table without ranks, gains or efforts"
    if candidate.form == "entry" and candidate.above is not None and candidate.above.taken:
        return f"a step of `{candidate.above.title[:60]}`"
    return "nothing around it says that these are things to do"


def misspelt(items: list[Candidate]) -> list[Problem]:
    """Return a warning for each attribute of an item whose name is nearly one that is known."""
    found: list[Problem] = []
    looked_up: set[str] = set()
    for item in items:
        for attribute in item.attributes:
            unknown = attribute.key is None and (attribute.name in looked_up or len(looked_up) < _MOST_NAMES)
            if unknown:
                looked_up.add(attribute.name)
            near = nearest_name(attribute.name) if unknown else None
            if near is not None:
                found.append(
                    warning_at(
                        attribute.line or item.line,
                        f"`{attribute.name}` is no attribute that is read",
                        f"did you mean `{near.capitalize()}`?",
                    )
                )
    return found

"""What wasn't read as items, with the reason: nothing of a plan is dropped in silence."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import Literal

from optrack.model.plan import LeftOut, Problem
from optrack.plan.attributes import nearest_name
from optrack.plan.parts import NOTE, Candidate, Table, warning_at
from optrack.plan.tables import columns_of
from optrack.plan.vocabulary import is_context, is_order, is_sample

_MOST_NAMES = 300
"""Unknown names that are held against the known ones."""

_KINDS: dict[str, Literal["heading", "bold line", "entry", "row"]] = {
    "heading": "heading", "bold": "bold line", "entry": "entry", "row": "row",
}  # fmt: skip


def left_out(everything: list[Candidate], items: list[Candidate]) -> tuple[LeftOut, ...]:
    """Return the candidates that are no items, in document order; bullets that nothing marks are text."""
    first, last = (items[0].line, items[-1].line) if items else (10**9, 0)
    ranked: dict[int, bool] = {}
    found = []
    for candidate in everything:
        marked = candidate.box is not None or candidate.label is not None
        if candidate.taken or (candidate.form == "entry" and not marked and candidate.number is None):
            continue
        plain = not candidate.reason and candidate.mark != NOTE
        doubtful = plain and candidate.line > first
        doubtful = doubtful and _is_doubtful(candidate, ranked, between=candidate.line < last)
        entry = LeftOut(
            line=candidate.line,
            text=" ".join(candidate.words.split())[:160],
            kind=_KINDS[candidate.form],
            reason=_reason(candidate),
            labelled=plain and marked,
            doubtful=doubtful,
        )
        found.append(entry)
    return tuple(sorted(found, key=lambda entry: entry.line))


def _is_doubtful(candidate: Candidate, ranked: dict[int, bool], *, between: bool) -> bool:
    """Whether what was left may have been meant as an item: numbered, labelled or boxed between items, or a row of a
    ranked table; the steps of an item are none."""
    above, table = candidate.above, candidate.group
    if isinstance(table, Table):
        if id(table) not in ranked:
            columns = columns_of(table)
            ranked[id(table)] = columns is not None and columns.is_ranked and columns.has_amounts
        return ranked[id(table)]
    inside = above is not None and above.taken
    if candidate.box is not None:
        return between or inside
    step = candidate.label is None and inside and above is not None and above.kind != "baseline"
    return between and not step and (candidate.label is not None or candidate.number is not None)


def _reason(candidate: Candidate) -> str:
    if candidate.mark == NOTE:
        return "marked {.note}"
    if candidate.reason:
        return candidate.reason
    at: Candidate | None = candidate
    while at is not None and at.level:
        speaks = _speaks_of(at.words) if at.form in ("heading", "bold") else None
        if speaks is not None:
            whose = "its" if at is candidate else "the heading's"
            return f"{whose} words speak of {speaks}"
        at = at.above
    if candidate.form == "heading" and candidate.label is None:
        return "no label or number"
    if candidate.form == "row":
        return "a table without ranks, gains or efforts"
    if candidate.form == "entry" and candidate.above is not None and candidate.above.taken:
        return f"a step of `{candidate.above.title[:60]}`"
    return "nothing around it says that these are things to do"


@lru_cache(512)
def _speaks_of(words: str) -> str | None:
    if is_sample(words):
        return "an example"
    if is_order(words):
        return "an order or overview"
    return "what surrounds a plan" if is_context(words) else None


def misspelt(items: list[Candidate]) -> list[Problem]:
    """Return a warning for each attribute of an item whose name is nearly one that is known."""
    unknown = [(a.line or item.line, a.name) for item in items for a in item.attributes if a.key is None]
    names = set(islice(dict.fromkeys(name for _, name in unknown), _MOST_NAMES))
    near = {name: nearest_name(name) for name in names}
    return [
        warning_at(line, f"`{name}` is no attribute that is read", f"did you mean `{known.capitalize()}`?")
        for line, name in unknown
        if (known := near.get(name)) is not None
    ]

"""From candidates to items: ids, ranks, needs and recipes settled, with what is wrong about them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from optrack.model.plan import Item, Problem
from optrack.plan.attributes import Attribute
from optrack.plan.candidate import Candidate
from optrack.plan.vocabulary import plain

_PART = re.compile(r"\s*(?:[,;&+/→]|\band\b|\bund\b|\by\b|\be\b|\bet\b)\s*", re.IGNORECASE)
_NAMED = re.compile(
    r"^(?:all of |items? |priority |phase |tier |step |stage |experiment |option |task |fase |etapa |#)*",
    re.IGNORECASE,
)
_LABEL_LIKE = re.compile(r"^(?:[A-Za-z]{0,8}[-_.]?\d{1,4}(?:\.\d+)*[A-Za-z]?)$")
_FIELDS = set(Item.model_fields)
"""What is set of every item: one set for all, since a long plan has many."""

_NONE = re.compile(r"^(?:none|nothing|no|n/?a|-|–|—|nil|keine|nada|ninguna|nenhuma)\b.*$|^$", re.IGNORECASE)


def slug(title: str) -> str:
    """Return a title as an id: lower case, words joined by hyphens; `item` where nothing is left."""
    folded = unicodedata.normalize("NFKC", title).casefold()
    return re.sub(r"[\W_]+", "-", folded).strip("-")[:60].rstrip("-") or "item"


def settle_ids(candidates: list[Candidate], problems: list[Problem]) -> None:
    """Give every candidate an id of its own; the same written id twice is an error that names both lines.

    Numbers of entries and rows, and titles as ids, take their parent's id before them where needed.
    """
    taken: dict[str, Candidate] = {}
    counts: Counter[str] = Counter()
    shared = _shared_words(candidates)
    for candidate in sorted(candidates, key=lambda d: d.parent is not None):
        if candidate.own_id is None or candidate.label is not None or candidate.mark is not None:
            name = candidate.written_id
            if name is not None:
                if _is_bare(candidate) and candidate.label is not None and candidate.label.word in shared:
                    name = (
                        f"{candidate.parent.id}.{name}" if candidate.parent and candidate.parent.id else name
                    )
                _claim(candidate, name, taken, counts, problems)
    for candidate in candidates:
        if candidate.id:
            continue
        name = candidate.own_id or slug(candidate.title)
        if candidate.form == "entry" and candidate.own_id is not None and candidate.parent is not None:
            name = f"{candidate.parent.id}.{name}" if candidate.parent.id else name
        if name in taken and candidate.parent is not None and candidate.parent.id:
            name = f"{candidate.parent.id}.{name}"
        if name in taken:
            if candidate.own_id is not None and candidate.form == "row":
                problems.append(_duplicate(candidate, name, taken[name], severity="warning"))
            name = _numbered(name, taken, counts)
        candidate.id = name
        taken[name] = candidate


def items_of(candidates: list[Candidate], problems: list[Problem]) -> tuple[Item, ...]:
    """Return the items in the candidates' order, with needs resolved to ids; unknown needs become problems."""
    ids = {candidate.id for candidate in candidates}
    folded = Counter(name.casefold() for name in ids)
    by_fold = {name: key for name, key in _spoken(candidates).items() if key is not None}
    by_fold |= {name.casefold(): name for name in ids if folded[name.casefold()] == 1}
    strict = any(candidate.recipe is not None for candidate in candidates)
    return tuple(
        Item.model_construct(
            _FIELDS,
            id=candidate.id,
            title=candidate.title,
            line=candidate.line,
            rank=rank,
            parent=candidate.parent.id if candidate.parent is not None else None,
            priority=_value(candidate, "priority") or candidate.priority,
            status=candidate.status or "pending",
            gain=candidate.gain,
            effort=candidate.effort,
            risk=_value(candidate, "risk") or candidate.risk,
            hypothesis=_value(candidate, "hypothesis"),
            needs=_needs(candidate, ids, by_fold, problems, strict=strict),
            skip_if=_value(candidate, "skip_if"),
            attributes={a.name: a.value for a in reversed(candidate.attributes)},
            recipe=candidate.recipe,
        )
        for rank, candidate in enumerate(candidates)
    )


def _spoken(candidates: list[Candidate]) -> dict[str, str | None]:
    """The ids by label with its word (`experiment 3`), None where several items have it."""
    spoken: dict[str, str | None] = {}
    for candidate in candidates:
        if candidate.label is not None and candidate.label.kind == "word" and candidate.label.id is not None:
            name = f"{candidate.label.word} {candidate.label.id}".casefold()
            spoken[name] = None if name in spoken else candidate.id
    return spoken


def _claim(
    candidate: Candidate,
    name: str,
    taken: dict[str, Candidate],
    counts: Counter[str],
    problems: list[Problem],
) -> None:
    other = taken.get(name)
    label = candidate.label
    if other is not None and label is not None and label.kind == "word" and candidate.mark is None:
        apart = f"{label.word}-{name}"
        if other.label is not None and other.label.word != label.word and apart not in taken:
            name, other = apart, None
    if other is not None:
        problems.append(_duplicate(candidate, name, other, severity="error"))
        name = _numbered(name, taken, counts)
    candidate.id = name
    taken[name] = candidate


def _shared_words(candidates: list[Candidate]) -> set[str]:
    """The words whose bare numbers below other items are those of further items (`Step 1` in each phase)."""
    bare = [d for d in candidates if _is_bare(d)]
    counts = Counter(d.written_id for d in bare)
    return {
        d.label.word
        for d in bare
        if d.label is not None and d.parent is not None and counts[d.written_id] > 1
    }


def _is_bare(candidate: Candidate) -> bool:
    label = candidate.label
    if label is None or label.id is None or candidate.mark is not None:
        return False
    return label.kind in ("word", "number") and label.id.isdigit()


def _duplicate(candidate: Candidate, name: str, other: Candidate, *, severity: str) -> Problem:
    return Problem(
        severity="error" if severity == "error" else "warning",
        message=f"id `{name}` is there twice: on line {other.line} ({other.title}) "
        f"and on line {candidate.line} ({candidate.title})",
        line=candidate.line,
        hint="give one of them another label, or an id of its own with {#id}",
    )


def _numbered(name: str, taken: dict[str, Candidate], counts: Counter[str]) -> str:
    counts[name] += 1
    while f"{name}-{counts[name] + 1}" in taken:
        counts[name] += 1
    return f"{name}-{counts[name] + 1}"


def _value(candidate: Candidate, key: str) -> str | None:
    return next((a.value for a in candidate.attributes if a.key == key), None)


def _needs(
    candidate: Candidate, ids: set[str], by_fold: dict[str, str], problems: list[Problem], *, strict: bool
) -> tuple[str, ...]:
    found: list[str] = []
    for attribute in candidate.attributes:
        if attribute.key == "needs":
            for part in _PART.split(re.sub(r"\([^()]*\)", "", attribute.value).strip().rstrip(".")):
                need = _need(part, ids, by_fold)
                if need is not None and need not in found:
                    found.append(need)
                elif need is None and _names_item(part):
                    problems.append(_unknown_need(attribute, part, strict=strict))
    return tuple(found)


def _need(part: str, ids: set[str], by_fold: dict[str, str]) -> str | None:
    part = plain(part).strip("`*_ ")
    for name in (part, _NAMED.sub("", part, count=1)):
        if name in ids:
            return name
        if name.casefold() in by_fold:
            return by_fold[name.casefold()]
    return by_fold.get(slug(part)) if part else None


def _names_item(part: str) -> bool:
    part = plain(part).strip("`*_ ")
    return not _NONE.match(part) and _LABEL_LIKE.match(_NAMED.sub("", part, count=1)) is not None


def _unknown_need(attribute: Attribute, part: str, *, strict: bool) -> Problem:
    return Problem(
        severity="error" if strict else "warning",
        message=f"needs `{plain(part)}`, which is no item of this plan",
        line=attribute.line,
        hint="name an item by its id",
    )

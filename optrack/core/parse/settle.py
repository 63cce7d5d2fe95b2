"""From drafts to items: ids, ranks, needs and recipes settled, with what is wrong about them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from optrack.core.parse.attributes import Attribute
from optrack.core.parse.draft import Draft
from optrack.core.parse.words import plain
from optrack.core.plan import Item, Problem

_PART = re.compile(r"\s*(?:[,;&+/→]|\band\b|\bund\b|\by\b|\be\b|\bet\b)\s*", re.IGNORECASE)
_NAMED = re.compile(
    r"^(?:all of |items? |priority |phase |tier |step |stage |experiment |option |task |fase |etapa |#)*",
    re.IGNORECASE,
)
_LABEL_LIKE = re.compile(r"^(?:[A-Za-z]{0,8}[-_.]?\d{1,4}(?:\.\d+)*[A-Za-z]?)$")
_NONE = re.compile(r"^(?:none|nothing|no|n/?a|-|–|—|nil|keine|nada|ninguna|nenhuma)\b.*$|^$", re.IGNORECASE)


def slug(title: str) -> str:
    """Return a title as an id: lower case, words joined by hyphens; `item` where nothing is left."""
    folded = unicodedata.normalize("NFKC", title).casefold()
    return re.sub(r"[\W_]+", "-", folded).strip("-")[:60].rstrip("-") or "item"


def settle_ids(drafts: list[Draft], problems: list[Problem]) -> None:
    """Give every draft an id of its own; the same written id twice is an error that names both lines.

    Numbers of entries and rows, and titles as ids, take their parent's id before them where needed.
    """
    taken: dict[str, Draft] = {}
    counts: Counter[str] = Counter()
    shared = _shared_words(drafts)
    for draft in sorted(drafts, key=lambda d: d.parent is not None):
        if draft.own_id is None or draft.label is not None or draft.explicit_id is not None:
            name = draft.written_id
            if name is not None:
                if _is_bare(draft) and draft.label is not None and draft.label.word in shared:
                    name = f"{draft.parent.id}.{name}" if draft.parent and draft.parent.id else name
                _claim(draft, name, taken, counts, problems)
    for draft in drafts:
        if draft.id:
            continue
        name = draft.own_id or slug(draft.title)
        if draft.form == "list" and draft.own_id is not None and draft.parent is not None:
            name = f"{draft.parent.id}.{name}" if draft.parent.id else name
        if name in taken and draft.parent is not None and draft.parent.id:
            name = f"{draft.parent.id}.{name}"
        if name in taken:
            if draft.own_id is not None and draft.form == "table":
                problems.append(_duplicate(draft, name, taken[name], severity="warning"))
            name = _numbered(name, taken, counts)
        draft.id = name
        taken[name] = draft


def items_of(drafts: list[Draft], problems: list[Problem]) -> tuple[Item, ...]:
    """Return the items in the drafts' order, with needs resolved to ids; unknown needs become problems."""
    ids = {draft.id for draft in drafts}
    folded = Counter(name.casefold() for name in ids)
    by_fold = {name: key for name, key in _spoken(drafts).items() if key is not None}
    by_fold |= {name.casefold(): name for name in ids if folded[name.casefold()] == 1}
    strict = any(draft.recipe is not None for draft in drafts)
    return tuple(
        Item(
            id=draft.id,
            title=draft.title,
            line=draft.line,
            rank=rank,
            parent=draft.parent.id if draft.parent is not None else None,
            priority=draft.priority,
            status=draft.status or "pending",
            gain=draft.gain,
            effort=draft.effort,
            risk=_value(draft, "risk"),
            hypothesis=_value(draft, "hypothesis"),
            needs=_needs(draft, ids, by_fold, problems, strict=strict),
            skip_if=_value(draft, "skip_if"),
            attributes={a.name: a.value for a in reversed(draft.attributes)},
            recipe=draft.recipe,
        )
        for rank, draft in enumerate(drafts)
    )


def _spoken(drafts: list[Draft]) -> dict[str, str | None]:
    """The ids by label with its word (`experiment 3`), None where several items have it."""
    spoken: dict[str, str | None] = {}
    for draft in drafts:
        if draft.label is not None and draft.label.kind == "word" and draft.label.id is not None:
            name = f"{draft.label.word} {draft.label.id}".casefold()
            spoken[name] = None if name in spoken else draft.id
    return spoken


def _claim(
    draft: Draft, name: str, taken: dict[str, Draft], counts: Counter[str], problems: list[Problem]
) -> None:
    other = taken.get(name)
    if other is not None:
        problems.append(_duplicate(draft, name, other, severity="error"))
        name = _numbered(name, taken, counts)
    draft.id = name
    taken[name] = draft


def _shared_words(drafts: list[Draft]) -> set[str]:
    """The words whose bare numbers below other items are those of further items (`Step 1` in each phase)."""
    bare = [d for d in drafts if _is_bare(d)]
    counts = Counter(d.written_id for d in bare)
    return {
        d.label.word
        for d in bare
        if d.label is not None and d.parent is not None and counts[d.written_id] > 1
    }


def _is_bare(draft: Draft) -> bool:
    label = draft.label
    if label is None or label.id is None or draft.explicit_id is not None:
        return False
    return label.kind in ("word", "number") and label.id.isdigit()


def _duplicate(draft: Draft, name: str, other: Draft, *, severity: str) -> Problem:
    return Problem(
        severity="error" if severity == "error" else "warning",
        message=f"id `{name}` is there twice: on line {other.line} ({other.title}) "
        f"and on line {draft.line} ({draft.title})",
        line=draft.line,
        hint="give one of them another label, or an id of its own with {#id}",
    )


def _numbered(name: str, taken: dict[str, Draft], counts: Counter[str]) -> str:
    counts[name] += 1
    while f"{name}-{counts[name] + 1}" in taken:
        counts[name] += 1
    return f"{name}-{counts[name] + 1}"


def _value(draft: Draft, key: str) -> str | None:
    found = draft.attribute(key)
    return found.value if found is not None else None


def _needs(
    draft: Draft, ids: set[str], by_fold: dict[str, str], problems: list[Problem], *, strict: bool
) -> tuple[str, ...]:
    found: list[str] = []
    for attribute in draft.attributes:
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

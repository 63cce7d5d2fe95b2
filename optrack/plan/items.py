"""From candidates to items: ids, ranks, needs and recipes settled, with what is wrong about them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

from optrack.model.plan import Item, Problem
from optrack.plan.parts import Candidate, error_at, warning_at
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
_NO_ATTRIBUTES: dict[str, str] = {}


def slug(title: str) -> str:
    """Return a title as an id: lower case, words joined by hyphens; `item` where nothing is left."""
    folded = unicodedata.normalize("NFKC", title).casefold()
    return re.sub(r"[\W_]+", "-", folded).strip("-")[:60].rstrip("-") or "item"


def settle_ids(candidates: list[Candidate], problems: list[Problem]) -> None:
    """Give every candidate an id of its own; the same written id twice is an error that names both lines.

    Numbers of entries and rows, and titles as ids, take their parent's id before them where needed.
    """
    names = _Names(problems)
    labelled = [c for c in candidates if c.label is not None or c.mark is not None or c.own_id is None]
    shared = _shared_words(candidates)
    for candidate in sorted(labelled, key=lambda c: c.parent is not None):
        name, label = candidate.written_id, candidate.label
        if name is not None:
            if label is not None and label.word in shared and _is_bare(candidate):
                name = _below(candidate.parent, name)
            names.claim(candidate, name)
    for candidate in candidates:
        if not candidate.id:
            name = candidate.own_id or slug(candidate.title)
            if candidate.form == "entry" and candidate.own_id is not None:
                name = _below(candidate.parent, name)
            names.give(candidate, name if name not in names.owners else _below(candidate.parent, name))


def _below(parent: Candidate | None, name: str) -> str:
    return f"{parent.id}.{name}" if parent is not None and parent.id else name


class _Names:
    """The ids given so far."""

    def __init__(self, problems: list[Problem]) -> None:
        self.owners: dict[str, Candidate] = {}
        self._counts: Counter[str] = Counter()
        self._problems = problems

    def claim(self, candidate: Candidate, name: str) -> None:
        """Give a candidate the id that the document gives it; another's makes it an error, or, where the label words
        differ, the id with its word."""
        other, label = self.owners.get(name), candidate.label
        if other is not None and label is not None and label.kind == "word" and candidate.mark is None:
            apart = f"{label.word}-{name}"
            if other.label is not None and other.label.word != label.word and apart not in self.owners:
                name, other = apart, None
        if other is not None:
            self._problems.append(error_at(candidate.line, *_twice(name, other, candidate)))
        self._own(candidate, name)

    def give(self, candidate: Candidate, name: str) -> None:
        """Give a candidate an id; a row's own number that another has is a warning."""
        if name in self.owners and candidate.own_id is not None and candidate.form == "row":
            self._problems.append(warning_at(candidate.line, *_twice(name, self.owners[name], candidate)))
        self._own(candidate, name)

    def _own(self, candidate: Candidate, name: str) -> None:
        free = name
        while free in self.owners:
            self._counts[name] += 1
            free = f"{name}-{self._counts[name] + 1}"
        candidate.id = free
        self.owners[free] = candidate


def _twice(name: str, other: Candidate, candidate: Candidate) -> tuple[str, str]:
    places = f"on line {other.line} ({other.title}) and on line {candidate.line} ({candidate.title})"
    hint = "give one of them another label, or an id of its own with {#id}"
    return f"id `{name}` is there twice: {places}", hint


def _shared_words(candidates: list[Candidate]) -> set[str]:
    """The words whose bare numbers below other items are those of further items (`Step 1` in each phase)."""
    bare = [c for c in candidates if _is_bare(c)]
    counts = Counter(c.written_id for c in bare)
    nested = (c for c in bare if c.parent is not None and counts[c.written_id] > 1)
    return {c.label.word for c in nested if c.label is not None}


def _is_bare(candidate: Candidate) -> bool:
    numbered = candidate.kind in ("word", "number") and candidate.mark is None
    return numbered and (candidate.written_id or "").isdigit()


def items_of(candidates: list[Candidate], problems: list[Problem]) -> Iterator[Item]:
    """Yield the items in the candidates' order, with needs resolved to ids; unknown needs become problems."""
    needs = _Needs(candidates, problems)
    for rank, candidate in enumerate(candidates):
        attributes = {a.name: a.value for a in reversed(candidate.attributes)}
        yield Item.model_construct(
            _FIELDS,
            id=candidate.id,
            title=candidate.title,
            line=candidate.line,
            rank=rank,
            parent=candidate.parent.id if candidate.parent is not None else None,
            priority=candidate.value("priority") or candidate.priority,
            status=candidate.status or "pending",
            gain=candidate.gain,
            effort=candidate.effort,
            risk=candidate.value("risk") or candidate.risk,
            hypothesis=candidate.value("hypothesis"),
            needs=needs.of(candidate) if candidate.attributes else (),
            skip_if=candidate.value("skip_if"),
            attributes=attributes or _NO_ATTRIBUTES,
            recipe=candidate.recipe,
        )


class _Needs:
    """Finds the items that `Needs` names: by id, by label with its word (`experiment 3`) where one has it, by title."""

    def __init__(self, candidates: list[Candidate], problems: list[Problem]) -> None:
        self._ids = {candidate.id for candidate in candidates}
        folds = Counter(name.casefold() for name in self._ids)
        labelled = [(c.label.name, c.id) for c in candidates if c.label is not None and c.kind == "word"]
        counts = Counter(name for name, _ in labelled)
        self._by_fold = {name: key for name, key in labelled if counts[name] == 1}
        self._by_fold |= {name.casefold(): name for name in self._ids if folds[name.casefold()] == 1}
        runs = any(candidate.recipe is not None for candidate in candidates)
        self._problem_at = error_at if runs else warning_at
        self._problems = problems

    def of(self, candidate: Candidate) -> tuple[str, ...]:
        """Return the ids that a candidate needs."""
        found: dict[str, None] = {}
        for attribute in (a for a in candidate.attributes if a.key == "needs"):
            for part in _PART.split(re.sub(r"\([^()]*\)", "", attribute.value).strip().rstrip(".")):
                part = plain(part).strip("`*_ ")
                bare = _NAMED.sub("", part, count=1)
                need = self._find(part, bare)
                if need is not None:
                    found[need] = None
                elif not _NONE.match(part) and _LABEL_LIKE.match(bare):
                    message = f"needs `{part}`, which is no item of this plan"
                    self._problems.append(self._problem_at(attribute.line, message, "name an item by its id"))
        return tuple(found)

    def _find(self, part: str, bare: str) -> str | None:
        for name in (part, bare):
            if name in self._ids:
                return name
            if name.casefold() in self._by_fold:
                return self._by_fold[name.casefold()]
        return self._by_fold.get(slug(part)) if part else None

"""Items written as headings: labelled (`Priority 1:`, `1A.`), numbered, or bands of priority."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

from optrack.core.parse.attributes import attributes_in
from optrack.core.parse.document import Block, Fence, Paragraph, Section
from optrack.core.parse.draft import Draft
from optrack.core.parse.inline import Inline
from optrack.core.parse.labels import Label, read_label
from optrack.core.parse.marks import read_title, take_remark
from optrack.core.parse.names import canonical
from optrack.core.parse.recipes import is_recipe
from optrack.core.parse.words import is_container, is_context, is_order, is_planlike, level_of, plain

Accept = Callable[[Section, Label], bool]


def heading_drafts(root: Section, title: Section | None, *, planlike: bool) -> list[Draft]:
    """Return the items among the document's headings, in order, each under the item that holds it.

    Strong labels (words, codes, bands, ids) win; bare section numbers count only where there are no others
    and the section or title speaks of things to do. Labels inside sections of context or order don't count
    unless there are no others.
    """
    labels = {
        id(s): label
        for s in root.walk()
        if s is not title and (label := read_label(s.heading.text)) is not None
    }
    _drop_mentions(root, labels)
    strict = _Collector(labels, title, _strong).collect(root)
    if not _has_items(strict):
        strict = _Collector(labels, title, _strong, orders=True).collect(root) or strict
    if not _has_items(strict):
        inside = _Collector(labels, title, _telling, orders=True, context=True).collect(root)
        strict = inside if len(inside) > 1 else strict
    if not _has_items(strict):
        numbered = _Collector(labels, title, lambda s, la: _numbered(s, la, planlike)).collect(root)
        strict = numbered or strict
    taken = {id(d.section) for d in strict if d.section is not None}
    for draft in strict:
        if draft.section is not None:
            draft.blocks = list(body(draft.section, taken))
        draft.read_attributes()
    return _without_rivals(strict)


def body(section: Section, taken: set[int]) -> Iterator[Block]:
    """Yield the blocks of a section and of those below it that aren't items, with headings that name a gain."""
    yield from section.blocks
    for child in section.sections:
        if id(child) not in taken:
            if canonical(child.heading.text) in ("gain", "effort"):
                yield Paragraph(child.line, [Inline.of(f"{plain(child.heading.text)}:", child.line)])
            yield from body(child, taken)


def draft_of(section: Section, label: Label | None) -> Draft:
    """Return the draft of a heading; its title is what follows the label, without marks."""
    draft = Draft("heading", "", section.line, label=label, explicit_id=section.explicit_id, section=section)
    heading = section.heading
    if label is not None and label.kind != "baseline":
        at = heading.text.rfind(label.title)
        titled = heading.after(at) if at >= 0 else Inline.of(label.title)
        marked = read_title(titled)
        if heading.is_struck and marked.status is None:
            marked.status = "cancelled"
        whole = read_title(heading)
        marked.status = whole.status if whole.status == "completed" else marked.status
        if label.note:
            take_remark(marked, label.note.strip(" ()"))
    else:
        marked = read_title(heading)
    draft.take_marks(marked)
    if label is not None and label.kind == "band":
        draft.priority = level_of(draft.title) or draft.priority
    elif label is not None and label.word == "p":
        draft.priority = label.id
    return draft


def _has_recipe(section: Section) -> bool:
    return any(isinstance(block, Fence) and is_recipe(block) for block in section.blocks)


def _has_items(drafts: list[Draft]) -> bool:
    return any(d.label is None or d.label.kind not in ("band", "baseline") for d in drafts) or any(
        d.section is not None and d.label is not None and d.label.kind == "band" and _holds_more(d.section)
        for d in drafts
    )


def _holds_more(section: Section) -> bool:
    return bool(section.blocks or section.sections)


def _strong(section: Section, label: Label) -> bool:
    return label.kind in ("word", "code", "band", "baseline")


def _telling(section: Section, label: Label) -> bool:
    """Whether a strong label's section says a gain or an effort, so that it is an item wherever it stands."""
    return _strong(section, label) and not is_context(label.title) and _says_amounts(section)


def _numbered(section: Section, label: Label, planlike: bool) -> bool:
    if label.kind not in ("number", "dotted"):
        return label.kind == "baseline"
    parent = section.parent
    around = parent is not None and parent.level > 0 and is_planlike(parent.heading.text)
    if is_container(label.title):
        return False
    return planlike or around or _says_amounts(section)


def _says_amounts(section: Section) -> bool:
    return any(a.key in ("gain", "effort") for a in attributes_in(section.blocks))


def _drop_mentions(root: Section, labels: dict[int, Label]) -> None:
    """Remove labels that only mention an item (`Tier 1 verification` beside `Tier 1: …`)."""
    named = {label.word for label in labels.values() if not label.loose}
    for section in root.walk():
        label = labels.get(id(section))
        if label is None or not label.loose:
            continue
        if label.word in named or is_context(label.title) or label.title[:1].islower():
            del labels[id(section)]


class _Collector:
    """Walks the sections once and makes a draft of each heading that `accept` takes."""

    def __init__(
        self,
        labels: dict[int, Label],
        title: Section | None,
        accept: Accept,
        *,
        orders: bool = False,
        context: bool = False,
    ) -> None:
        self._labels = labels
        self._title = title
        self._accept = accept
        self._orders = orders
        self._context = context
        self._found: list[Draft] = []
        self._first_recipe = 0

    def collect(self, root: Section) -> list[Draft]:
        """Return the drafts in document order."""
        recipes = (s.line for s in (root, *root.walk()) if _has_recipe(s))
        self._first_recipe = next(recipes, 0)
        stack: list[tuple[Section, Draft | None, bool]] = [(s, None, False) for s in root.sections[::-1]]
        while stack:
            section, parent, outside = stack.pop()
            draft = self._draft(section, parent, outside)
            if draft is not None:
                if parent is not None:
                    parent.adopt(draft)
                self._found.append(draft)
            elif section is not self._title:
                outside = outside or self._is_outside(section)
            stack.extend((s, draft or parent, outside) for s in section.sections[::-1])
        return self._found

    def _draft(self, section: Section, parent: Draft | None, outside: bool) -> Draft | None:
        if section is self._title:
            return None
        label = self._labels.get(id(section))
        if section.explicit_id is not None:
            return draft_of(section, label)
        has_recipe = _has_recipe(section)
        if label is None and has_recipe and self._runs_alone(section, parent):
            return draft_of(section, None)
        if label is None or (outside and not has_recipe):
            return None
        if label.kind in ("number", "dotted") and is_context(section.heading.text):
            return None
        if label.kind == "dotted" and parent is not None and not outside and not is_context(label.title):
            return draft_of(section, label) if self._belongs(label, parent) else None
        return draft_of(section, label) if self._accept(section, label) or has_recipe else None

    def _runs_alone(self, section: Section, parent: Draft | None) -> bool:
        """Whether an unlabelled heading's recipe is its own: not the base recipe, nor that of the item around."""
        if parent is None:
            return section.line > self._first_recipe and not is_context(section.heading.text)
        siblings = section.parent.sections if section.parent is not None else []
        return section.parent is parent.section and sum(_has_recipe(s) for s in siblings) > 1

    def _belongs(self, label: Label, parent: Draft) -> bool:
        return parent.label is not None and parent.label.kind in ("word", "number", "dotted", "code")

    def _is_outside(self, section: Section) -> bool:
        heading = section.heading.text
        if is_order(heading):
            return not self._orders
        if section.parent is self._title and is_planlike(heading) and not is_context(heading):
            return False
        return not self._context and is_context(heading)


def _without_rivals(drafts: list[Draft]) -> list[Draft]:
    """Keep one of several top-level numberings that use the same ids (Tiers 1-3 and Phases 1-3)."""
    groups: defaultdict[tuple[str, int], list[Draft]] = defaultdict(list)
    for draft in drafts:
        if draft.parent is None and draft.label is not None and draft.label.id and draft.section is not None:
            groups[draft.label.word, id(draft.section.parent)].append(draft)
    ranked = sorted(groups.values(), key=lambda g: (-sum(d.weight() for d in g), -len(g), g[0].line))
    taken: Counter[str] = Counter()
    dropped: set[int] = set()
    for group in ranked:
        ids = {d.label.id for d in group if d.label is not None and d.label.id}
        words = {d.label.word for d in group if d.label is not None}
        if any(taken[i] for i in ids) and not any(
            _same_word(other, words) for other in ranked if other is not group
        ):
            dropped.update(id(d) for d in group)
            continue
        taken.update(i for i in ids if i)
    return [d for d in drafts if not _under(d, dropped)]


def _same_word(group: list[Draft], words: set[str]) -> bool:
    return any(d.label is not None and d.label.word in words for d in group)


def _under(draft: Draft, dropped: set[int]) -> bool:
    at: Draft | None = draft
    while at is not None:
        if id(at) in dropped:
            return True
        at = at.parent
    return False


def document_title(root: Section) -> Section | None:
    """Return the section whose heading is the document's title: a first, sole heading of level 1."""
    tops = root.sections
    if not tops or tops[0].level != 1:
        return None
    first = tops[0]
    label = read_label(first.heading.text)
    others = [s for s in tops[1:] if s.level == 1]
    if others and label is not None and any(read_label(s.heading.text) is not None for s in others):
        return None
    return first


def title_text(section: Section | None) -> str:
    """Return the words of the title's heading, or nothing."""
    return plain(section.heading.text) if section is not None else ""

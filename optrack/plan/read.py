"""From the bytes of a markdown file to a Plan: front matter, items, recipes, problems, what was left out."""

from __future__ import annotations

import gc
from typing import Any

from optrack.model.plan import Item, Plan, Problem, RecipeLayer
from optrack.plan.blocks import Inline, Section, error_at, warning_at
from optrack.plan.candidate import Candidate
from optrack.plan.candidates import find_candidates, walk
from optrack.plan.document import read_document
from optrack.plan.fences import place_recipes, recipe_fences
from optrack.plan.front_matter import FrontMatter, decode, read_front_matter
from optrack.plan.items import items_of, settle_ids
from optrack.plan.labels import read_label
from optrack.plan.left_out import left_out, misspelt
from optrack.plan.marks import Marked
from optrack.plan.quantity import quantity
from optrack.plan.series import Reader
from optrack.plan.tellings import (
    AGAIN,
    fuller_table,
    leave,
    leave_retellings,
    leave_rivals,
    lend_from_tables,
    lend_from_tellings,
    own_what_is_theirs,
    ranking,
    take_breakdowns,
)
from optrack.plan.vocabulary import is_no_plan, is_planlike, plain


def parse_plan(data: bytes, *, name: str, path: str) -> Plan:
    """Return the plan written in `data`; what is wrong in it stands in `problems`, sorted by line.

    Raises PlanError only for what can't be read at all (its encoding).
    """
    enabled = gc.isenabled()
    gc.disable()  # looking for circles in a long plan again and again takes as long as reading it
    try:
        return _parse(decode(data, path), name, path)
    finally:
        if enabled:
            gc.enable()


def _parse(text: str, name: str, path: str) -> Plan:
    front = read_front_matter(text)
    root = read_document(front.text)
    problems = list(front.problems)
    problems += map(_too_deep, root.unread[:20])
    fences = recipe_fences(root, problems)
    title = document_title(root)
    top = find_candidates(root, title)
    everything = list(walk(top))
    certain = bool(front.values) or bool(fences)
    words = plain(title.heading.text) if title is not None else ""
    items = _take(
        top,
        everything,
        words,
        certain=certain,
        first_recipe=fences[0].line if fences else 0,
        problems=problems,
    )
    base = place_recipes(items, fences, problems)
    settle_ids(items, problems)
    left = left_out(everything, items)
    problems += misspelt(items)
    _lighten(root, everything)
    values = items_of(items, problems)
    for candidate in everything:
        candidate.parent = None
    values = _with_baseline(values, base, front, problems)
    problems.sort(key=lambda p: (p.line, p.column))
    return Plan(
        name=name,
        path=path,
        title=str(front.values.get("title") or words or name),
        text=text,
        items=values,
        recipe=base,
        problems=tuple(problems),
        left_out=left,
        **_settings(front),
    )


def _take(
    top: Candidate,
    everything: list[Candidate],
    title: str,
    *,
    certain: bool,
    first_recipe: int,
    problems: list[Problem],
) -> list[Candidate]:
    """Take the items among the candidates, and return them in document order."""
    other = is_no_plan(title) and not certain
    reader = Reader(
        certain or (is_planlike(title) and not other),
        other,
        first_recipe=first_recipe,
        titled=_titled(everything),
    )
    reader.take_headings(top)
    if not _has_items(everything):
        for reader.orders, reader.context in ((True, False), (True, True)):
            reader.take_headings(top)
            if _has_items(everything):
                break
        reader.orders = reader.context = False
    leave_rivals(_items(everything))
    reader.taken_ids = {c.label.id for c in _items(everything) if c.label is not None}
    reader.take_entries(top, items=_has_items(everything))
    take_breakdowns(everything, _items(everything))
    leave_retellings(_items(everything))
    if not _has_items(everything):
        reader.orders = True
        reader.take_entries(top, items=False)
    for candidate in everything:
        label = candidate.label
        if (
            candidate.taken
            and label is not None
            and label.kind == "band"
            and not candidate.children
            and not candidate.has_recipe
        ):
            leave(candidate, "a band that holds no items")
    if not certain and not _has_items(everything):
        for candidate in _items(everything):
            leave(candidate, "a baseline without anything to hold against it")
    _take_ranking(everything, certain=certain)
    items = _items(everything)
    for item in items:
        own_what_is_theirs(item)
    lend_from_tellings(everything, items, problems)
    lend_from_tables(everything, items, problems)
    return items


def _titled(everything: list[Candidate]) -> set[tuple[str, str]]:
    """The labels that stand somewhere with a title behind them, so that without one they only name it."""
    labels = (c.label for c in everything if c.label is not None and c.form in ("heading", "bold"))
    return {(label.word, label.id) for label in labels if label.id is not None and not label.is_bare}


def _take_ranking(everything: list[Candidate], *, certain: bool) -> None:
    """Take a full ranking in place of the items, where it says more of more of them."""
    items = _items(everything)
    rows = [] if certain else ranking(everything)
    weight = _weight([c for c in items if c.parent is None])
    if _weight(rows) <= 1.5 * weight or len(rows) <= sum(c.weight() > 0 and not c.children for c in items):
        rows = fuller_table(everything, items)
    if not rows:
        return
    for item in items:
        leave(item, AGAIN)
    for row in rows:
        row.taken, row.parent = True, None


def _weight(items: list[Candidate]) -> int:
    return sum(item.weight() for item in items)


def _items(everything: list[Candidate]) -> list[Candidate]:
    return sorted((c for c in everything if c.taken), key=lambda c: c.line)


def _has_items(everything: list[Candidate]) -> bool:
    """Whether anything was taken but empty bands and the baseline."""
    return any(
        c.taken and (c.label is None or c.label.kind not in ("band", "baseline") or bool(c.children))
        for c in everything
    )


def document_title(root: Section) -> Section | None:
    """Return the section whose heading is the document's title: a first, sole heading of level 1."""
    tops = [s for s in root.sections if s.level == 1]
    if not tops or root.sections[0].level != 1:
        return None
    first = root.sections[0]
    labelled = read_label(first.heading.text) is not None
    return None if labelled and any(read_label(s.heading.text) is not None for s in tops[1:]) else first


def _lighten(root: Section, everything: list[Candidate]) -> None:
    """Let go of the document before the items are made, without circles, so that it is freed at once."""
    for section in list(root.walk()):
        section.parent = None
        section.blocks, section.sections = [], []
    root.blocks, root.sections = [], []
    nothing, unmarked = Inline.of(""), Marked("")
    for candidate in everything:
        candidate.above, candidate.group, candidate.text = None, None, nothing
        candidate.marked, candidate.prose = unmarked, ""
        candidate.below, candidate.blocks = [], []


def _too_deep(line: int) -> Problem:
    return warning_at(
        line, "what stands here is nested too deeply and isn't read", "write it as a list of its own"
    )


def _settings(front: FrontMatter) -> dict[str, Any]:
    keys = ("metric", "min_effect", "baseline", "adopt")
    settings = {key: front.values[key] for key in keys if key in front.values}
    if "target" in front.values:
        settings["target"] = quantity(front.values["target"])
    return settings


def _with_baseline(
    items: tuple[Item, ...], base: RecipeLayer | None, front: FrontMatter, problems: list[Problem]
) -> tuple[Item, ...]:
    """Put the implicit baseline first where the plan has a base recipe and no baseline of its own."""
    named = str(front.values.get("baseline", "baseline"))
    if any(item.id == named for item in items):
        return items
    if "baseline" in front.values and named != "baseline":
        line, column = front.places.get(("baseline",), (1, 1))
        problems.append(
            error_at(
                line,
                f"the baseline `{named}` is no item of this plan",
                "name an item by its id, or leave it out for the base recipe",
                column=column,
            )
        )
        return items
    if base is None:
        return items
    first = Item(id="baseline", title="Baseline", line=base.line, rank=0)
    return (first, *(item.model_copy(update={"rank": item.rank + 1}) for item in items))

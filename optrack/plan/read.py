"""From the bytes of a markdown file to a Plan: front matter, items, recipes, problems, what was left out."""

from __future__ import annotations

import gc
from typing import Any

from optrack.model.plan import Item, Plan, Problem, RecipeLayer
from optrack.plan.candidates import find_candidates, take_title
from optrack.plan.document import Document
from optrack.plan.front_matter import FrontMatter, decode, read_front_matter
from optrack.plan.items import items_of, settle_ids
from optrack.plan.left_out import left_out, misspelt
from optrack.plan.parts import Candidate, Line, Marked, error_at, warning_at
from optrack.plan.quantity import quantity
from optrack.plan.recipe_blocks import place_recipes, recipe_fences
from optrack.plan.series import Chooser
from optrack.plan.tellings import (
    AGAIN,
    fuller_table,
    leave,
    leave_retellings,
    leave_rivals,
    lend,
    own_what_is_theirs,
    take_breakdowns,
)
from optrack.plan.vocabulary import is_no_plan, is_planlike


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
    problems = list(front.problems)
    document = Document(front.text)
    top = find_candidates(document.parts())
    fences = recipe_fences(document.fences, problems)
    for line in document.unread[:20]:
        message = "what stands here is nested too deeply and isn't read"
        problems.append(warning_at(line, message, "write it as a list of its own"))
    title = take_title(top)
    certain = bool(front.values) or bool(fences)
    everything = list(top.walk())
    _choose(top, everything, title, certain=certain, first_recipe=fences[0].line if fences else 0)
    items = _items(everything)
    for item in items:
        own_what_is_theirs(item)
    lend(everything, items, problems)
    base = place_recipes(items, fences, problems)
    settle_ids(items, problems)
    left = left_out(everything, items)
    problems += misspelt(items)
    values = _with_baseline(_values(top, everything, items, problems), base, front, problems)
    keys = ("metric", "min_effect", "baseline", "adopt")
    settings: dict[str, Any] = {key: front.values[key] for key in keys if key in front.values}
    if "target" in front.values:
        settings["target"] = quantity(front.values["target"])
    return Plan(
        name=name,
        path=path,
        title=str(front.values.get("title") or title or name),
        text=text,
        items=values,
        recipe=base,
        problems=tuple(sorted(problems, key=lambda p: (p.line, p.column))),
        left_out=left,
        **settings,
    )


def _choose(
    top: Candidate, everything: list[Candidate], title: str, *, certain: bool, first_recipe: int
) -> None:
    """Take the items among the candidates; a document with recipes or front matter is `certain` to be a plan."""
    other = is_no_plan(title) and not certain
    chooser = Chooser(
        planlike=certain or (is_planlike(title) and not other),
        other=other,
        first_recipe=first_recipe,
        titled=_titled(everything),
    )
    rounds = ((False, False), (True, False), *([(True, True)] if chooser.planlike else []))
    for chooser.orders, chooser.context in rounds:
        chooser.take_headings(top)
        if _has_items(everything):
            break
    chooser.orders = chooser.context = False
    leave_rivals(_items(everything))
    chooser.taken_ids = {c.label.id for c in _items(everything) if c.label is not None}
    chooser.take_entries(top, items=_has_items(everything))
    take_breakdowns(everything, _items(everything))
    leave_retellings(_items(everything))
    if not _has_items(everything):
        chooser.orders = True
        chooser.take_entries(top, items=False)
    for item in _items(everything):
        if item.kind == "band" and not item.children and not item.has_recipe:
            leave(item, "a band that holds no items")
    if not certain and not _has_items(everything):
        for item in _items(everything):
            leave(item, "a baseline without anything to hold against it")
    rows = fuller_table(everything, _items(everything), certain=certain)
    for item in _items(everything) if rows else ():
        leave(item, AGAIN)
    for row in rows:
        row.taken, row.parent = True, None


def _titled(everything: list[Candidate]) -> set[str]:
    """The labels that stand somewhere with a title behind them, so that without one they only name it."""
    labels = (c.label for c in everything if c.label is not None and c.form in ("heading", "bold"))
    return {label.name for label in labels if label.id is not None and not label.is_bare}


def _items(everything: list[Candidate]) -> list[Candidate]:
    return sorted((c for c in everything if c.taken), key=lambda c: c.line)


def _has_items(everything: list[Candidate]) -> bool:
    """Whether anything was taken but empty bands and the baseline."""
    return any(c.taken and (c.kind not in ("band", "baseline") or bool(c.children)) for c in everything)


def _values(
    top: Candidate, everything: list[Candidate], items: list[Candidate], problems: list[Problem]
) -> tuple[Item, ...]:
    """The items as values; the candidates are let go of before, without circles, so that they are freed at once."""
    nothing, unmarked = Line(""), Marked("")
    for candidate in (top, *everything):
        candidate.above, candidate.group, candidate.text, candidate.lines = None, None, nothing, ()
        candidate.marked, candidate.prose, candidate.below = unmarked, "", ()
    everything.clear()
    return tuple(items_of(items, problems))


def _with_baseline(
    items: tuple[Item, ...], base: RecipeLayer | None, front: FrontMatter, problems: list[Problem]
) -> tuple[Item, ...]:
    """Put the implicit baseline first where the plan has a base recipe and no baseline of its own."""
    named = str(front.values.get("baseline", "baseline"))
    if any(item.id == named for item in items):
        return items
    if "baseline" in front.values and named != "baseline":
        line, column = front.places.get(("baseline",), (1, 1))
        message = f"the baseline `{named}` is no item of this plan"
        hint = "name an item by its id, or leave it out for the base recipe"
        problems.append(error_at(line, message, hint, column=column))
        return items
    if base is None:
        return items
    first = Item(id="baseline", title="Baseline", line=base.line, rank=0)
    return (first, *(item.model_copy(update={"rank": item.rank + 1}) for item in items))

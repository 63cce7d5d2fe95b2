"""From the bytes of a markdown file to a Plan: front matter, items in all their forms, recipes, problems."""

from __future__ import annotations

from typing import Any

from optrack.core.parse.decode import decode
from optrack.core.parse.document import Section, read_document
from optrack.core.parse.draft import Draft
from optrack.core.parse.forms import find_drafts
from optrack.core.parse.frontmatter import FrontMatter, read_front_matter
from optrack.core.parse.headings import document_title, title_text
from optrack.core.parse.place import place_recipes, recipe_fences
from optrack.core.parse.settle import items_of, settle_ids
from optrack.core.plan import Item, Plan, PrimaryMetric, Problem, RecipeLayer
from optrack.core.quantity import quantity
from optrack.core.recipes.units import fraction


def parse_plan(data: bytes, *, name: str, path: str) -> Plan:
    """Return the plan written in `data`; what is wrong in it stands in `problems`, sorted by line.

    Raises PlanError only for what can't be read at all (its encoding).
    """
    text = decode(data, path)
    front = read_front_matter(text)
    root = read_document(front.text)
    problems = list(front.problems)
    problems += map(_too_deep, root.unread[:20])
    fences = recipe_fences(root, problems)
    drafts = find_drafts(root, named_plan=bool(front.values), has_recipes=bool(fences))
    base = place_recipes(drafts, fences, problems)
    settle_ids(drafts, problems)
    items = items_of(drafts, problems)
    title = str(front.values.get("title") or title_text(document_title(root)) or name)
    items = _with_baseline(items, base, front, problems)
    problems.sort(key=lambda p: (p.line, p.column))
    return Plan(
        name=name,
        path=path,
        title=title,
        text=text,
        items=items,
        recipe=base,
        problems=tuple(problems),
        **_settings(front),
    )


def _too_deep(line: int) -> Problem:
    return Problem(
        severity="warning",
        message="what stands here is nested too deeply and isn't read",
        line=line,
        hint="write it as a list of its own",
    )


def _settings(front: FrontMatter) -> dict[str, Any]:
    values = front.values
    settings: dict[str, Any] = {}
    if "metric" in values:
        metric = values["metric"]
        settings["metric"] = (
            PrimaryMetric(**metric) if isinstance(metric, dict) else PrimaryMetric(name=str(metric))
        )
    if "target" in values:
        settings["target"] = quantity(str(values["target"]))
    if "min_effect" in values:
        settings["min_effect"] = fraction(values["min_effect"])
    if "baseline" in values:
        settings["baseline"] = str(values["baseline"])
    if "adopt" in values:
        settings["adopt"] = values["adopt"]
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
            Problem(
                severity="error",
                message=f"the baseline `{named}` is no item of this plan",
                line=line,
                column=column,
                hint="name an item by its id, or leave it out for the base recipe",
            )
        )
        return items
    if base is None:
        return items
    first = Item(id="baseline", title="Baseline", line=base.line, rank=0)
    return (first, *(item.model_copy(update={"rank": item.rank + 1}) for item in items))


__all__ = ["Draft", "Section", "parse_plan"]

"""An item added to a plan: as the text of the plan would say it, and what it resembles."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from optrack.errors import PlanError, UsageError
from optrack.model.markdown import plain
from optrack.model.plan import Item, Plan
from optrack.model.run import Failure, Run
from optrack.model.text import nearest
from optrack.model.treatment import treatment
from optrack.model.value import Frozen
from optrack.plan.read import parse_plan
from optrack.plan.resolve import resolve

_FORMS = ("{name}: {title}", "Priority {name}: {title}", "{title} {{#{name}}}")
"""How a heading may tell an item's id; which of them counts depends on the plan's other items."""

_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/=-]{0,63}")


class NewItem(Frozen):
    """An item to be added, in the words of a plan; `recipe` is a recipe block's data, or its YAML text."""

    title: str
    id: str | None = None
    parent: str | None = None
    hypothesis: str | None = None
    gain: str | None = None
    effort: str | None = None
    risk: str | None = None
    needs: tuple[str, ...] = ()
    skip_if: str | None = None
    recipe: Mapping[str, Any] | str | None = None


def new_item(data: Mapping[str, Any]) -> NewItem:
    """Return the item that plain data describes; raises UsageError for keys and values that don't fit."""
    from pydantic import ValidationError

    for key in data:
        if key not in NewItem.model_fields:
            near = nearest(str(key), list(NewItem.model_fields))
            known = ", ".join(NewItem.model_fields)
            hint = f"did you mean {near!r}?" if near else f"known: {known}"
            raise UsageError(f"an item has no {key!r}", hint=hint)
    if "title" not in data:
        raise UsageError("the item has no title", hint="`optrack add TITLE`, or JSON with a `title`")
    try:
        return NewItem.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"])
        raise UsageError(f"the item's {where}: {first['msg'].lower()}") from error


def as_item(plan: Plan, new: NewItem, *, rank: int) -> Item:
    """Return the new item as a value of the plan; raises UsageError or PlanError for what doesn't fit."""
    name = _label(plan, new)
    parent = _known(plan, new.parent) if new.parent else None
    needs = tuple(_known(plan, need) for need in new.needs)
    bare = new.model_copy(update={"needs": ()})
    for form in _FORMS:
        text = f"# Plan\n\n{block(bare, name, level=2, form=form)}"
        parsed = parse_plan(text.encode(), name=plan.name, path="the new item")
        found = next((item for item in parsed.items if item.id == name), None)
        if found is not None:
            break
    errors = [problem for problem in parsed.problems if problem.severity == "error"]
    if errors:
        raise PlanError(errors[0].message, hint=errors[0].hint, problems=tuple(p.message for p in errors))
    if found is None:
        raise UsageError(f"{new.title!r} can't be read as an item's title", hint="say it in plain words")
    recipe = found.recipe.model_copy(update={"line": 0, "lines": {}}) if found.recipe else None
    item = found.model_copy(
        update={"parent": parent, "needs": needs, "rank": rank, "line": 0, "recipe": recipe}
    )
    if item.recipe is not None:
        resolve(plan.model_copy(update={"items": (*plan.items, item)}), item)
    return item


def written(plan: Plan, new: NewItem) -> str:
    """Return the plan's text with the item appended, below its parent where it has one.

    Nothing else of the text changes. Raises UsageError where the item can't be put so that the plan then reads
    as before, with the new item in its place.
    """
    name = _label(plan, new)
    parent = _known(plan, new.parent) if new.parent else None
    lines = plan.text.splitlines(keepends=True)
    for at in _places(plan, parent, len(lines)):
        for level, form in product((2, 3, 4, 5), _FORMS):
            before, after = "".join(lines[:at]), "".join(lines[at:])
            gap = "" if before.endswith("\n\n") or not before else "\n" if before.endswith("\n") else "\n\n"
            text = f"{before}{gap}{block(new, name, level=level, form=form)}{chr(10) if after.strip() else ''}{after}"
            if _reads(plan, text, name, parent):
                return text
    raise UsageError(
        f"the item can't be appended to {plan.path} without changing how the rest is read",
        hint="add it without --write, or write it into the plan by hand",
    )


def block(new: NewItem, name: str, *, level: int, form: str = _FORMS[0]) -> str:
    """Return the item as the markdown of a plan: a heading, its attributes, its recipe."""
    attributes = {
        "Hypothesis": new.hypothesis,
        "Expected gain": new.gain,
        "Effort": new.effort,
        "Risk": new.risk,
        "Needs": ", ".join(new.needs) or None,
        "Skip if": new.skip_if,
    }
    said = [f"- **{key}**: {plain(text)}\n" for key, text in attributes.items() if text]
    recipe = _recipe_text(new.recipe)
    fence = f"```yaml recipe\n{recipe}```\n" if recipe else ""
    parts = [f"{'#' * level} {form.format(name=name, title=plain(new.title))}\n", "".join(said), fence]
    return "\n".join(part for part in parts if part)


def _recipe_text(recipe: Mapping[str, Any] | str | None) -> str:
    if recipe is None:
        return ""
    if isinstance(recipe, str):
        text = recipe if recipe.endswith("\n") else f"{recipe}\n"
        if re.search(r"^\s*(```|~~~)", text, re.MULTILINE):
            raise UsageError("the recipe holds a fence", hint="give only what stands within the block")
        return text
    from ruamel.yaml import YAML

    out = io.StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.dump(dict(recipe), out)
    return out.getvalue()


def _label(plan: Plan, new: NewItem) -> str:
    if not plain(new.title):
        raise UsageError("the item has no title")
    if new.id is not None:
        if not _LABEL.fullmatch(new.id):
            raise UsageError(
                f"{new.id!r} can't be an item's id", hint="letters, digits, dots and dashes, like 3A"
            )
        if plan.item(new.id) is not None:
            raise UsageError(f"the plan has an item {new.id} already", hint="give it another id")
        return new.id
    number = 1
    while plan.item(f"X{number}") is not None:
        number += 1
    return f"X{number}"


def _known(plan: Plan, name: str) -> str:
    found = plan.item(name)
    if found is None:
        near = nearest(name, [item.id for item in plan.items])
        raise UsageError(
            f"no item {name!r} in the plan {plan.name!r}", hint=f"did you mean {near!r}?" if near else None
        )
    return found.id


def _places(plan: Plan, parent: str | None, end: int) -> list[int]:
    """The lines before which the item may be put: after its parent's last descendant, else at the end."""
    if parent is None:
        return [end]
    inside = {parent}
    after = False
    for item in sorted(plan.items, key=lambda i: i.line):
        if item.id == parent:
            after = True
        elif after and item.parent in inside:
            inside.add(item.id)
        elif after:
            return [item.line - 1, end]
    return [end]


def _reads(plan: Plan, text: str, name: str, parent: str | None) -> bool:
    parsed = parse_plan(text.encode(), name=plan.name, path=plan.path)
    found = next((item for item in parsed.items if item.id == name), None)
    if found is None or found.parent != parent:
        return False
    others = [(i.id, i.title, i.parent, i.needs, _data(i)) for i in parsed.items if i.id != name]
    return others == [(i.id, i.title, i.parent, i.needs, _data(i)) for i in plan.items]


def _data(item: Item) -> Mapping[str, Any] | None:
    return item.recipe.data if item.recipe is not None else None


NOT_THE_RECIPES = frozenset(
    {
        "port_in_use",
        "disk_full",
        "interrupted",
        "runner_died",
        "runner_error",
        "baseline_failed",
        "not_started",
    }
)
"""Kinds of failure that say nothing of the recipe."""


class Resemblance(Frozen):
    """A run that failed, and the factors that this recipe shares with it; `same` if it is the same recipe."""

    item: str
    run: str
    failure: Failure
    factors: tuple[str, ...]
    same: bool = False

    @property
    def text(self) -> str:
        """The warning, in one line."""
        shared = "this very recipe" if self.same else f"a recipe with {', '.join(self.factors)}"
        return f"{shared} failed before (item {self.item}, run {self.run}): {self.failure.message}"


def resembling(
    recipe: Mapping[str, Any], baseline: Mapping[str, Any], runs: Sequence[Run]
) -> tuple[Resemblance, ...]:
    """Return the failures that this recipe risks, the latest of `runs` first, each fingerprint once.

    A recipe resembles one that failed if it changes against the baseline all that the failed one changed, to
    the same values. A later success of the same recipe takes a failure back.
    """
    ours = treatment(recipe, baseline)
    found: dict[str, Resemblance] = {}
    succeeded: list[Mapping[str, Any]] = []
    for run in sorted(runs, key=lambda run: run.started_at, reverse=True):
        if run.outcome == "succeeded":
            succeeded.append(run.recipe)
        if run.failure is None or run.outcome not in ("failed", "timed_out"):
            continue
        if run.failure.kind in NOT_THE_RECIPES or run.recipe in succeeded:
            continue
        theirs = treatment(run.recipe, baseline)
        if not theirs or any(ours.get(key) != values for key, values in theirs.items()):
            continue
        factors = tuple(f"{key}={values[1]}" for key, values in theirs.items())
        resemblance = Resemblance(
            item=run.item, run=run.id, failure=run.failure, factors=factors, same=len(theirs) == len(ours)
        )
        found.setdefault(run.failure.fingerprint, resemblance)
    return tuple(found.values())

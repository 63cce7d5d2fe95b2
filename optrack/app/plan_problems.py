"""All that can be said of a plan before anything runs: the core's check, and what its engines know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from optrack.app.code_problems import code_problems
from optrack.app.plan_check import check
from optrack.engines.protocol import Place
from optrack.engines.registry import engine_named
from optrack.errors import PlanError
from optrack.judge.known_variables import nearly_known
from optrack.metrics.registry import RULES_ONLY, parser_named
from optrack.model.plan import Item, Plan, Problem
from optrack.model.recipe import Recipe
from optrack.model.treatment import layers_of
from optrack.plan.resolve import combined_ids, resolve

_TOLD = ("engine", "server", "env", "launch", "bench", "warmup", "repo", "patch")


def plan_problems(plan: Plan, python: str, project: Path | None = None) -> tuple[Problem, ...]:
    """Return the plan's problems, sorted by line; `python` is the interpreter that has the servers' packages.

    What an engine finds odd in a recipe is a warning; an engine, tool or parser that there isn't is an error. In
    a `project`, so is a repository that can't be used; a patch that doesn't apply now is a warning.
    """
    found = list(check(plan))
    seen: set[str] = set()
    for item in (None, *plan.items):
        recipe = _recipe(plan, item)
        if recipe is None:
            continue
        of_code = _of_code(plan, item, recipe, project) if project is not None else ()
        for problem in (*_of_engine(plan, item, recipe, python), *of_code):
            if problem.message not in seen:
                seen.add(problem.message)
                found.append(problem)
    return tuple(sorted(found, key=lambda p: (p.line, p.column, p.message)))


def _recipe(plan: Plan, item: Item | None) -> Recipe | None:
    """The recipe of the plan itself or of an item that says how something is started; None for others."""
    layer = item.recipe if item is not None else plan.recipe
    if layer is None or not any(key in layer.data for key in _TOLD):
        return None
    if item is not None and combined_ids(plan, item):
        return None
    try:
        return resolve(plan, item).recipe
    except PlanError:
        return None


def _of_engine(plan: Plan, item: Item | None, recipe: Recipe, python: str) -> Iterator[Problem]:
    try:
        engine = engine_named(recipe.engine, python)
    except PlanError as error:
        yield _problem("error", plan, item, ("engine",), error.message, error.hint)
        return
    place = Place(run="RUN", item=item.id if item else "", launch=0, run_dir=Path("RUN_DIR"), port=30000)
    for bench in (*recipe.bench, *recipe.warmup):
        keys = (f"bench.{bench.name}", "bench.tool", "bench.parser", "bench")
        try:
            if bench.parser not in ("auto", *RULES_ONLY):
                parser_named(bench.parser)
            if bench.tool is not None:
                engine.bench(recipe, bench, place)
        except PlanError as error:
            yield _problem("error", plan, item, keys, error.message, error.hint)
    ready = recipe.ready
    if (
        recipe.engine == "command"
        and recipe.launch
        and not (ready.http or ready.tcp or ready.log or ready.command)
    ):
        message = (
            "without `ready`, a server counts as ready once its port is open, even if it can't serve yet"
        )
        hint = "`ready: {http: /health}` or `{log: REGEX}`; `{tcp: true}` if the open port is enough"
        yield _problem("warning", plan, item, ("ready", "launch"), message, hint)
    for name in recipe.env:
        if (near := nearly_known(name)) is not None:
            message = f"no library that is known here reads {name}"
            yield _problem("warning", plan, item, (f"env.{name}", "env"), message, f"did you mean {near}?")
    for message in engine.problems(recipe):
        names = re.findall(r"[A-Za-z][\w-]*", message)
        named = [f"{table}.{name}" for name in names for table in ("server", "env")]
        yield _problem("warning", plan, item, (*named, "server", "engine"), message.rstrip("."), None)


def _of_code(plan: Plan, item: Item | None, recipe: Recipe, project: Path) -> Iterator[Problem]:
    for severity, key, message, hint in code_problems(recipe, project):
        yield _problem(severity, plan, item, (key, "repo", "patch"), message, hint)


def _problem(
    severity: str, plan: Plan, item: Item | None, keys: tuple[str, ...], message: str, hint: str | None
) -> Problem:
    line, column = item.line if item is not None else 1, 1
    layers = layers_of(plan, item)
    for key in keys:
        layer = next((layer for layer in reversed(layers) if key in layer.lines), None)
        if layer is not None:
            line, column = layer.lines[key], layer.columns.get(key, 1)
            break
    return Problem(
        severity="error" if severity == "error" else "warning",
        message=f"recipe: {message}",
        line=line,
        column=column,
        hint=hint,
    )

"""Whether something measures what a plan speaks of: its metric, its guards' and its derived metrics."""

from __future__ import annotations

import re
from collections.abc import Iterator

from optrack.errors import PlanError
from optrack.judge.derived import expression_problem
from optrack.metrics.registry import names_of_tool
from optrack.metrics.server_logs import names_of_log
from optrack.model.metrics import metric_named
from optrack.model.plan import Item, Plan, Problem
from optrack.model.recipe import Recipe
from optrack.model.text import nearest
from optrack.model.treatment import layers_of
from optrack.plan.resolve import combined_ids, resolve

_PERCENTILE = re.compile(r"^p\d{1,2}(?:[._]\d+)?_")


def metric_problems(plan: Plan) -> Iterator[Problem]:
    """Yield a warning for each metric that none of the known tools gives, an error for a bad expression.

    Where one of an item's benchmarks is shell text whose parser isn't named, nobody can tell.
    """
    yield from _direction(plan)
    seen: set[tuple[int, str]] = set()
    for item, recipe in _recipes(plan):
        known = known_metrics(recipe)
        for problem in (*_derived(plan, item, recipe, known), *_guards(plan, item, recipe, known)):
            if (problem.line, problem.message) not in seen:
                seen.add((problem.line, problem.message))
                yield problem
        if known is not None and not seen_metric(plan.metric.name, known) and (0, "metric") not in seen:
            seen.add((0, "metric"))
            yield _metric(plan, recipe, known)


def known_metrics(recipe: Recipe) -> frozenset[str] | None:
    """Return the metrics that a recipe's benchmarks, log, rules and derivations give; None if unknown."""
    found = {*recipe.metrics, *recipe.derived}
    for bench in recipe.bench:
        tool = bench.tool if bench.parser == "auto" and bench.tool else bench.parser
        names = names_of_tool(tool)
        if names is None:
            return None
        names = names | names_of_log(recipe.engine) | set(recipe.metrics)
        found |= {f"{bench.name}.{name}" for name in names} if len(recipe.bench) > 1 else names
    return frozenset(found)


def seen_metric(name: str, known: frozenset[str]) -> bool:
    """Whether a metric is among the known ones; any percentile of a known kind is."""
    before, dot, last = name.rpartition(".")
    return name in known or f"{before}{dot}{_PERCENTILE.sub('p99_', last)}" in known


def _recipes(plan: Plan) -> Iterator[tuple[Item | None, Recipe]]:
    """The base recipe and those of items that change what is measured."""
    told = ("bench", "metrics", "derived", "check", "engine")
    for item in (None, *plan.items):
        if item is not None and (item.recipe is None or not any(key in item.recipe.data for key in told)):
            continue
        if item is None and plan.recipe is None:
            continue
        if item is not None and combined_ids(plan, item):
            continue
        try:
            recipe = resolve(plan, item).recipe
        except PlanError:
            continue
        if recipe.bench:
            yield item, recipe


def _direction(plan: Plan) -> Iterator[Problem]:
    """Warn where the plan has its metric get better the other way than its name says."""
    told, implied = plan.metric.better, metric_named(plan.metric.name).better
    if told is not None and implied is not None and told != implied:
        message = f"`{plan.metric.name}` is usually better {implied}, and the plan says `better: {told}`"
        yield _warning(_line_of_metric(plan), message, "every verdict turns on it: look again")


def _line_of_metric(plan: Plan) -> int:
    found = re.search(r"^metric[ \t]*:", plan.text, re.MULTILINE)
    return plan.text.count("\n", 0, found.start()) + 1 if found is not None else 1


def _metric(plan: Plan, recipe: Recipe, known: frozenset[str]) -> Problem:
    tools = ", ".join(dict.fromkeys(f"`{b.tool or b.parser}`" for b in recipe.bench))
    near = nearest(plan.metric.name, sorted(known))
    return _warning(
        _line_of_metric(plan),
        f"the metric `{plan.metric.name}` is none that {tools} is known to give",
        f"did you mean `{near}`?" if near else "define it under `metrics:`",
    )


def _derived(
    plan: Plan, item: Item | None, recipe: Recipe, known: frozenset[str] | None
) -> Iterator[Problem]:
    for name, expression in recipe.derived.items():
        wrong = expression_problem(expression)
        line, column = _place(plan, item, f"derived.{name}")
        if wrong is not None:
            message = f"derived metric `{name}`: {wrong.rstrip('.')}"
            hint = "use names of metrics, `baseline.<name>`, numbers and + - * / ( )"
            yield Problem(severity="error", message=message, line=line, column=column, hint=hint)
        elif known is not None:
            strange = expression_problem(expression, _with_percentiles(expression, known))
            if strange is not None:
                yield _warning(
                    line, f"derived metric `{name}`: {strange}", "define it under `metrics:`", column
                )


def _guards(plan: Plan, item: Item | None, recipe: Recipe, known: frozenset[str] | None) -> Iterator[Problem]:
    for name, check in recipe.check.items():
        if check.metric is not None and known is not None and not seen_metric(check.metric, known):
            line, column = _place(plan, item, f"check.{name}.metric", f"check.{name}")
            near = nearest(check.metric, sorted(known))
            hint = f"did you mean `{near}`?" if near else "define it under `metrics:`"
            yield _warning(
                line, f"check `{name}`: nothing is known to measure `{check.metric}`", hint, column
            )


def _with_percentiles(expression: str, known: frozenset[str]) -> frozenset[str]:
    words = set(re.findall(r"[A-Za-z_]\w*", expression))
    return known | {word for word in words if seen_metric(word, known)}


def _place(plan: Plan, item: Item | None, *names: str) -> tuple[int, int]:
    """Line and column of the first key that the item's own recipe or one above it has."""
    for name in names:
        for layer in reversed(layers_of(plan, item)):
            if name in layer.lines:
                return layer.lines[name], layer.columns.get(name, 1)
    return (item.line if item is not None else 1), 1


def _warning(line: int, message: str, hint: str, column: int = 1) -> Problem:
    return Problem(severity="warning", message=message, line=line, column=column, hint=hint)

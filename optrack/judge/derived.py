"""Derived metrics: arithmetic on what was measured, read by a safe expression library."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

from optrack.model.metrics import metric_named
from optrack.model.value import Frozen
from optrack.model.wording import amount

FUNCTIONS: tuple[str, ...] = ("min", "max", "abs", "sqrt", "log", "exp", "round")
"""What an expression may call."""
MOST_CHARS = 1000
_MOST_DEPTH = 100
_TOO_DEEP = "is nested too deeply"
_ARITHMETIC = (
    *(ast.Expression, ast.BinOp, ast.UnaryOp, ast.Call, ast.Constant, ast.Name, ast.Attribute, ast.Load),
    *(ast.operator, ast.unaryop),
)


class ExpressionError(ValueError):
    """A text that is no arithmetic, or too much of it; the message goes on after the expression."""


class Derived(Frozen):
    """The value of one derived metric; `problem` says why there is none."""

    name: str
    value: float | None = None
    problem: str | None = None


class _Means:
    """The means of one side, read as `baseline.output_throughput`."""

    def __init__(self, means: Mapping[str, float]) -> None:
        self._means = means

    def __getattr__(self, name: str) -> float:
        try:
            return self._means[name]
        except KeyError:
            raise AttributeError(name) from None


def derive(
    expressions: Mapping[str, str], own: Mapping[str, float], baseline: Mapping[str, float]
) -> tuple[Derived, ...]:
    """Return each derived metric, in the order written; a later one may use an earlier one.

    `own` and `baseline` hold the two sides' means by metric name; an expression names its own side's metrics
    plainly and the baseline's as `baseline.<name>`, with arithmetic and the `FUNCTIONS`. What isn't a finite
    number has a problem instead of a value.
    """
    known = dict(own)
    found = []
    for name, expression in expressions.items():
        derived = _evaluated(name, expression, known, baseline)
        if derived.value is not None:
            known[name] = derived.value
        found.append(derived)
    return tuple(found)


def names_in(expression: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the metrics that an expression takes from its own side and from the baseline.

    Raises ExpressionError if it isn't an expression.
    """
    tree = _tree(expression)
    of_baseline = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "baseline"
    }
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return frozenset(names - {"baseline", *FUNCTIONS}), frozenset(of_baseline)


def unit_of(name: str, recipe: Mapping[str, Any]) -> str:
    """Return the unit of a derived metric: what the recipe says of a metric of its name, else what its name implies."""
    rule = (recipe.get("metrics") or {}).get(name)
    given = rule.get("unit") if isinstance(rule, Mapping) else None
    return str(given) if given else metric_named(name).unit


def derived_text(derived: Mapping[str, float | None], recipe: Mapping[str, Any]) -> dict[str, str]:
    """Return each derived metric with its unit where one is known, and that it can't be computed where so."""
    return {
        name: amount(value, unit_of(name, recipe)) if value is not None else "can't be computed"
        for name, value in derived.items()
    }


def expression_problem(expression: str, known: Collection[str] | None = None) -> str | None:
    """Return what is wrong with an expression before anything was measured, or None.

    `known` are the metric names there will be, where they can be told.
    """
    from simpleeval import InvalidExpression

    try:
        own, of_baseline = names_in(expression)
        _value(expression, dict.fromkeys(own, 1.5), dict.fromkeys(of_baseline, 1.5))
    except ExpressionError as error:
        return f"{_shown(expression)} {error}"
    except (InvalidExpression, TypeError, AttributeError, RecursionError, MemoryError) as error:
        return f"{_shown(expression)} can't be read: {error}"
    except (ArithmeticError, ValueError) as error:
        if not own and not of_baseline:
            return f"{_shown(expression)} has no value: {error}"
        # else the made-up values may lie outside a function's domain
    strange = sorted((own | of_baseline) - set(known)) if known is not None else []
    return f"nothing measures {', '.join(strange)}" if strange else None


def _evaluated(
    name: str, expression: str, own: Mapping[str, float], baseline: Mapping[str, float]
) -> Derived:
    from simpleeval import InvalidExpression

    try:
        missing = _missing(expression, own, baseline)
    except ExpressionError as error:
        return Derived(name=name, problem=f"{_shown(expression)} {error}")
    if missing:
        return Derived(
            name=name, problem=f"{' and '.join(missing)} {'have' if missing[1:] else 'has'} no value"
        )
    try:
        value = float(_value(expression, own, baseline))
    except ZeroDivisionError:
        return Derived(name=name, problem=f"division by zero in {expression!r}")
    except (InvalidExpression, ValueError, ArithmeticError, TypeError) as error:
        return Derived(name=name, problem=f"{expression!r} has no value: {error}")
    except (AttributeError, RecursionError, MemoryError):
        return Derived(name=name, problem=f"{expression!r} can't be read")
    if not math.isfinite(value):
        return Derived(name=name, problem=f"{expression!r} isn't a finite number")
    return Derived(name=name, value=value)


def _missing(expression: str, own: Mapping[str, float], baseline: Mapping[str, float]) -> list[str]:
    """Return the metrics that an expression names and that weren't measured."""
    mine, theirs = names_in(expression)
    return [*sorted(mine - set(own)), *(f"baseline.{name}" for name in sorted(theirs - set(baseline)))]


def _value(expression: str, own: Mapping[str, float], baseline: Mapping[str, float]) -> Any:
    from simpleeval import SimpleEval

    reader = SimpleEval(
        names={**own, "baseline": _Means(baseline)}, functions=_functions(), operators=_operators()
    )
    return reader.eval(expression, previously_parsed=_Floats().visit(_tree(expression)).body)


def _tree(expression: str) -> ast.Expression:
    """Return an expression as its tree; raises ExpressionError for what isn't arithmetic of a sensible size."""
    if len(expression) > MOST_CHARS:
        raise ExpressionError(f"is longer than {MOST_CHARS} characters")
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (RecursionError, MemoryError):
        raise ExpressionError(_TOO_DEEP) from None
    except (SyntaxError, ValueError, OverflowError):
        raise ExpressionError("isn't an expression.") from None
    level: list[ast.AST] = [tree]
    for _ in range(_MOST_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if level:
        raise ExpressionError(_TOO_DEEP)
    for node in ast.walk(tree):
        if not isinstance(node, _ARITHMETIC):
            raise ExpressionError(f"can't be read: {type(node).__name__} is no arithmetic")
        if isinstance(node, ast.Constant) and type(node.value) not in (int, float):
            raise ExpressionError(f"can't be read: {str(node.value)[:40]!r} is no number")
    return tree


class _Floats(ast.NodeTransformer):
    """Whole numbers as floats, of which no power takes long; too large a one is infinite."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        """Return the constant as a float."""
        value = node.value
        assert isinstance(value, int | float)
        try:
            return ast.Constant(float(value))
        except OverflowError:
            return ast.Constant(math.inf)


def _shown(expression: str) -> str:
    return repr(expression) if len(expression) <= 80 else f"{expression[:80]!r}…"


def _rounded(value: float, digits: float = 0.0) -> float:
    return round(value, int(digits))


def _functions() -> dict[str, Callable[..., Any]]:
    return {
        "min": min,
        "max": max,
        "abs": abs,
        "sqrt": math.sqrt,
        "log": math.log,
        "exp": math.exp,
        "round": _rounded,
    }


def _operators() -> dict[type[ast.AST], Callable[..., Any]]:
    from simpleeval import DEFAULT_OPERATORS

    arithmetic = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.USub, ast.UAdd)
    return {kind: DEFAULT_OPERATORS[kind] for kind in arithmetic}

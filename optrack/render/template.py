"""Templates: in markdown and HTML alike, what isn't marked as markup is escaped.

A template's `{{ value }}` is text that may come from anywhere. Filters that return markup (`code`, `fenced`, …)
are the only way to write any, beside the template's own text.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from optrack.judge.imported import is_imported
from optrack.model import markdown
from optrack.render import format as fmt
from optrack.render import phrases, provenance, report, story
from optrack.render.section import WRITTEN

_VALUE_CHARS = 200


def html_document(template: str, *, body: str = "", **values: Any) -> str:
    """Return an HTML or SVG document; `body` is trusted markup, all other values are escaped."""
    return _html().get_template(template).render(values, body=Markup(body)).strip() + "\n"


def markdown_document(template: str, **values: Any) -> str:
    """Return a markdown document; every value is escaped."""
    return _markdown().get_template(template).render(values).strip("\n") + "\n"


@cache
def _html() -> Environment:
    return _environment()


@cache
def _markdown() -> Environment:
    """Markdown's environment: autoescaping makes trusted markup of macros, `finalize` escapes all else."""
    environment = _environment(finalize=_escaped)
    environment.filters |= {
        "code": _trusted(markdown.code),
        "cell_code": _trusted(markdown.cell_code),
        "prose": _trusted(markdown.prose),
        "lines": _trusted(markdown.lines),
        "fenced": _trusted(markdown.fenced),
        "quoted": lambda text: Markup(markdown.quoted(str(text).strip("\n"))),
        "effect": _trusted(fmt.effect),
        "interval": _trusted(lambda effect: fmt.interval(effect) if effect else ""),
        "percent": _trusted(fmt.percent),
        "rough": _trusted(fmt.rough),
        "sign": _trusted(lambda judgement: (fmt.verdict_mark(judgement) or fmt.NO_VERDICT).sign),
        "value": _trusted(lambda value: _value(value)),
    }
    return environment


def _environment(**options: Any) -> Environment:
    environment = Environment(
        loader=PackageLoader("optrack.render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        **options,
    )
    environment.filters |= {"words": fmt.words, "timestamp": fmt.timestamp, "span": fmt.span, "cut": fmt.cut}
    environment.globals |= {
        "fmt": fmt,
        "phrases": phrases,
        "report": report,
        "provenance": provenance,
        "tale": story,
        "is_imported": is_imported,
        "written": Markup(WRITTEN),
        "hashes": lambda level: Markup("#" * level),
    }
    return environment


def _escaped(value: object) -> Markup:
    return value if isinstance(value, Markup) else Markup(markdown.cell(str(value)))


def _trusted(make: Callable[..., str]) -> Callable[..., Markup]:
    return lambda value, *arguments, **options: Markup(make(value, *arguments, **options))


def _value(value: Any) -> str:
    """Return a recipe's or snapshot's value as code, or that it isn't set."""
    if value is None:
        return "not set"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return markdown.cell_code(fmt.cut(text, _VALUE_CHARS)) if text else "empty"

"""The parsers by name: those of optrack, and those that other packages offer as `optrack.parsers`."""

from __future__ import annotations

import re
from functools import cache

from optrack.errors import PlanError
from optrack.metrics import (
    batch,
    collectives,
    genai,
    guidellm,
    llama,
    load,
    server_logs,
    serving,
    shapes,
    storage,
    timers,
)
from optrack.metrics.output import Parser
from optrack.model.text import nearest

GROUP = "optrack.parsers"
RULES_ONLY = ("rules", "regex", "log", "none")
"""Names that mean: no parser, only the metrics that the recipe defines."""
BY_SHAPE = frozenset({shapes.JSON.name, *(parser.name for parser in shapes.PARSERS)})
"""The parsers of what no known tool wrote."""
_BUILT_IN: tuple[Parser, ...] = (
    *(serving.SGLANG, *batch.SGLANG, *serving.PARSERS, *batch.OTHERS, collectives.MLPERF),
    *(guidellm.GUIDELLM, *genai.PARSERS, collectives.NCCL, *llama.PARSERS, *timers.PARSERS),
    *(*load.PARSERS, *storage.PARSERS, shapes.JSON, *server_logs.PARSERS, *shapes.PARSERS),
)
"""In the order in which `auto` asks them: the surest first, the most general last."""


@cache
def parsers() -> tuple[Parser, ...]:
    """Return all parsers in the order in which they are asked; those of other packages come first."""
    from importlib.metadata import entry_points

    added = [loaded for entry in entry_points(group=GROUP) if isinstance(loaded := entry.load(), Parser)]
    return (*added, *_BUILT_IN)


def parser_names() -> tuple[str, ...]:
    """Return the names that `parser:` accepts."""
    return ("auto", *(parser.name for parser in parsers()), *RULES_ONLY)


def parser_named(name: str) -> Parser:
    """Return the parser called `name`, an alias of it, or a spelling with other separators.

    Raises PlanError with the nearest name if there is none.
    """
    wanted = _folded(name)
    for parser in parsers():
        if wanted in {_folded(known) for known in (parser.name, *parser.aliases)}:
            return parser
    near = nearest(name, parser_names(), cutoff=0.5)
    hint = f"did you mean '{near}'?" if near else f"known parsers: {', '.join(parser_names())}"
    raise PlanError(f"unknown parser '{name}'", hint=hint)


def names_of_tool(tool: str) -> frozenset[str] | None:
    """Return the metrics that the parser of `tool` is known to give, none for rules alone; None if unknown.

    The parsers pass on every number that a tool writes, so a newer tool may give others too.
    """
    if tool in RULES_ONLY:
        return frozenset()
    if tool == "auto":
        return None
    try:
        return parser_named(tool).names or None
    except PlanError:
        return None


def _folded(name: str) -> str:
    return re.sub(r"[-_. ]+", "", name.casefold())

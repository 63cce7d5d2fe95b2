"""What one benchmark pass measured: its tool's result, the recipe's own metrics, and what speaks against it."""

from __future__ import annotations

from collections.abc import Mapping

from optrack.metrics.failed import failures_in
from optrack.metrics.output import Output, Parsed
from optrack.metrics.registry import BY_SHAPE, RULES_ONLY, parser_named, parsers
from optrack.metrics.requests import asked_by, checked, echoed, rejected, short_of
from optrack.metrics.rules import read_rules
from optrack.model.recipe_parts import MetricRule


def parse_output(
    parser: str,
    data: bytes,
    *,
    rules: Mapping[str, MetricRule] | None = None,
    log: bytes = b"",
    files: Mapping[str, bytes] | None = None,
    unread: Mapping[str, str] | None = None,
    expected_requests: int | None = None,
    asked_requests: int | None = None,
    primary: str = "",
) -> Parsed:
    """Return what one benchmark pass measured.

    `data` are the bytes of this pass alone: what it printed, or what it appended to its file. `parser` is a
    tool's name, `auto`, or `rules` where only the recipe's own metrics count; `log` the server's log during
    the pass, `files` what the files named by rules contain, `unread` why others of them couldn't be read.
    `expected_requests` is how many the recipe asks its tool for, `asked_requests` how many a command's own
    text does. `primary` is the metric that a verdict needs: a pass that has it several times, told apart by its
    rows, is none. Raises PlanError for an unknown parser.
    """
    output = Output(data)
    contents = {name: Output(content) for name, content in (files or {}).items()}
    found, notes = read_rules(rules or {}, output, Output(log), contents, unread)
    parsed = _parsed(parser, output)
    failures = failures_in(output, with_json=parsed is None or parsed.tool in BY_SHAPE)
    if parsed is None:
        why = failures.why if found else _unrecognised(output, parser)
        settings = echoed(output)
        read = Parsed(tool="rules", readings=found, invalid=why, notes=notes, settings=settings)
        return read.but(unread=failures.unread)
    settings = {**echoed(output), **parsed.settings}
    parsed = parsed.but(settings=settings)
    parsed = rejected(checked(parsed, expected=expected_requests), Output(log))
    if expected_requests is None:
        parsed = short_of(short_of(parsed, asked_by(settings)), asked_requests)
    mine = {reading.metric.name for reading in found}
    readings = (*(r for r in parsed.readings if r.metric.name not in mine), *found)
    parsed = parsed.but(readings=readings, notes=(*parsed.notes, *notes), unread=failures.unread)
    return parsed.because(failures.why).because(_ambiguous(parsed, primary))


def _ambiguous(parsed: Parsed, primary: str) -> str | None:
    """Return why the primary metric can't be told in a pass that has it only by rows, None if it isn't so."""
    names = [reading.metric.name for reading in parsed.readings]
    rows = [name for name in names if primary and name.startswith(f"{primary}_")]
    if not rows or primary in names:
        return None
    shown = ", ".join(rows[:6]) + (f" and {len(rows) - 6} more" if len(rows) > 6 else "")
    return (
        f"the output doesn't have '{primary}' by that name alone, but {shown}: name one of them as the metric"
    )


def _parsed(name: str, output: Output) -> Parsed | None:
    if name in RULES_ONLY:
        return None
    if name != "auto":
        return parser_named(name).parse(output)
    recognised = next((parser for parser in parsers() if parser.recognises(output)), None)
    return recognised.parse(output) if recognised else None


def _unrecognised(output: Output, name: str) -> str:
    if not output.text.strip():
        return "the benchmark wrote nothing"
    if name in RULES_ONLY:
        return "none of the recipe's metrics was found in the output"
    if output.torn:
        return "the output is cut off: its last JSON document has no end"
    return "no known tool's result was recognised in the output; name a `parser`, or define `metrics`"

"""What benchmarks and servers wrote, as readings: one file a tool, found by name or recognised."""

from __future__ import annotations

from collections.abc import Mapping

from optrack.metrics import sglang_log, vllm_log
from optrack.metrics.output import Output, Parsed, Parser
from optrack.metrics.registry import RULES_ONLY, parser_named, parser_names, parsers
from optrack.metrics.rules import asked_in_output, checked, read_rules, rejected, short_of
from optrack.model.metrics import Reading
from optrack.model.recipe_parts import MetricRule

__all__ = [
    "Output",
    "Parsed",
    "Parser",
    "parse_output",
    "parse_server_log",
    "parser_named",
    "parser_names",
    "parsers",
]


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
) -> Parsed:
    """Return what one benchmark pass measured.

    `data` are the bytes of this pass alone: what it printed, or what it appended to its file. `parser` is a
    tool's name, `auto`, or `rules` where only the recipe's own metrics count; `log` the server's log during
    the pass, `files` what the files named by rules contain, `unread` why others of them couldn't be read.
    `expected_requests` is how many the recipe asks its tool for, `asked_requests` how many a command's own
    text does. Raises PlanError for an unknown parser.
    """
    output = Output(data)
    contents = {name: Output(content) for name, content in (files or {}).items()}
    found, notes = read_rules(rules or {}, output, Output(log), contents, unread)
    parsed = _parsed(parser, output)
    if parsed is None:
        why = None if found else _unrecognised(output, parser)
        return Parsed(tool="rules", readings=found, invalid=why, notes=notes)
    parsed = rejected(checked(parsed, expected=expected_requests), Output(log))
    if expected_requests is None:
        parsed = short_of(short_of(parsed, asked_in_output(output)), asked_requests)
    mine = {reading.metric.name for reading in found}
    readings = (*(r for r in parsed.readings if r.metric.name not in mine), *found)
    return parsed.model_copy(update={"readings": readings, "notes": (*parsed.notes, *notes)})


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


def parse_server_log(engine: str, data: bytes) -> tuple[Reading, ...]:
    """Return the metrics of a server's log over one stretch of time, given the bytes written in it.

    SGLang and vLLM print such lines; of any other engine's log nothing is known, so nothing is returned.
    """
    readers = {"sglang": sglang_log.read, "vllm": vllm_log.read}
    return readers[engine](Output(data)) if engine in readers else ()

"""Google Benchmark: the JSON it writes, and its console table."""

from __future__ import annotations

import re
from typing import Any

from optrack.core.parsers.output import Output, number, numeric, slug
from optrack.core.parsers.parsed import Parsed, Parser, nothing, readings_of

NAME = "google-benchmark"
_HEADER = re.compile(r"^Benchmark\s+Time\s+CPU\s+Iterations")
_ROW = re.compile(
    r"^(?P<name>\S+)\s+(?P<real>[\d.eE+]+) (?P<unit>ns|us|ms|s)\s+(?P<cpu>[\d.eE+]+) (?:ns|us|ms|s)\s+\d+"
)
_ERROR = re.compile(r"^(\S+)\s+ERROR OCCURRED: '(.*)'", re.MULTILINE)


def _report(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and isinstance(document.get("benchmarks"), list)
        and any(isinstance(b, dict) and {"name", "real_time"} <= b.keys() for b in document["benchmarks"])
    )


def _from_report(report: dict[str, Any]) -> tuple[dict[str, float | None], str | None]:
    values: dict[str, float | None] = {}
    why = None
    for row in report["benchmarks"]:
        if not isinstance(row, dict) or "name" not in row:
            continue
        if row.get("error_occurred") or row.get("skipped"):
            why = f"{row['name']}: {row.get('error_message') or row.get('skip_message') or 'error'}"
            continue
        name, unit = slug(str(row["name"])), str(row.get("time_unit", "ns"))
        values |= {f"{name}_{key}_{unit}": numeric(row.get(key)) for key in ("real_time", "cpu_time")}
        for key in ("items_per_second", "bytes_per_second"):
            values[f"{name}_{key}"] = numeric(row.get(key))
    return values, why


def _from_table(output: Output) -> tuple[dict[str, float | None], str | None]:
    values: dict[str, float | None] = {}
    for match in filter(None, map(_ROW.match, output.lines)):
        name = slug(match["name"])
        values[f"{name}_real_time_{match['unit']}"] = number(match["real"])
        values[f"{name}_cpu_time_{match['unit']}"] = number(match["cpu"])
    error = _ERROR.search(output.text)
    return values, f"{error[1]}: {error[2]}" if error else None


def parse(output: Output) -> Parsed:
    """Return each benchmark's wall and processor time in the tool's unit, `bm_copy_8_real_time_ns`."""
    reports = [document for document in output.objects if _report(document)]
    values, why = _from_report(reports[-1]) if reports else _from_table(output)
    readings = readings_of(values)
    if not readings:
        return nothing(NAME, why or ("the report is cut off" if output.torn else "no benchmark"))
    return Parsed(tool=NAME, readings=readings, invalid=why)


PARSER = Parser(
    name=NAME,
    source="google/benchmark: src/json_reporter.cc, src/console_reporter.cc",
    recognises=lambda output: (
        any(map(_report, output.objects)) or any(_HEADER.match(line) for line in output.lines)
    ),
    parse=parse,
    aliases=("gbench",),
    whole_file=True,
)

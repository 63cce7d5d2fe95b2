"""Google Benchmark: the JSON it writes, and its console table."""

from __future__ import annotations

import re
from statistics import fmean
from typing import Any

from optrack.metrics.output import Output, Parsed, Parser, nothing, number, numeric, readings_of, slug
from optrack.model.metrics import Reading

NAME = "google-benchmark"
_HEADER = re.compile(r"^Benchmark\s+Time\s+CPU\s+Iterations")
_ROW = re.compile(
    r"^(?P<name>\S+)\s+(?P<real>[\d.eE+]+) (?P<unit>ns|us|ms|s)\s+(?P<cpu>[\d.eE+]+) (?:ns|us|ms|s)\s+\d+"
)
_ABOUT = frozenset(
    {
        *("name", "family_index", "per_family_instance_index", "run_name", "run_type", "label", "time_unit"),
        *("repetitions", "repetition_index", "threads", "iterations", "aggregate_name", "aggregate_unit"),
    }
)
"""What a row says about itself, beside what it measured."""
_ERROR = re.compile(r"^(\S+)\s+ERROR OCCURRED: '(.*)'", re.MULTILINE)


def _report(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and isinstance(document.get("benchmarks"), list)
        and any(isinstance(b, dict) and {"name", "real_time"} <= b.keys() for b in document["benchmarks"])
    )


def _from_report(report: dict[str, Any]) -> tuple[tuple[Reading, ...], str | None]:
    """Return the means over the repetitions of each benchmark; of aggregates only what stands in their place."""
    rows = [row for row in report["benchmarks"] if isinstance(row, dict) and "name" in row]
    why = next((f"{row['name']}: {_trouble(row)}" for row in rows if _trouble(row)), None)
    single = [row for row in rows if row.get("run_type") != "aggregate" and not _trouble(row)]
    if not single:
        single = [row for row in rows if row.get("aggregate_unit", "time") == "time" and not _trouble(row)]
    values: dict[str, list[float]] = {}
    for row in single:
        name, unit = slug(str(row["name"])), str(row.get("time_unit", "ns"))
        for key in row.keys() - _ABOUT:
            value = numeric(row[key])
            ending = f"{key}_{unit}" if key in ("real_time", "cpu_time") else slug(key)
            if value is not None:
                values.setdefault(f"{name}_{ending}", []).append(value)
    return readings_of({name: fmean(found) for name, found in sorted(values.items())}), why


def _trouble(row: dict[str, Any]) -> str | None:
    if not (row.get("error_occurred") or row.get("skipped")):
        return None
    return str(row.get("error_message") or row.get("skip_message") or "error")


def _from_table(output: Output) -> tuple[tuple[Reading, ...], str | None]:
    values: dict[str, float | None] = {}
    for match in filter(None, map(_ROW.match, output.lines)):
        name = slug(match["name"])
        values[f"{name}_real_time_{match['unit']}"] = number(match["real"])
        values[f"{name}_cpu_time_{match['unit']}"] = number(match["cpu"])
    error = _ERROR.search(output.text)
    return readings_of(values), f"{error[1]}: {error[2]}" if error else None


def parse(output: Output) -> Parsed:
    """Return each benchmark's wall and processor time in the tool's unit, `bm_copy_8_real_time_ns`, its rates and
    its own counters."""
    reports = [document for document in output.objects if _report(document)]
    readings, why = _from_report(reports[-1]) if reports else _from_table(output)
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

"""Statistics by metric: NVIDIA's GenAI-Perf and AIPerf as JSON, CSV and framed tables."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import Any

from optrack.metrics.output import (
    Output,
    Parsed,
    Parser,
    Setting,
    last_of,
    nothing,
    number,
    numeric,
    readings_of,
    slug,
    with_reason,
)
from optrack.metrics.tool import JsonTool, setting_of, work_of
from optrack.model.metrics import Reading, unit_of

GENAI_PERF = "genai-perf"
AIPERF = "aiperf"
STATISTICS = ("avg", "min", "max", "std", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99")
_UNIT = re.compile(r"\(([^()]*)\)\s*$")
_TIMES = ("ms", "s", "us", "ns")
_AIPERF_MARKS = frozenset(
    {"aiperf_version", "schema_version", "was_cancelled", "error_summary", "benchmark_id"}
)


Result = dict[str, tuple[str, str, Mapping[str, float | None]]]
"""One result by its metrics' labels: label, unit as the tool spells it, and values by statistic."""


def _is_export(document: Any) -> bool:
    return isinstance(document, dict) and any(
        isinstance(entry, dict) and "avg" in entry and "unit" in entry for entry in document.values()
    )


def _is_aiperf(document: Any) -> bool:
    return _is_export(document) and not _AIPERF_MARKS.isdisjoint(document)


def _export(document: dict[str, Any]) -> tuple[Reading, ...]:
    """Return the readings of an export whose entries are `{"unit": …, "avg": …, "p99": …}`."""
    entries = {k: e for k, e in document.items() if isinstance(e, dict) and "avg" in e}
    return _readings(
        {
            k: (k, str(e.get("unit", "")), {s: numeric(e.get(s)) for s in STATISTICS})
            for k, e in entries.items()
        }
    )


def _readings(result: Result) -> tuple[Reading, ...]:
    """Return a metric's statistics, `avg_time_to_first_token_ms`; an average alone goes by the plain name."""
    values: dict[str, float | None] = {}
    units: dict[str, str] = {}
    for label, spelled, statistics in result.values():
        unit = _short(label, spelled)
        base = slug(label) + (f"_{unit}" if unit in _TIMES else "")
        known = {s: value for s in STATISTICS if (value := statistics.get(s)) is not None}
        if "throughput" in base and "avg" in known:
            known = {"avg": known["avg"]}
        for statistic, value in known.items():
            name = base if known.keys() == {"avg"} else f"{statistic}_{base}"
            values[name], units[name] = value, unit
    return readings_of(values, units)


def _short(label: str, spelled: str) -> str:
    unit = unit_of(spelled)
    if unit == "/s":
        counted = slug(label)
        return "tok/s" if "token" in counted else "req/s" if "request" in counted else unit
    return "" if unit == "count" else unit if unit is not None else spelled


def _add_to(results: list[Result], label: str, statistics: Mapping[str, float | None]) -> None:
    """Add a metric to the last result, or to a new one if that has it already: tables of one run share no metric."""
    unit = _UNIT.search(label)
    name = label[: unit.start()].strip() if unit else label.strip()
    if not results or name in results[-1]:
        results.append({})
    results[-1][name] = (name, unit[1].strip() if unit else "", statistics)


def _table_results(output: Output) -> list[Result]:
    """Return the results of the framed tables; a label that continues on the next row is joined."""
    results: list[Result] = []
    for header, rows in _framed(output):
        for row in rows:
            found = {name: number(cell) for name, cell in zip(header[1:], row[1:], strict=True)}
            _add_to(results, row[0], found)
    return results


def _framed(output: Output) -> Iterator[tuple[list[str], list[list[str]]]]:
    header: list[str] = []
    rows: list[list[str]] = []
    for line in output.lines:
        cells = [cell.strip() for cell in re.split("[│┃|║]", line)[1:-1]]
        if len(cells) < 2:
            continue
        if cells[0] in ("Statistic", "Metric") and "avg" in cells:
            yield header, rows
            header, rows = cells, []
        elif len(cells) == len(header) and not set("".join(cells)) <= set("-+="):
            if rows and not any(cells[1:]):
                rows[-1][0] = f"{rows[-1][0]} {cells[0]}".strip()
            elif rows and not cells[0]:
                rows[-1] = [f"{a}{b}" for a, b in zip(rows[-1], cells, strict=True)]
            else:
                rows.append(cells)
    yield header, rows


def _csv_results(output: Output) -> list[Result]:
    """Return the results of the CSV export: each a table of statistics, then one of single values."""
    results: list[Result] = []
    header: list[str] = []
    for row in csv.reader(io.StringIO(output.text)):
        if not row or not row[0].strip():
            continue
        if row[0] == "Metric":
            header = ["avg" if name.strip() == "Value" else name.strip() for name in row]
        elif header and len(row) == len(header):
            found = {name: number(cell) for name, cell in zip(header[1:], row[1:], strict=True)}
            _add_to(results, row[0], found)
    return results


def _text_of(tool: str, mark: str, output: Output) -> Parsed | None:
    is_csv = output.text.lstrip().startswith(("Metric,avg,", "Metric,Value"))
    if mark not in output.text and not (is_csv and tool == GENAI_PERF):
        return None
    try:
        results = _csv_results(output) if is_csv else _table_results(output)
    except csv.Error:
        results = []
    read = [readings for result in results if (readings := _readings(result))]
    if not read:
        return nothing(tool, "the table has no rows")
    return last_of(tool, read, "result tables in this pass")


def _aiperf_text(output: Output) -> Parsed | None:
    parsed = _text_of(AIPERF, "NVIDIA AIPerf", output)
    return with_reason(parsed, _aiperf_why({}, parsed)) if parsed is not None else None


def _aiperf_why(export: dict[str, Any], parsed: Parsed) -> str | None:
    errors = export.get("error_request_count")
    failed = numeric(errors.get("avg")) if isinstance(errors, dict) else parsed.value("error_request_count")
    if export.get("was_cancelled") is True:
        return "the benchmark was cancelled"
    if export.get("is_complete") is False:
        return "the benchmark didn't run to its end"
    if parsed.value("request_count") == 0:
        return "no request was completed"
    return f"{failed:,.0f} requests failed" if failed else None


def _input_settings(export: dict[str, Any]) -> dict[str, Setting]:
    """Return what an export tells of the load: the plain values of its `input_config`, by their last keys."""
    settings: dict[str, Setting] = {}
    parts = [export.get("input_config")]
    while parts and len(settings) < 100:
        part = parts.pop()
        if isinstance(part, dict):
            settings |= work_of(part)
            counts = (
                k for k in part if k in ("request_count", "concurrency", "request_rate", "mean", "stddev")
            )
            settings |= {k: setting_of(part[k]) for k in counts if isinstance(part[k], int | float)}
            parts += part.values()
    return settings


PARSERS: tuple[Parser, ...] = (
    JsonTool(
        name=AIPERF,
        source="ai-dynamo/aiperf: docs/reference/json-export-schema.md, src/aiperf/exporters",
        is_report=_is_aiperf,
        readings=_export,
        why=_aiperf_why,
        settings=_input_settings,
        text=_aiperf_text,
    ).parser(),
    JsonTool(
        name=GENAI_PERF,
        source="triton-inference-server/perf_analyzer: genai-perf/genai_perf/export_data",
        is_report=_is_export,
        readings=_export,
        settings=_input_settings,
        text=lambda output: _text_of(GENAI_PERF, "GenAI-Perf", output),
    ).parser(),
)

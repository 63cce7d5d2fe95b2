"""Statistics by metric: NVIDIA's GenAI-Perf and AIPerf, genai-bench, inference-perf."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from typing import Any

from optrack.metrics.output import Amount, Output, Parsed, Setting, Values, last_of, number, numeric, slug
from optrack.metrics.tables import framed_tables
from optrack.metrics.tool import Report, TextReader, counted, setting_of, tool, work_of
from optrack.model.metrics import unit_of

_STATISTICS = ("avg", "min", "max", "std", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99")
_UNIT = re.compile(r"\(([^()]*)\)\s*$")
_AIPERF_MARKS = frozenset(
    {"aiperf_version", "schema_version", "was_cancelled", "error_summary", "benchmark_id"}
)

Row = tuple[str, str, Mapping[str, float | None]]
"""A metric's label, its unit as the tool spells it, and its values by statistic."""


def _is_export(report: Report) -> bool:
    return any(isinstance(e, dict) and "avg" in e and "unit" in e for e in report.values())


def _export(report: Report) -> Values:
    """Return the values of an export whose entries are `{"unit": …, "avg": …, "p99": …}`."""
    entries = {k: e for k, e in report.items() if isinstance(e, dict) and "avg" in e}
    return _values(
        (k, str(e.get("unit", "")), {s: numeric(e.get(s)) for s in _STATISTICS}) for k, e in entries.items()
    )


def _values(result: Iterator[Row]) -> dict[str, Amount]:
    """Return a metric's statistics, `avg_time_to_first_token_ms`; an average alone goes by the plain name."""
    values: dict[str, Amount] = {}
    for label, spelled, statistics in result:
        unit = _short(label, spelled)
        base = slug(label) + (f"_{unit}" if unit in ("ms", "s", "us", "ns") else "")
        measured = {s: value for s in _STATISTICS if (value := statistics.get(s)) is not None}
        if "throughput" in base and "avg" in measured:
            measured = {"avg": measured["avg"]}
        is_plain = measured.keys() == {"avg"}
        values |= {base if is_plain else f"{s}_{base}": (value, unit) for s, value in measured.items()}
    return values


def _short(label: str, spelled: str) -> str:
    unit = unit_of(spelled)
    if unit == "/s":
        what = slug(label)
        return "tok/s" if "token" in what else "req/s" if "request" in what else unit
    return "" if unit == "count" else unit if unit is not None else spelled


def _table_rows(output: Output) -> Iterator[Mapping[str, str]]:
    for table in framed_tables(output, continued=True):
        if table.header[0] in ("Statistic", "Metric") and "avg" in table.header:
            yield from table.records()


def _csv_rows(output: Output) -> Iterator[Mapping[str, str]]:
    """Yield the rows of the CSV export: of a table of statistics, then of one of single values."""
    header: list[str] = []
    try:
        for row in csv.reader(io.StringIO(output.text)):
            if row and row[0] == "Metric":
                header = ["avg" if name.strip() == "Value" else name.strip() for name in row]
            elif row and row[0].strip() and len(row) == len(header):
                yield dict(zip(header, row, strict=True))
    except csv.Error:
        return


def _results(rows: Iterator[Mapping[str, str]]) -> list[dict[str, Row]]:
    """Return the rows as results; one that has a metric already is at its end: a run's tables share no metric."""
    results: list[dict[str, Row]] = []
    for row in rows:
        label, *cells = row.values()
        unit = _UNIT.search(label)
        name = label[: unit.start()].strip() if unit else label.strip()
        if not results or name in results[-1]:
            results.append({})
        values = dict(zip(list(row)[1:], map(number, cells), strict=True))
        results[-1][name] = (name, unit[1].strip() if unit else "", values)
    return results


def _printed(mark: str, *, plain_csv: bool) -> TextReader:
    def read(output: Output) -> Parsed | None:
        is_csv = output.text.lstrip().startswith(("Metric,avg,", "Metric,Value"))
        if mark not in output.text and not (is_csv and plain_csv):
            return None
        results = _results(_csv_rows(output) if is_csv else _table_rows(output))
        valued = [values for result in results if (values := _values(iter(result.values())))]
        if not valued:
            return Parsed(invalid="the table has no rows")
        return last_of(valued, "result tables in this pass")

    return read


_aiperf_tables = _printed("NVIDIA AIPerf", plain_csv=False)


def _aiperf_text(output: Output) -> Parsed | None:
    parsed = _aiperf_tables(output)
    return parsed.because(_aiperf_why({}, parsed)) if parsed is not None else None


def _aiperf_why(report: Report, parsed: Parsed) -> str | None:
    errors = report.get("error_request_count")
    failed = numeric(errors.get("avg")) if isinstance(errors, dict) else parsed.value("error_request_count")
    if report.get("was_cancelled") is True:
        return "the benchmark was cancelled"
    if report.get("is_complete") is False:
        return "the benchmark didn't run to its end"
    if parsed.value("request_count") == 0:
        return "no request was completed"
    return counted(failed, "requests failed")


def _input_settings(report: Report) -> dict[str, Setting]:
    """Return what an export tells of the load: the plain values of its `input_config`, by their last keys."""
    settings: dict[str, Setting] = {}
    parts = [report.get("input_config")]
    while parts and len(settings) < 100:
        part = parts.pop()
        if isinstance(part, dict):
            settings |= work_of(part)
            counts = part.keys() & {"request_count", "concurrency", "request_rate", "mean", "stddev"}
            settings |= {k: setting_of(part[k]) for k in counts if isinstance(part[k], int | float)}
            parts += part.values()
    return settings


_SUMMARY = ("mean", "median", "min", "max", "stddev", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9")


def _summary(name: str, entry: Any, unit: str | None) -> dict[str, Amount]:
    """Return the statistics of one metric: `p99_9_ttft`."""
    given = entry if isinstance(entry, dict) else {}
    return {f"{s.replace('.', '_')}_{name}": (numeric(given.get(s)), unit) for s in _SUMMARY}


def _dict(report: Report, *path: str) -> dict[str, Any]:
    """Return the object at a path of keys, an empty one where there is none."""
    for key in path:
        report = inner if isinstance(inner := report.get(key), dict) else {}
    return report


def _genai_bench(report: Report) -> Values:
    metrics = report["aggregated_metrics"]
    values: dict[str, Amount] = {
        key: (numeric(value), "s" if key == "run_duration" else None)
        for key, value in metrics.items()
        if key not in ("num_concurrency", "batch_size")
    }
    for name, entry in metrics["stats"].items():
        is_time, is_rate = (
            "latency" in name or name in ("ttft", "tpot"),
            "throughput" in name or "speed" in name,
        )
        values |= _summary(name, entry, "s" if is_time else "tok/s" if is_rate else None)
    return values


def _inference_perf(report: Report) -> Values:
    values: dict[str, Amount] = {
        "completed": numeric(report["successes"].get("count")),
        "failed": numeric(report["failures"].get("count")),
    }
    for name, entry in _dict(report, "successes", "latency").items():
        values |= _summary(slug(name), entry, "s")
    values |= {slug(k): numeric(v) for k, v in _dict(report, "successes", "throughput").items()}
    for name in ("prompt_len", "output_len"):
        values |= _summary(name, report["successes"].get(name), "tokens")
    return values


def _why(report: Report, parsed: Parsed) -> str | None:
    none = 0 in (parsed.value("completed"), parsed.value("num_completed_requests"))
    failed = parsed.value("failed") or parsed.value("num_error_requests")
    return "no request was completed" if none else counted(failed, "requests failed")


PARSERS = (
    tool(
        "aiperf",
        "ai-dynamo/aiperf: docs/reference/json-export-schema.md, src/aiperf/exporters",
        is_report=lambda report: _is_export(report) and not _AIPERF_MARKS.isdisjoint(report),
        readings=_export,
        why=_aiperf_why,
        settings=_input_settings,
        text=_aiperf_text,
    ),
    tool(
        "genai-perf",
        "triton-inference-server/perf_analyzer: genai-perf/genai_perf/export_data",
        is_report=_is_export,
        readings=_export,
        settings=_input_settings,
        text=_printed("GenAI-Perf", plain_csv=True),
    ),
    tool(
        "genai-bench",
        "sgl-project/genai-bench: genai_bench/metrics/metrics.py (AggregatedMetrics)",
        is_report=lambda report: bool(_dict(report, "aggregated_metrics", "stats")),
        readings=_genai_bench,
        why=_why,
        settings=lambda report: (
            work_of(report["aggregated_metrics"])
            | work_of({"traffic_scenario": report["aggregated_metrics"].get("scenario", "")})
        ),
    ),
    tool(
        "inference-perf",
        "kubernetes-sigs/inference-perf: inference_perf/reportgen (summary_lifecycle_metrics.json)",
        is_report=lambda report: (
            isinstance(report.get("successes"), dict)
            and isinstance(report.get("failures"), dict)
            and isinstance(report["successes"].get("latency", {}), dict)
        ),
        readings=_inference_perf,
        why=_why,
        settings=lambda report: {
            slug(k): setting_of(v)
            for k, v in _dict(report, "load_summary").items()
            if isinstance(v, int | float | str)
        },
    ),
)

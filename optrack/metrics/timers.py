"""Timers of functions: pytest-benchmark, pyperf, Google Benchmark."""

from __future__ import annotations

import re
from statistics import fmean, stdev
from typing import Any

from optrack.metrics.output import Output, Parsed, nothing, number, numeric, readings_of, slug
from optrack.metrics.tool import JsonTool
from optrack.model.metrics import SECONDS, Reading, unit_of

PYTEST = "pytest-benchmark"
PYPERF = "pyperf"
GOOGLE = "google-benchmark"
Values = dict[str, float | None]


def in_seconds(text: str, unit: str) -> float:
    """Return the duration that `text` is in `unit`, in seconds."""
    return (number(text) or 0.0) * SECONDS[unit_of(unit) or "s"]


def _benchmarks(document: Any) -> list[dict[str, Any]]:
    """Return the entries of a report's list `benchmarks`, none if it has none."""
    entries = document.get("benchmarks") if isinstance(document, dict) else None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


_PYTEST_TIMES = ("mean", "median", "min", "max", "stddev")
_PYTEST_HEADER = re.compile(r"^Name \(time in (?P<unit>s|ms|us|μs|µs|ns)\)\s+(?P<columns>.*)$")
_PYTEST_FAILED = re.compile(r"^(?:FAILED|ERROR) \S+?::(\S+)", re.MULTILINE)


def _is_pytest(document: Any) -> bool:
    return any(isinstance(entry.get("stats"), dict) for entry in _benchmarks(document))


def _pytest(report: dict[str, Any]) -> tuple[Reading, ...]:
    values: Values = {}
    for benchmark in _benchmarks(report):
        stats = benchmark.get("stats")
        if isinstance(stats, dict):
            name = slug(str(benchmark.get("name", "")))
            values |= {f"{name}_{key}_s": numeric(stats.get(key)) for key in _PYTEST_TIMES}
            values[f"{name}_rounds"] = numeric(stats.get("rounds"))
    return readings_of(values)


def _pytest_text(output: Output) -> Parsed | None:
    values: Values = {}
    unit, columns, there = "", [], False
    for line in output.lines:
        header = _PYTEST_HEADER.match(line)
        if header:
            unit, columns, there = header["unit"], re.split(r"\s{2,}", header["columns"].strip()), True
        elif line.startswith("Legend"):
            unit = ""
        elif unit and line.strip() and not line.startswith("-"):
            name, _, rest = line.partition(" ")
            cells = re.sub(r"\s*\(>?[\d.,]+\)", "", rest).split()
            if len(cells) == len(columns):
                row = {c.casefold(): cell for c, cell in zip(columns, cells, strict=True)}
                times = {key: row[key] for key in _PYTEST_TIMES if number(row.get(key, "")) is not None}
                values |= {f"{slug(name)}_{key}_s": in_seconds(cell, unit) for key, cell in times.items()}
                values[f"{slug(name)}_rounds"] = number(row.get("rounds", ""))
    if not there:
        return None
    failed = _PYTEST_FAILED.findall(output.text)
    why = f"{len(failed)} tests failed: {', '.join(failed)}" if failed else None
    readings = readings_of(values)
    return Parsed(tool=PYTEST, readings=readings, invalid=why if readings else why or "no benchmark was run")


_PYPERF_LINE = re.compile(
    r"^(?:(?P<name>.+): )?Mean \+- std dev: (?P<mean>[\d.,]+) (?P<unit>sec|ms|us|ns)"
    r" \+- (?P<dev>[\d.,]+) (?P<devunit>sec|ms|us|ns)",
    re.MULTILINE,
)


def _is_pyperf(document: Any) -> bool:
    return any(isinstance(entry.get("runs"), list) for entry in _benchmarks(document))


def _pyperf(report: dict[str, Any]) -> tuple[Reading, ...]:
    found: Values = {}
    benchmarks = _benchmarks(report)
    for benchmark in benchmarks:
        runs = benchmark.get("runs")
        rows = [run for run in runs if isinstance(run, dict)] if isinstance(runs, list) else []
        values = [v for run in rows for x in run.get("values") or [] if (v := numeric(x)) is not None]
        metadata = benchmark.get("metadata") or report.get("metadata") or {}
        name = slug(str(metadata.get("name", ""))) if isinstance(metadata, dict) else ""
        if values:
            prefix = f"{name}_" if len(benchmarks) > 1 and name else ""
            found[f"{prefix}mean_s"] = fmean(values)
            found[f"{prefix}stddev_s"] = stdev(values) if len(values) > 1 else None
    return readings_of(found)


def _pyperf_text(output: Output) -> Parsed | None:
    lines = list(_PYPERF_LINE.finditer(output.text))
    if not lines:
        return None
    values: Values = {}
    for match in lines:
        prefix = f"{slug(match['name'])}_" if match["name"] and len(lines) > 1 else ""
        values[f"{prefix}mean_s"] = in_seconds(match["mean"], match["unit"])
        values[f"{prefix}stddev_s"] = in_seconds(match["dev"], match["devunit"])
    unstable = "the benchmark result may be unstable" in output.text
    notes = ("pyperf warns: the result may be unstable",) if unstable else ()
    return Parsed(tool=PYPERF, readings=readings_of(values), notes=notes)


_GOOGLE_HEADER = re.compile(r"^Benchmark\s+Time\s+CPU\s+Iterations", re.MULTILINE)
_GOOGLE_ROW = re.compile(
    r"^(?P<name>\S+)\s+(?P<real>[\d.eE+]+) (?P<unit>ns|us|ms|s)\s+(?P<cpu>[\d.eE+]+) (?:ns|us|ms|s)\s+\d+"
)
_GOOGLE_ABOUT = frozenset(
    "name family_index per_family_instance_index run_name run_type label time_unit repetitions repetition_index "
    "threads iterations aggregate_name aggregate_unit".split()
)
"""What a row says about itself, beside what it measured."""
_GOOGLE_ERROR = re.compile(r"^(\S+)\s+ERROR OCCURRED: '(.*)'", re.MULTILINE)


def _is_google(document: Any) -> bool:
    return any({"name", "real_time"} <= entry.keys() for entry in _benchmarks(document))


def _google(report: dict[str, Any]) -> tuple[Reading, ...]:
    """Return the means over the repetitions of each benchmark; of aggregates only what stands in their place."""
    rows = [row for row in _benchmarks(report) if "name" in row and not _trouble(row)]
    single = [row for row in rows if row.get("run_type") != "aggregate"]
    single = single or [row for row in rows if row.get("aggregate_unit", "time") == "time"]
    values: dict[str, list[float]] = {}
    for row in single:
        name, unit = slug(str(row["name"])), str(row.get("time_unit", "ns"))
        for key in row.keys() - _GOOGLE_ABOUT:
            value = numeric(row[key])
            ending = f"{key}_{unit}" if key in ("real_time", "cpu_time") else slug(key)
            if value is not None:
                values.setdefault(f"{name}_{ending}", []).append(value)
    return readings_of({name: fmean(found) for name, found in sorted(values.items())})


def _trouble(row: dict[str, Any]) -> str | None:
    if not (row.get("error_occurred") or row.get("skipped")):
        return None
    return str(row.get("error_message") or row.get("skip_message") or "error")


def _google_why(report: dict[str, Any], parsed: Parsed) -> str | None:
    rows = [row for row in _benchmarks(report) if "name" in row]
    return next((f"{row['name']}: {_trouble(row)}" for row in rows if _trouble(row)), None)


def _google_text(output: Output) -> Parsed | None:
    if _GOOGLE_HEADER.search(output.text) is None:
        return None
    values: Values = {}
    for match in filter(None, map(_GOOGLE_ROW.match, output.lines)):
        name = slug(match["name"])
        values[f"{name}_real_time_{match['unit']}"] = number(match["real"])
        values[f"{name}_cpu_time_{match['unit']}"] = number(match["cpu"])
    error = _GOOGLE_ERROR.search(output.text)
    why = f"{error[1]}: {error[2]}" if error else None
    return (
        Parsed(tool=GOOGLE, readings=readings_of(values), invalid=why)
        if values
        else nothing(GOOGLE, why or "no benchmark")
    )


PARSERS = (
    JsonTool(
        name=PYTEST,
        source="ionelmc/pytest-benchmark: src/pytest_benchmark/session.py, table.py",
        is_report=_is_pytest,
        readings=_pytest,
        text=_pytest_text,
    ).parser(),
    JsonTool(
        name=PYPERF,
        source="psf/pyperf: pyperf/_cli.py (format_benchmark), pyperf/_bench.py (JSON)",
        is_report=_is_pyperf,
        readings=_pyperf,
        text=_pyperf_text,
    ).parser(),
    JsonTool(
        name=GOOGLE,
        source="google/benchmark: src/json_reporter.cc, src/console_reporter.cc",
        is_report=_is_google,
        readings=_google,
        why=_google_why,
        text=_google_text,
        aliases=("gbench",),
    ).parser(),
)

"""Timers of functions and commands: pytest-benchmark, pyperf, Google Benchmark, hyperfine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from statistics import fmean, stdev
from typing import Any

from optrack.metrics.output import Amount, Output, Parsed, Values, last_of, number, numeric, slug
from optrack.metrics.tables import framed_tables, measure_of, table_rows
from optrack.metrics.tool import Printed, Report, scaled, tool

_STATISTICS = ("mean", "median", "min", "max", "stddev")


def _benchmarks(report: Report) -> list[Report]:
    """Return the entries of a report's list `benchmarks`, none if it has none."""
    entries = report.get("benchmarks")
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


_PYTEST_HEADER = re.compile(r"^Name \(time in (?P<unit>s|ms|us|μs|µs|ns)\)\s+(?P<columns>.*)$")
_PYTEST_FAILED = re.compile(r"^(?:FAILED|ERROR) \S+?::(\S+)", re.MULTILINE)


def _pytest(report: Report) -> Values:
    values: dict[str, Amount] = {}
    for benchmark in _benchmarks(report):
        stats = benchmark.get("stats")
        if isinstance(stats, dict):
            name = slug(str(benchmark.get("name", "")))
            values |= {f"{name}_{key}_s": numeric(stats.get(key)) for key in _STATISTICS}
            values[f"{name}_rounds"] = numeric(stats.get("rounds"))
    return values


def _pytest_text(output: Output) -> Parsed | None:
    values: dict[str, Amount] = {}
    unit, columns = "", None
    for line in output.lines:
        header = _PYTEST_HEADER.match(line)
        if header is not None:
            unit, columns = header["unit"], re.split(r"\s{2,}", header["columns"].strip().casefold())
        elif line.startswith("Legend"):
            unit = ""
        elif unit and columns and line.strip() and not line.startswith("-"):
            name, _, rest = line.partition(" ")
            cells = re.sub(r"\s*\(>?[\d.,]+\)", "", rest).split()
            if len(cells) == len(columns):
                row = dict(zip(columns, cells, strict=True))
                times = {key: scaled(row[key], unit, "s") for key in _STATISTICS if key in row}
                values |= {f"{slug(name)}_{key}_s": time for key, time in times.items()}
                values[f"{slug(name)}_rounds"] = number(row.get("rounds", ""))
    if columns is None:
        return None
    failed = _PYTEST_FAILED.findall(output.text)
    parsed = last_of([values], "").because(
        f"{len(failed)} tests failed: {', '.join(failed)}" if failed else None
    )
    return parsed.because(None if parsed.readings else "no benchmark was run")


_PYPERF_LINE = re.compile(
    r"^(?:(?P<name>.+): )?Mean \+- std dev: (?P<mean>[\d.,]+) (?P<unit>sec|ms|us|ns)"
    r" \+- (?P<dev>[\d.,]+) (?P<devunit>sec|ms|us|ns)",
    re.MULTILINE,
)


def _pyperf(report: Report) -> Values:
    values: dict[str, Amount] = {}
    benchmarks = _benchmarks(report)
    for benchmark in benchmarks:
        runs = benchmark.get("runs")
        rows = [run for run in runs if isinstance(run, dict)] if isinstance(runs, list) else []
        times = [v for run in rows for x in run.get("values") or [] if (v := numeric(x)) is not None]
        metadata = benchmark.get("metadata") or report.get("metadata") or {}
        name = slug(str(metadata.get("name", ""))) if isinstance(metadata, dict) else ""
        if times:
            prefix = f"{name}_" if len(benchmarks) > 1 and name else ""
            values[f"{prefix}mean_s"] = fmean(times)
            values[f"{prefix}stddev_s"] = stdev(times) if len(times) > 1 else None
    return values


def _pyperf_text(output: Output) -> Parsed | None:
    lines = list(_PYPERF_LINE.finditer(output.text))
    values: dict[str, Amount] = {}
    for match in lines:
        prefix = f"{slug(match['name'])}_" if match["name"] and len(lines) > 1 else ""
        values[f"{prefix}mean_s"] = scaled(match["mean"], match["unit"], "s")
        values[f"{prefix}stddev_s"] = scaled(match["dev"], match["devunit"], "s")
    unstable = "the benchmark result may be unstable" in output.text
    notes = ("pyperf warns: the result may be unstable",) if unstable else ()
    return last_of([values], "").but(notes=notes) if values else None


_GOOGLE_ROW = re.compile(
    r"^(?P<name>\S+)\s+(?P<real>[\d.eE+]+) (?P<unit>ns|us|ms|s)\s+(?P<cpu>[\d.eE+]+) (?:ns|us|ms|s)\s+\d+"
)
_GOOGLE_ABOUT = frozenset(
    "name family_index per_family_instance_index run_name run_type label time_unit repetitions repetition_index "
    "threads iterations aggregate_name aggregate_unit".split()
)
"""What a row says about itself, beside what it measured."""
_GOOGLE_ERROR = re.compile(r"^(\S+)\s+ERROR OCCURRED: '(.*)'", re.MULTILINE)


def _google(report: Report) -> Values:
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
    return {name: fmean(measured) for name, measured in sorted(values.items())}


def _trouble(row: Report) -> str | None:
    if not (row.get("error_occurred") or row.get("skipped")):
        return None
    return str(row.get("error_message") or row.get("skip_message") or "error")


def _google_why(report: Report, parsed: Parsed) -> str | None:
    rows = [row for row in _benchmarks(report) if "name" in row]
    return next((f"{row['name']}: {_trouble(row)}" for row in rows if _trouble(row)), None)


def _google_text(output: Output) -> Parsed | None:
    if re.search(r"^Benchmark\s+Time\s+CPU\s+Iterations", output.text, re.MULTILINE) is None:
        return None
    values: dict[str, Amount] = {}
    for match in filter(None, map(_GOOGLE_ROW.match, output.lines)):
        name = slug(match["name"])
        values[f"{name}_real_time_{match['unit']}"] = number(match["real"])
        values[f"{name}_cpu_time_{match['unit']}"] = number(match["cpu"])
    error = _GOOGLE_ERROR.search(output.text)
    parsed = last_of([values], "").because(f"{error[1]}: {error[2]}" if error else None)
    return parsed.because(None if values else "no benchmark")


_CRITERION_NAME = (
    r"^(?P<key>\S(?:[^\n]{0,200}?\S)?)[ \t]{0,80}\n?[ \t]{1,80}(?:time:[^\n]{0,200}\n[ \t]{1,80})?"
)
_INTERVAL = r"\s+\[[\d.]+ \S+\s+(?P<value>[\d.]+) (?P<unit>\S+)\s"
_CRITERION = Printed(
    r"\A",
    (
        (rf"{_CRITERION_NAME}time:{_INTERVAL}", "{key}_time_s", "s"),
        (rf"{_CRITERION_NAME}thrpt:{_INTERVAL}", "{key}_thrpt_mib_s", "MiB/s"),
    ),
)
_HYPERFINE_BENCHMARK = r"^[ \t]*Benchmark (?:#?\d+): (.+)$"
_HYPERFINE_TIME = Printed(
    r"Time \((?:mean ± σ|abs ≡|mean . .|abs .)\):",
    (
        (r"^Time [^:]+:\s*(?P<value>[\d.]+) (?P<unit>µs|us|ms|s)\b", "mean", "s"),
        (r"^Time [^:]+:\s*[\d.]+ \S+\s*\S\s*(?P<value>[\d.]+) (?P<unit>µs|us|ms|s)\b", "stddev", "s"),
    ),
)
_HYPERFINE_COLUMN = re.compile(r"(?P<stat>Mean|Min|Max) \[(?P<unit>µs|us|ms|s)\]")


def _is_hyperfine(report: Report) -> bool:
    results = report.get("results")
    return (
        isinstance(results, list)
        and bool(results)
        and all(isinstance(r, dict) and {"command", "mean"} <= r.keys() for r in results)
    )


def _labels(results: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a label of each command (and its parameters), no two the same."""
    labels: list[str] = []
    for result in results:
        label = slug(str(result["command"]))[:60].strip("_") or "command"
        parameters = result.get("parameters")
        if label in labels and isinstance(parameters, dict):
            label = "_".join([label, *(f"{slug(str(k))}_{slug(str(v))}" for k, v in parameters.items())])
        count, unique = 2, label
        while unique in labels:
            unique, count = f"{label}_{count}", count + 1
        labels.append(unique)
    return labels


def _commands(results: list[Report]) -> Values:
    """Return each command's statistics in seconds, of several commands each under its own label."""
    labels = [f"{label}_" for label in _labels(results)] if len(results) > 1 else [""]
    statistics = (*_STATISTICS, "user", "system")
    pairs = zip(labels, results, strict=True)
    return {f"{label}{s}_s": numeric(r.get(s)) for label, r in pairs for s in statistics}


def _command_notes(results: list[Report]) -> tuple[str, ...]:
    pairs = zip(_labels(results), results, strict=True)
    return tuple(f"{label}: {result['command']}" for label, result in pairs) if len(results) > 1 else ()


def _why_command(result: Mapping[str, Any]) -> str | None:
    codes = [code for code in result.get("exit_codes") or [] if code != 0]
    if codes:
        return f"'{result['command']}' exited with {codes[0]}"
    if str(result["command"]).rstrip().endswith("[ERROR]"):
        return f"the command failed: {str(result['command'])[-200:]}"
    if numeric(result.get("median")) == 0 or numeric(result["mean"]) == 0:
        return f"'{result['command']}' took no measurable time: it ended below what hyperfine can resolve"
    return None


def _why_commands(results: list[Report]) -> str | None:
    return next((why for why in map(_why_command, results) if why), None)


def _exported_rows(output: Output) -> list[Report]:
    """Return the rows of `--export-csv` or `--export-markdown` as results, their times in seconds."""
    if output.text.startswith("command,mean,"):
        return [dict(row) for row in table_rows(output) if numeric(row["mean"]) is not None]
    rows: list[Report] = []
    for table in framed_tables(output) if "Command" in output.text else ():
        columns = {name: match for name in table.header if (match := _HYPERFINE_COLUMN.fullmatch(name))}
        if table.header[0] == "Command" and columns:
            rows = []
            for record in table.records():
                row: Report = {"command": record["Command"]}
                for name, column in columns.items():
                    mean, _, deviation = measure_of(record[name]) or (None, "", None)
                    times = {column["stat"].casefold(): mean, "stddev": deviation}
                    row |= {k: scaled(str(v), column["unit"], "s") for k, v in times.items() if v is not None}
                rows.append(row)
    return [row for row in rows if "mean" in row]


def _hyperfine_text(output: Output) -> Parsed | None:
    rows = _exported_rows(output)
    if rows:
        return last_of([_commands(rows)], "").but(notes=_command_notes(rows)).because(_why_commands(rows))
    times = _HYPERFINE_TIME(output)
    if times is None:
        return None
    names = re.findall(_HYPERFINE_BENCHMARK, output.text, re.MULTILINE)
    results = [{r.metric.name: r.value for r in readings} for readings in (*times.earlier, times.readings)]
    names += [f"command {index + 1}" for index in range(len(names), len(results))]
    rows = [{"command": name, **result} for name, result in zip(names, results, strict=False)]
    failed = re.search(
        r"Command terminated with non-zero exit code.*|Ignoring non-zero exit code.*", output.text
    )
    return last_of([_commands(rows)], "").because(failed[0] if failed else None)


PARSERS = (
    tool(
        "hyperfine",
        "sharkdp/hyperfine: src/export (json.rs, csv.rs, markdown.rs), src/benchmark/mod.rs",
        is_report=_is_hyperfine,
        readings=lambda report: _commands(report["results"]),
        why=lambda report, parsed: _why_commands(report["results"]),
        notes=lambda report: _command_notes(report["results"]),
        text=_hyperfine_text,
    ),
    tool(
        "criterion",
        "bheisler/criterion.rs: src/report.rs (CliReport)",
        text=lambda output: _CRITERION(output) if "time:   [" in output.text else None,
    ),
    tool(
        "pytest-benchmark",
        "ionelmc/pytest-benchmark: src/pytest_benchmark/session.py, table.py",
        is_report=lambda report: any(isinstance(entry.get("stats"), dict) for entry in _benchmarks(report)),
        readings=_pytest,
        text=_pytest_text,
    ),
    tool(
        "pyperf",
        "psf/pyperf: pyperf/_cli.py (format_benchmark), pyperf/_bench.py (JSON)",
        is_report=lambda report: any(isinstance(entry.get("runs"), list) for entry in _benchmarks(report)),
        readings=_pyperf,
        text=_pyperf_text,
    ),
    tool(
        "google-benchmark",
        "google/benchmark: src/json_reporter.cc, src/console_reporter.cc",
        is_report=lambda report: any({"name", "real_time"} <= entry.keys() for entry in _benchmarks(report)),
        readings=_google,
        why=_google_why,
        text=_google_text,
        aliases=("gbench",),
    ),
)

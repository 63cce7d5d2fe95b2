"""hyperfine: the JSON, CSV and markdown that it exports, and what it prints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from optrack.metrics.output import Output, Parsed, numeric, readings_of, slug
from optrack.metrics.tables import framed_tables, measure_of, table_rows
from optrack.metrics.timers import in_seconds
from optrack.metrics.tool import JsonTool
from optrack.model.metrics import SECONDS, Reading, unit_of

NAME = "hyperfine"
_STATISTICS = ("mean", "median", "stddev", "min", "max", "user", "system")
_PRINTED = re.compile(
    r"Time \((?:mean ± σ|abs ≡|mean . .|abs .)\):\s*(?P<mean>[\d.]+) (?P<unit>µs|us|ms|s)\b"
    r"(?:\s*\S\s*(?P<dev>[\d.]+) (?P<devunit>µs|us|ms|s)\b)?"
)
_BENCHMARK = re.compile(r"^[ \t]*Benchmark (?:#?\d+): (.+)$", re.MULTILINE)
_COLUMN = re.compile(r"(?P<stat>Mean|Min|Max) \[(?P<unit>µs|us|ms|s)\]")


def _is_hyperfine(document: Any) -> bool:
    results = document.get("results") if isinstance(document, dict) else None
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
        count = 2
        unique = label
        while unique in labels:
            unique, count = f"{label}_{count}", count + 1
        labels.append(unique)
    return labels


def _commands(results: list[dict[str, Any]]) -> tuple[Reading, ...]:
    """Return each command's statistics in seconds, of several commands each under its own label."""
    labels = [f"{label}_" for label in _labels(results)] if len(results) > 1 else [""]
    return readings_of(
        {
            f"{label}{s}_s": numeric(r.get(s))
            for label, r in zip(labels, results, strict=True)
            for s in _STATISTICS
        }
    )


def _command_notes(results: list[dict[str, Any]]) -> tuple[str, ...]:
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


def _why_commands(report: Mapping[str, Any], parsed: Parsed) -> str | None:
    return next((why for why in map(_why_command, report["results"]) if why), None)


def _markdown_rows(output: Output) -> list[dict[str, Any]]:
    """Return the rows of `--export-markdown` as results, their times in seconds."""
    rows: list[dict[str, Any]] = []
    for table in framed_tables(output):
        columns = {name: match for name in table.header if (match := _COLUMN.fullmatch(name)) is not None}
        if table.header[0] != "Command" or not columns:
            continue
        rows = []
        for record in table.records():
            row: dict[str, Any] = {"command": record["Command"]}
            for name, match in columns.items():
                measure = measure_of(record[name])
                scale = SECONDS[unit_of(match["unit"]) or "s"]
                if measure is not None:
                    row[match["stat"].casefold()] = measure[0] * scale
                    row |= {"stddev": measure[2] * scale} if measure[2] is not None else {}
            rows.append(row)
    return [row for row in rows if "mean" in row]


def _hyperfine_text(output: Output) -> Parsed | None:
    rows: list[dict[str, Any]] = []
    if output.text.startswith("command,mean,"):
        rows = [dict(row) for row in table_rows(output) if numeric(row["mean"]) is not None]
    rows = rows or (_markdown_rows(output) if "Command" in output.text else [])
    if rows:
        why = _why_commands({"results": rows}, Parsed(tool=NAME))
        return Parsed(tool=NAME, readings=_commands(rows), invalid=why, notes=_command_notes(rows))
    times = list(_PRINTED.finditer(output.text))
    if not times:
        return None
    names = _BENCHMARK.findall(output.text)
    names += [f"command {index + 1}" for index in range(len(names), len(times))]
    results = [
        {
            "command": name,
            "mean": in_seconds(m["mean"], m["unit"]),
            "stddev": in_seconds(m["dev"], m["devunit"]) if m["dev"] else None,
        }
        for name, m in zip(names, times, strict=False)
    ]
    failed = re.search(
        r"Command terminated with non-zero exit code.*|Ignoring non-zero exit code.*", output.text
    )
    return Parsed(tool=NAME, readings=_commands(results), invalid=failed[0] if failed else None)


PARSERS = (
    JsonTool(
        name=NAME,
        source="sharkdp/hyperfine: src/export (json.rs, csv.rs, markdown.rs), src/benchmark/mod.rs",
        is_report=_is_hyperfine,
        readings=lambda report: _commands(report["results"]),
        why=_why_commands,
        notes=lambda report: _command_notes(report["results"]),
        text=_hyperfine_text,
    ).parser(),
)

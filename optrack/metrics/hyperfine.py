"""hyperfine: the JSON it exports, and what it prints."""

from __future__ import annotations

import re
from typing import Any

from optrack.metrics.output import Output, Parsed, Parser, nothing, number, numeric, readings_of, slug
from optrack.metrics.rules import table_rows

NAME = "hyperfine"
_STATISTICS = ("mean", "median", "stddev", "min", "max", "user", "system")
_PRINTED = re.compile(
    r"Time \((?:mean ± σ|abs ≡|mean . .|abs .)\):\s*(?P<mean>[\d.]+) (?P<unit>µs|us|ms|s)\b"
    r"(?:\s*\S\s*(?P<dev>[\d.]+) (?P<devunit>µs|us|ms|s)\b)?"
)
_BENCHMARK = re.compile(r"^\s*Benchmark (?:#?\d+): (.+)$", re.MULTILINE)
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6}


def _report(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and isinstance(document.get("results"), list)
        and all(isinstance(r, dict) and {"command", "mean"} <= r.keys() for r in document["results"])
        and bool(document["results"])
    )


def _label(command: str, taken: set[str]) -> str:
    label = slug(command)[:60].strip("_") or "command"
    unique, count = label, 2
    while unique in taken:
        unique, count = f"{label}_{count}", count + 1
    taken.add(unique)
    return unique


def _why_invalid(result: dict[str, Any]) -> str | None:
    codes = [code for code in result.get("exit_codes") or [] if code != 0]
    if codes:
        return f"'{result['command']}' exited with {codes[0]}"
    if str(result["command"]).rstrip().endswith("[ERROR]"):
        return f"the command failed: {str(result['command'])[-200:]}"
    if numeric(result.get("median")) == 0 or numeric(result["mean"]) == 0:
        return f"'{result['command']}' took no measurable time: it ended below what hyperfine can resolve"
    return None


def _from_report(results: list[dict[str, Any]]) -> Parsed:
    values: dict[str, float | None] = {}
    notes: list[str] = []
    taken: set[str] = set()
    for result in results:
        prefix = ""
        if len(results) > 1:
            label = _label(str(result["command"]), taken)
            prefix = f"{label}_"
            notes.append(f"{label}: {result['command']}")
        values |= {f"{prefix}{s}_s": numeric(result.get(s)) for s in _STATISTICS}
    why = next((why for why in map(_why_invalid, results) if why), None)
    return Parsed(tool=NAME, readings=readings_of(values), invalid=why, notes=tuple(notes))


def _from_text(text: str) -> Parsed:
    times = list(_PRINTED.finditer(text))
    names = _BENCHMARK.findall(text)
    values: dict[str, float | None] = {}
    taken: set[str] = set()
    for index, match in enumerate(times):
        command = names[index] if index < len(names) else f"command {index + 1}"
        prefix = f"{_label(command, taken)}_" if len(times) > 1 else ""
        values[f"{prefix}mean_s"] = (number(match["mean"]) or 0.0) * _SECONDS[match["unit"]]
        if match["dev"]:
            values[f"{prefix}stddev_s"] = (number(match["dev"]) or 0.0) * _SECONDS[match["devunit"]]
    failed = re.search(r"Command terminated with non-zero exit code.*|Ignoring non-zero exit code.*", text)
    return Parsed(tool=NAME, readings=readings_of(values), invalid=failed[0] if failed else None)


def _table(output: Output) -> list[dict[str, Any]]:
    """Return the rows of hyperfine's CSV export, or none."""
    if not output.text.startswith("command,mean,"):
        return []
    return [row for row in table_rows(output) if numeric(row["mean"]) is not None]


def recognises(output: Output) -> bool:
    """Whether the output is a report of hyperfine, or what it prints."""
    return any(map(_report, output.objects)) or bool(_table(output) or _PRINTED.search(output.text))


def parse(output: Output) -> Parsed:
    """Return mean, median, deviation and range in seconds; of several commands each under its own label."""
    reports = [document for document in output.objects if _report(document)]
    if reports:
        return _from_report(reports[-1]["results"])
    rows = _table(output)
    if rows:
        return _from_report(rows)
    if _PRINTED.search(output.text):
        return _from_text(output.text)
    return nothing(NAME, "the report is cut off" if output.torn else "no results")


PARSER = Parser(
    name=NAME,
    source="sharkdp/hyperfine: src/export/json.rs, src/benchmark/mod.rs",
    recognises=recognises,
    parse=parse,
    whole_file=True,
)

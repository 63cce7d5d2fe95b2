"""pytest-benchmark: the JSON it saves, and the table it prints."""

from __future__ import annotations

import re
from typing import Any

from optrack.metrics.output import Output, Parsed, Parser, nothing, number, numeric, readings_of, slug

NAME = "pytest-benchmark"
_TIMES = ("mean", "median", "min", "max", "stddev")
_HEADER = re.compile(r"^Name \(time in (?P<unit>s|ms|us|μs|µs|ns)\)\s+(?P<columns>.*)$")
_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "μs": 1e-6, "µs": 1e-6, "ns": 1e-9}
_FAILED = re.compile(r"^(?:FAILED|ERROR) \S+?::(\S+)", re.MULTILINE)


def _report(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and isinstance(document.get("benchmarks"), list)
        and any(isinstance(b, dict) and isinstance(b.get("stats"), dict) for b in document["benchmarks"])
    )


def _from_report(report: dict[str, Any]) -> dict[str, float | None]:
    values: dict[str, float | None] = {}
    for benchmark in report["benchmarks"]:
        stats = benchmark.get("stats") if isinstance(benchmark, dict) else None
        if isinstance(stats, dict):
            name = slug(str(benchmark.get("name", "")))
            values |= {f"{name}_{key}_s": numeric(stats.get(key)) for key in _TIMES}
            values[f"{name}_rounds"] = numeric(stats.get("rounds"))
    return values


def _from_table(lines: tuple[str, ...]) -> dict[str, float | None]:
    values: dict[str, float | None] = {}
    scale, columns = None, []
    for line in lines:
        header = _HEADER.match(line)
        if header:
            scale, columns = _SECONDS[header["unit"]], re.split(r"\s{2,}", header["columns"].strip())
        elif scale is not None and line.strip() and not line.startswith(("-", "Legend")):
            name, _, rest = line.partition(" ")
            cells = re.sub(r"\s*\(>?[\d.,]+\)", "", rest).split()
            if len(cells) != len(columns):
                continue
            row = {column.casefold(): number(cell) for column, cell in zip(columns, cells, strict=True)}
            for key in _TIMES:
                amount = row.get(key)
                values[f"{slug(name)}_{key}_s"] = amount * scale if amount is not None else None
            values[f"{slug(name)}_rounds"] = row.get("rounds")
        elif line.startswith("Legend"):
            scale = None
    return values


def recognises(output: Output) -> bool:
    """Whether the output is a report or has a table of pytest-benchmark."""
    return any(map(_report, output.objects)) or any(_HEADER.match(line) for line in output.lines)


def parse(output: Output) -> Parsed:
    """Return each test's times in seconds, `test_sort_mean_s`; invalid if the console shows failed tests."""
    reports = [document for document in output.objects if _report(document)]
    values = _from_report(reports[-1]) if reports else _from_table(output.lines)
    if not any(value is not None for value in values.values()):
        return nothing(NAME, "the report is cut off" if output.torn else "no benchmark was run")
    failed = _FAILED.findall(output.text)
    why = f"{len(failed)} tests failed: {', '.join(failed)}" if failed else None
    return Parsed(tool=NAME, readings=readings_of(values), invalid=why)


PARSER = Parser(
    name=NAME,
    source="ionelmc/pytest-benchmark: src/pytest_benchmark/session.py, table.py",
    recognises=recognises,
    parse=parse,
    whole_file=True,
)

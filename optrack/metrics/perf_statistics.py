"""Statistics by metric as NVIDIA's GenAI-Perf and AIPerf write them: JSON, CSV and framed tables."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from optrack.metrics.output import Output, number, numeric, readings_of, slug
from optrack.model.metrics import Reading

STATISTICS = ("avg", "min", "max", "std", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99")
_UNIT = re.compile(r"\(([^()]*)\)\s*$")
_SHORT_UNITS = {
    "ms": "ms",
    "s": "s",
    "sec": "s",
    "seconds": "s",
    "us": "us",
    "ns": "ns",
    "tokens": "tokens",
    "per sec": "/s",
    "tokens/sec": "tok/s",
    "tokens/sec/user": "tok/s",
    "requests/sec": "req/s",
    "requests": "requests",
    "count": "",
}
_TIMES = ("ms", "s", "us", "ns")


def document_readings(document: dict[str, Any]) -> tuple[Reading, ...]:
    """Return the readings of an export whose entries are `{"unit": …, "avg": …, "p99": …}`."""
    values: dict[str, float | None] = {}
    units: dict[str, str] = {}
    for key, entry in document.items():
        if isinstance(entry, dict) and "avg" in entry:
            found = {s: numeric(entry.get(s)) for s in STATISTICS}
            _add(values, units, key, str(entry.get("unit", "")), found)
    return readings_of(values, units)


def is_export(document: Any) -> bool:
    """Whether a JSON document is such an export."""
    return isinstance(document, dict) and any(
        isinstance(entry, dict) and "avg" in entry and "unit" in entry for entry in document.values()
    )


def table_readings(output: Output) -> tuple[Reading, ...]:
    """Return the readings of the framed tables; a label that continues on the next row is joined."""
    header: list[str] | None = None
    rows: list[list[str]] = []
    for line in output.lines:
        cells = [cell.strip() for cell in re.split("[│┃|║]", line)[1:-1]]
        if len(cells) < 2:
            continue
        if cells[0] in ("Statistic", "Metric") and "avg" in cells:
            header = cells
        elif header is not None and len(cells) == len(header) and not set("".join(cells)) <= set("-+="):
            if rows and not any(cells[1:]):
                rows[-1][0] = f"{rows[-1][0]} {cells[0]}".strip()
            elif rows and not cells[0]:
                rows[-1] = [f"{a}{b}" for a, b in zip(rows[-1], cells, strict=True)]
            else:
                rows.append(cells)
    return _from_table(header or [], rows)


def _from_table(header: list[str], rows: list[list[str]]) -> tuple[Reading, ...]:
    values: dict[str, float | None] = {}
    units: dict[str, str] = {}
    for row in rows:
        label, unit = _split(row[0])
        found = {name: number(cell) for name, cell in zip(header[1:], row[1:], strict=True)}
        _add(values, units, label, unit, {s: found.get(s) for s in STATISTICS})
    return readings_of(values, units)


def csv_readings(output: Output) -> tuple[Reading, ...]:
    """Return the readings of the CSV export: a table of statistics, then one of single values."""
    values: dict[str, float | None] = {}
    units: dict[str, str] = {}
    header: list[str] = []
    for row in csv.reader(io.StringIO(output.text)):
        if not row or not row[0].strip():
            continue
        if row[0] == "Metric":
            header = ["avg" if name.strip() == "Value" else name.strip() for name in row]
        elif header and len(row) == len(header):
            label, unit = _split(row[0])
            found = {name: number(cell) for name, cell in zip(header[1:], row[1:], strict=True)}
            _add(values, units, label, unit, {s: found.get(s) for s in STATISTICS})
    return readings_of(values, units)


def _split(label: str) -> tuple[str, str]:
    unit = _UNIT.search(label)
    return (label[: unit.start()], unit[1].strip()) if unit else (label, "")


def _add(
    values: dict[str, float | None],
    units: dict[str, str],
    label: str,
    unit: str,
    statistics: dict[str, float | None],
) -> None:
    """Add a metric's statistics, `avg_time_to_first_token_ms`; an average alone goes by the plain name."""
    short = _SHORT_UNITS.get(unit.casefold(), unit)
    base = slug(label) + (f"_{short}" if short in _TIMES else "")
    known = {name: value for name, value in statistics.items() if value is not None}
    if "throughput" in base and "avg" in known:
        known = {"avg": known["avg"]}
    for statistic, value in known.items():
        name = base if known.keys() == {"avg"} else f"{statistic}_{base}"
        values[name] = value
        units[name] = short

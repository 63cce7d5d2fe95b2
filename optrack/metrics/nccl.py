"""nccl-tests (`all_reduce_perf` and its like): the table of sizes, times and bandwidths."""

from __future__ import annotations

import re

from optrack.metrics.output import Output, Parsed, Parser, last_of, nothing, number, readings_of
from optrack.metrics.tool import setting_of
from optrack.model.metrics import Reading
from optrack.model.value import Frozen

NAME = "nccl-tests"
_HEADER = re.compile(r"\bsize\s+count\s+type\b.*\balgbw\s+busbw\b")
_AVERAGE = re.compile(r"Avg bus bandwidth\W*([\d.]+)")
_BAD = re.compile(r"Out of bounds values\W*(\d+)\s+(OK|FAILED)")
_SETTINGS = re.compile(r"\b(nThread|nGpus|minBytes|maxBytes|iters|agg iters|validation):? (\d{1,15})\b")
_ERROR = re.compile(r"Test (?:NCCL|CUDA) failure.*")


class Row(Frozen):
    """One message size in bytes: time in us, bandwidths in GB/s, out of place and in place."""

    size: int
    time_us: float
    algbw: float
    busbw: float
    time_us_in_place: float | None = None
    algbw_in_place: float | None = None
    busbw_in_place: float | None = None
    wrong: float = 0


def _row(line: str) -> Row | None:
    """Return the row that a line holds: size, count, type, perhaps redop and root, then 4 or 8 numbers."""
    words = line.split()
    start = next((i for i in range(len(words) - 6) if _starts_row(words[i : i + 3])), None)
    if start is None:
        return None
    size, tail = int(words[start]), words[start + 3 :]
    while tail and (number(tail[0]) is None or re.fullmatch(r"-?\d+", tail[0])) and len(tail) not in (4, 8):
        tail = tail[1:]
    values = [number(word) for word in tail]
    if len(tail) not in (4, 8) or any(value is None for value in (*values[:3], *values[4:7])):
        return None
    found = [value if value is not None else 0.0 for value in values]
    there = dict(zip(("time_us", "algbw", "busbw"), found[:3], strict=True))
    names = ("time_us_in_place", "algbw_in_place", "busbw_in_place")
    in_place = dict(zip(names, found[4:7], strict=True)) if len(tail) == 8 else {}
    return Row(size=size, wrong=found[3] + (found[7] if len(tail) == 8 else 0), **there, **in_place)


def _starts_row(words: list[str]) -> bool:
    return words[0].isdecimal() and words[1].isdecimal() and words[2][:1].isalpha()


def rows_of(output: Output) -> list[list[Row]]:
    """Return the rows of each table in the output."""
    tables: list[list[Row]] = []
    for line in output.lines:
        if _HEADER.search(line):
            tables.append([])
        elif tables and (row := _row(line)) is not None:
            tables[-1].append(row)
    return tables


def _readings(rows: list[Row], average: float | None) -> tuple[Reading, ...]:
    largest = max(rows, key=lambda row: row.size)
    values: dict[str, float | None] = {
        "busbw": largest.busbw,
        "algbw": largest.algbw,
        "time_us": largest.time_us,
        "busbw_in_place": largest.busbw_in_place,
        "algbw_in_place": largest.algbw_in_place,
        "time_us_in_place": largest.time_us_in_place,
        "max_busbw": max(row.busbw for row in rows),
        "avg_busbw": average,
    }
    for row in rows:
        values |= {f"busbw_{row.size}": row.busbw, f"time_us_{row.size}": row.time_us}
    units = {name: "us" if name.startswith("time") else "GB/s" for name in values}
    return readings_of(values, units)


def recognises(output: Output) -> bool:
    """Whether the output has the header of a table of nccl-tests."""
    return any(_HEADER.search(line) for line in output.lines)


def parse(output: Output) -> Parsed:
    """Return the bandwidth at the largest size (`busbw`, the figure to compare), the maximum, the tool's own
    average over all sizes (`avg_busbw`, which small sizes pull down), and each size's time and bandwidth."""
    tables = [rows for rows in rows_of(output) if rows]
    settings = {name: setting_of(value) for name, value in _SETTINGS.findall(output.text)}
    error = _ERROR.search(output.text)
    if not tables:
        return nothing(NAME, f"the table has no rows: {error[0]}" if error else "the table has no rows")
    averages = [number(value) for value in _AVERAGE.findall(output.text)]
    averages += [None] * len(tables)
    results = [_readings(rows, average) for rows, average in zip(tables, averages, strict=False)]
    parsed = last_of(NAME, results, "tables in this pass")
    wrong = sum(row.wrong for row in tables[-1])
    bad = [match for match in _BAD.findall(output.text) if match[1] != "OK"]
    why = error[0] if error else None
    if wrong or bad:
        why = f"the collective gave wrong values ({max(wrong, float(bad[-1][0]) if bad else 0):.0f})"
    return parsed.model_copy(update={"invalid": why, "settings": settings})


PARSERS = (
    Parser(
        name=NAME,
        source="NVIDIA/nccl-tests: src/common.cu (printed table), doc/PERFORMANCE.md (bus bandwidth)",
        recognises=recognises,
        parse=parse,
        aliases=("nccl", "all_reduce_perf"),
    ),
)

"""The table of nccl-tests (`all_reduce_perf` and its like), and the summary of MLPerf's LoadGen."""

from __future__ import annotations

import re

from optrack.metrics.output import Amount, Output, Parsed, last_of, number, slug
from optrack.metrics.tool import setting_of, tool

_HEADER = re.compile(r"\bsize\s+count\s+type\b.*\balgbw\s+busbw\b")
_AVERAGE = re.compile(r"Avg bus bandwidth\W*([\d.]+)")
_BAD = re.compile(r"Out of bounds values\W*(\d+)\s+(OK|FAILED)")
_SETTINGS = re.compile(r"\b(nThread|nGpus|minBytes|maxBytes|iters|agg iters|validation):? (\d{1,15})\b")
_ERROR = re.compile(r"Test (?:NCCL|CUDA) failure.*")
_COLUMNS = (
    "time_us", "algbw", "busbw", "wrong", "time_us_in_place", "algbw_in_place", "busbw_in_place", "wrong_in_place",
)  # fmt: skip

Row = dict[str, float]
"""One message: its `size` in bytes; times in us and bandwidths in GB/s, out of place and in place; wrong values."""


def _row(line: str) -> Row | None:
    """Return the row that a line holds: size, count, type, perhaps redop and root, then 4 or 8 numbers."""
    words = line.split()
    start = next((i for i in range(len(words) - 6) if _starts_row(words[i : i + 3])), None)
    if start is None:
        return None
    size, tail = int(words[start]), words[start + 3 :]
    while tail and (number(tail[0]) is None or re.fullmatch(r"-?\d+", tail[0])) and len(tail) not in (4, 8):
        tail = tail[1:]
    values = {name: number(word) for name, word in zip(_COLUMNS, tail, strict=False)}
    if len(tail) not in (4, 8) or any(v is None for name, v in values.items() if "wrong" not in name):
        return None
    return {"size": size, **{name: value if value is not None else 0.0 for name, value in values.items()}}


def _starts_row(words: list[str]) -> bool:
    return words[0].isdecimal() and words[1].isdecimal() and words[2][:1].isalpha()


def nccl_rows(output: Output) -> list[list[Row]]:
    """Return the rows of each table of nccl-tests in the output."""
    tables: list[list[Row]] = []
    for line in output.lines:
        if _HEADER.search(line):
            tables.append([])
        elif tables and (row := _row(line)) is not None:
            tables[-1].append(row)
    return tables


def _nccl_values(rows: list[Row], average: float | None) -> dict[str, Amount]:
    largest = max(rows, key=lambda row: row["size"])
    names = [name for name in _COLUMNS if "wrong" not in name]
    values: dict[str, float | None] = {name: largest.get(name) for name in names}
    values |= {"max_busbw": max(row["busbw"] for row in rows), "avg_busbw": average}
    for row in rows:
        values |= {f"{name}_{row['size']:.0f}": row[name] for name in ("busbw", "time_us")}
    return {name: (value, "us" if name.startswith("time") else "GB/s") for name, value in values.items()}


def _nccl(output: Output) -> Parsed | None:
    """Return the bandwidth at the largest size (`busbw`, the figure to compare), the maximum, the tool's own
    average over all sizes (`avg_busbw`, which small sizes pull down), and each size's time and bandwidth."""
    tables = nccl_rows(output)
    full = [rows for rows in tables if rows]
    error = _ERROR.search(output.text)
    if not tables:
        return None
    if not full:
        return Parsed(invalid=f"the table has no rows: {error[0]}" if error else "the table has no rows")
    averages = [*map(number, _AVERAGE.findall(output.text)), *[None] * len(full)]
    parsed = last_of(list(map(_nccl_values, full, averages)), "tables in this pass")
    wrong = sum(row["wrong"] + row.get("wrong_in_place", 0) for row in full[-1])
    bad = [match for match in _BAD.findall(output.text) if match[1] != "OK"]
    if wrong or bad:
        worst = max(wrong, float(bad[-1][0]) if bad else 0)
        parsed = parsed.because(f"the collective gave wrong values ({worst:.0f})")
    settings = {name: setting_of(value) for name, value in _SETTINGS.findall(output.text)}
    return parsed.but(settings=settings).because(error[0] if error else None)


_SUMMARY = "MLPerf Results Summary"
_SUMMARY_ROW = re.compile(
    r"^[ \t]*+(?P<label>[^:\s][^:\n]{0,120}?)[ \t]*:[ \t]*(?P<value>[-\d.,eE+]+)[ \t]*$", re.MULTILINE
)
_RESULT = re.compile(r"^Result is\s*:\s*(VALID|INVALID)", re.MULTILINE)
_REASON = re.compile(
    r"^[ \t]*+(?:\*[ \t]*+)?([^\s*].{0,300}? satisfied[ \t]*:[ \t]*NO)[ \t]*$", re.MULTILINE | re.IGNORECASE
)
_MEDIAN = re.compile(r"Median throughput is\s+([\d.,]+) inf\./sec")
_WINDOW = re.compile(r"Throughput\s*:\s*([\d.,]+) inf\./sec")
_UNMET = re.compile(
    r"Runtime requirements have NOT been met.*|Runtime requirements .*not.* met.*", re.IGNORECASE
)


def _metric(label: str) -> str:
    """Return `p99_latency_ns` for `99.00 percentile latency (ns)`, `samples_per_second` for that label."""
    percentile = re.match(r"([\d.]+) percentile (.*)", label)
    if percentile:
        rank = percentile[1].rstrip("0").rstrip(".").replace(".", "_")
        label = f"p{rank} {percentile[2]}"
    return slug(label)


def _mlperf(output: Output) -> Parsed | None:
    """Return the summary's figures; a run that LoadGen calls INVALID is invalid here."""
    text = output.text
    if _SUMMARY not in text:
        return _mlperf_tiny(text)
    body, _, parameters = text[text.rfind(_SUMMARY) :].partition("Test Parameters Used")
    values = {_metric(m["label"]): number(m["value"]) for m in _SUMMARY_ROW.finditer(body)}
    settings = {slug(m["label"]): setting_of(m["value"]) for m in _SUMMARY_ROW.finditer(parameters)}
    parsed = last_of([values], "").but(settings=settings)
    result = _RESULT.search(body)
    if result is None:
        return parsed.because("the summary has no result line: it is cut off")
    reasons = "; ".join(" ".join(reason.split()) for reason in _REASON.findall(body))
    is_valid = result[1] == "VALID"
    return parsed.because(None if is_valid else f"LoadGen says INVALID ({reasons or 'no reason given'})")


def _mlperf_tiny(text: str) -> Parsed | None:
    medians = _MEDIAN.findall(text)
    if not medians:
        return None
    windows = [w for w in map(number, _WINDOW.findall(text)) if w is not None]
    values = {
        "median_throughput": (number(medians[-1]), "inf/s"),
        "min_throughput": (min(windows, default=None), "inf/s"),
    }
    unmet = _UNMET.search(text)
    return last_of([values], "").because(unmet[0] if unmet else None)


NCCL = tool(
    "nccl-tests",
    "NVIDIA/nccl-tests: src/common.cu (printed table), doc/PERFORMANCE.md (bus bandwidth)",
    text=_nccl,
    missing="the table has no rows",
    aliases=("nccl", "all_reduce_perf"),
)
MLPERF = tool(
    "mlperf-loadgen",
    "mlcommons/inference: loadgen/results.cc; eembc/energyrunner (ulp-mlperf log)",
    text=_mlperf,
    missing="no results summary",
    aliases=("mlperf", "loadgen"),
)

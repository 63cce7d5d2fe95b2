"""GuideLLM: statistics of successful requests, one benchmark for each rate, from its report and its console."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from optrack.metrics.output import Amount, Output, Parsed, Setting, last_of, number, numeric, slug
from optrack.metrics.tool import Report, counted, setting_of, tool, work_of
from optrack.model.metrics import unit_of

_PERCENTILES = ("p50", "p90", "p95", "p99")
_RULE = re.compile(r"\|[-=|]+\|")
_STATISTICS = {"mdn": "median_", "median": "median_", "mean": "", "std": "std_", "p95": "p95_", "p99": "p99_"}
_METRICS = {
    "request latency": ("request_latency", "s"),
    "ttft": ("time_to_first_token_ms", "ms"),
    "itl": ("inter_token_latency_ms", "ms"),
    "tpot": ("time_per_output_token_ms", "ms"),
    "requests per sec": ("requests_per_second", "req/s"),
    "requests concurrency": ("request_concurrency", "requests"),
    "input tokens per sec": ("prompt_tokens_per_second", "tok/s"),
    "output tokens per sec": ("output_tokens_per_second", "tok/s"),
    "total tokens per sec": ("tokens_per_second", "tok/s"),
}
_HEADED = re.compile(
    r"\b(?:Run Summary Info|(?:Request Latency|Server Throughput|Text Metrics) Statistics|Benchmarks Stats|GuideLLM)\b"
)


def _benchmarks(report: Report) -> list[Report]:
    entries = report.get("benchmarks")
    found = entries if isinstance(entries, list) else []
    return [b for b in found if isinstance(b, dict) and isinstance(b.get("metrics"), dict)]


def _values(benchmark: Report) -> dict[str, float | None]:
    """Return mean (under the metric's own name), median and percentiles of the successful requests."""
    values: dict[str, float | None] = {}
    for name, by_outcome in benchmark["metrics"].items():
        ours = by_outcome.get("successful") if isinstance(by_outcome, dict) else None
        if not isinstance(ours, dict) or "mean" not in ours:
            continue
        values |= {name: numeric(ours["mean"]), f"median_{name}": numeric(ours.get("median"))}
        percentiles = ours.get("percentiles")
        if isinstance(percentiles, dict) and ("ms" in name or "latency" in name):
            values |= {f"{p}_{name}": numeric(percentiles.get(p)) for p in _PERCENTILES}
    totals = _totals(benchmark)
    return values | {"completed": totals.get("successful"), "failed": totals.get("errored")}


def _totals(benchmark: Report) -> dict[str, float | None]:
    totals = benchmark["metrics"].get("request_totals")
    return {k: numeric(v) for k, v in totals.items()} if isinstance(totals, dict) else {}


def _strategy(benchmark: Report) -> dict[str, Any]:
    config = benchmark.get("config") if isinstance(benchmark.get("config"), dict) else benchmark.get("args")
    strategy = config.get("strategy") if isinstance(config, dict) else None
    return strategy if isinstance(strategy, dict) else {}


def _rate(benchmark: Report, index: int) -> str:
    strategy = _strategy(benchmark)
    rate = numeric(strategy.get("rate")) or numeric(strategy.get("streams"))
    if rate:
        return f"rate_{rate:g}".replace(".", "_")
    return slug(str(strategy.get("type_", index + 1))) if strategy else str(index + 1)


def _by_rate(results: Sequence[tuple[str, dict[str, float | None]]]) -> dict[str, Amount]:
    """Return the last result by plain names, and of several each under its own."""
    values = dict(results[-1][1])
    for suffix, result in results if len(results) > 1 else ():
        values |= {f"{name}_{suffix}": value for name, value in result.items()}
    return {name: (value, _unit(name)) for name, value in values.items()}


def _unit(name: str) -> str | None:
    known = (unit for base, unit in _METRICS.values() if re.search(rf"(?:^|_){base}(?:_|$)", name))
    return next(known, None)


def _why(report: Report, parsed: Parsed) -> str | None:
    totals = [_totals(benchmark) for benchmark in _benchmarks(report)]
    if any(total.get("successful") == 0 for total in totals):
        return "no request was completed"
    return counted(sum(total.get("errored") or 0 for total in totals), "requests failed")


def _several(count: int) -> tuple[str, ...]:
    return (f"{count} benchmarks; names without a rate are those of the last",) if count > 1 else ()


def _settings(report: Report) -> dict[str, Setting]:
    last = _strategy(_benchmarks(report)[-1])
    settings = {k: setting_of(v) for k, v in last.items() if k in ("rate", "streams") and numeric(v)}
    settings |= {k: setting_of(v) for k, v in last.items() if k == "type_"}
    args = args if isinstance(args := report.get("args"), dict) else {}
    asked = {k: args[k] for k in ("data", "rate", "profile", "max_requests", "max_seconds") if k in args}
    return (
        settings
        | {k: setting_of(v) for k, v in asked.items() if isinstance(v, str | int | float)}
        | work_of(args)
    )


def _console(output: Output) -> Parsed | None:
    """Return what the console's tables say; their headings stand in several rows, a name over several columns."""
    if _HEADED.search(output.text) is None:
        return None
    results: dict[str, dict[str, float | None]] = {}
    failed = 0.0
    for head, rows in _console_tables(output):
        names = _columns(head)
        for position, row in enumerate(rows):
            strategy = (
                f"{slug(row[0])}_{position + 1}" if sum(r[0] == row[0] for r in rows) > 1 else slug(row[0])
            )
            for label, cell in zip(names, row, strict=False):
                value = number(cell)
                if value is None:
                    continue
                if (name := _metric_of(label)) is not None:
                    results.setdefault(strategy, {})[name] = value
                elif re.search(r"\berr\b", label):
                    failed += value
    if not results:
        return None
    parsed = last_of([_by_rate(list(results.items()))], "").but(notes=_several(len(results)))
    return parsed.because("tokens of failed requests are counted: requests failed" if failed else None)


def _console_tables(output: Output) -> list[tuple[list[list[str]], list[list[str]]]]:
    """Return the heading rows and the rows of each table between rules of `|===|`."""
    tables: list[tuple[list[list[str]], list[list[str]]]] = []
    head: list[list[str]] | None = None
    rows: list[list[str]] | None = None
    for line in output.lines:
        text = line.strip()
        if _RULE.fullmatch(text):
            if text.startswith("|=") and head is None:
                head = []
            elif text.startswith("|-") and head is not None:
                rows = []
            elif head is not None:
                tables.append((head, rows or []))
                head, rows = None, None
        elif text.startswith("|") and head is not None:
            (head if rows is None else rows).append(
                [cell.strip() for cell in text.strip("|").split("|")] if rows is not None else _spread(text)
            )
        elif not text.startswith("|"):
            head, rows = None, None
    return tables


def _spread(text: str) -> list[str]:
    """Return the cells of a heading row, a cell that ends with several bars once for each."""
    cells: list[str] = []
    for match in re.finditer(r"([^|]*)(\|+)", text.lstrip("|")):
        cells += [match[1].strip()] * len(match[2])
    return cells


def _columns(head: list[list[str]]) -> list[str]:
    width = max((len(row) for row in head), default=0)
    filled = [row + [""] * (width - len(row)) for row in head]
    return [" ".join(cell for cell in column if cell).casefold() for column in zip(*filled, strict=True)]


def _metric_of(label: str) -> str | None:
    """Return the metric of a column's joined headings: `median_time_to_first_token_ms` for `ttft ms mdn`."""
    base, _, last = label.rpartition(" ")
    statistic = _STATISTICS.get(last)
    words = base.split()
    if words and words[-1] in ("ms", "sec") and unit_of(words[-1]) is not None and "per" not in words:
        words = words[:-1]
    known = _METRICS.get(" ".join(words))
    return f"{statistic}{known[0]}" if known is not None and statistic is not None else None


GUIDELLM = tool(
    "guidellm",
    "vllm-project/guidellm: src/guidellm/benchmark/schemas (GenerativeBenchmarksReport), outputs/console.py",
    is_report=lambda report: bool(_benchmarks(report)),
    readings=lambda report: _by_rate([(_rate(b, i), _values(b)) for i, b in enumerate(_benchmarks(report))]),
    why=_why,
    settings=_settings,
    notes=lambda report: _several(len(_benchmarks(report))),
    text=_console,
)

"""GuideLLM's report (JSON): statistics of successful requests, one benchmark for each rate."""

from __future__ import annotations

from typing import Any

from optrack.metrics.output import Output, Parsed, Parser, nothing, numeric, readings_of, slug
from optrack.model.metrics import Reading

NAME = "guidellm"
_PERCENTILES = ("p50", "p90", "p95", "p99")


def _report(document: Any) -> bool:
    if not isinstance(document, dict) or not isinstance(document.get("benchmarks"), list):
        return False
    return any(isinstance(b, dict) and isinstance(b.get("metrics"), dict) for b in document["benchmarks"])


def _values(benchmark: dict[str, Any]) -> dict[str, float | None]:
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


def _totals(benchmark: dict[str, Any]) -> dict[str, float | None]:
    totals = benchmark["metrics"].get("request_totals")
    return {k: numeric(v) for k, v in totals.items()} if isinstance(totals, dict) else {}


def _rate(benchmark: dict[str, Any], index: int) -> str:
    config = benchmark.get("config") if isinstance(benchmark.get("config"), dict) else benchmark.get("args")
    strategy = config.get("strategy") if isinstance(config, dict) else None
    if not isinstance(strategy, dict):
        return str(index + 1)
    rate = numeric(strategy.get("rate")) or numeric(strategy.get("streams"))
    return f"rate_{rate:g}".replace(".", "_") if rate else slug(str(strategy.get("type_", index + 1)))


def _readings(benchmarks: list[dict[str, Any]]) -> tuple[Reading, ...]:
    values = _values(benchmarks[-1])
    units = {"request_latency": "s", "median_request_latency": "s"}
    if len(benchmarks) > 1:
        for index, benchmark in enumerate(benchmarks):
            suffix = _rate(benchmark, index)
            values |= {f"{name}_{suffix}": value for name, value in _values(benchmark).items()}
    return readings_of(values, units)


def parse(output: Output) -> Parsed:
    """Return means, medians and percentiles of the last benchmark, and of each by its rate if several."""
    reports = [document for document in output.objects if _report(document)]
    if not reports:
        return nothing(NAME, "the report is cut off" if output.torn else "no report with benchmarks")
    benchmarks = [b for b in reports[-1]["benchmarks"] if isinstance(b, dict) and "metrics" in b]
    notes = (f"{len(benchmarks)} benchmarks; names without a rate are those of the last",)
    totals = _totals(benchmarks[-1])
    failed = totals.get("errored") or 0
    why = None
    if totals.get("successful") == 0:
        why = "no request was completed"
    elif failed:
        why = f"{failed:,.0f} requests failed"
    return Parsed(
        tool=NAME,
        readings=_readings(benchmarks),
        invalid=why,
        notes=notes if len(benchmarks) > 1 else (),
    )


PARSER = Parser(
    name=NAME,
    source="vllm-project/guidellm: src/guidellm/benchmark/schemas (GenerativeBenchmarksReport)",
    recognises=lambda output: any(map(_report, output.documents)),
    parse=parse,
    whole_file=True,
)

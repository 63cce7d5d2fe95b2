"""genai-bench and inference-perf: statistics by metric and stage, as JSON with latencies in seconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from optrack.metrics.output import Parsed, Setting, numeric, readings_of, slug
from optrack.metrics.tool import JsonTool, setting_of, work_of
from optrack.model.metrics import Reading

_STAT_NAMES = ("mean", "median", "min", "max", "stddev", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9")


def _statistics(name: str, entry: Any, unit: str | None) -> Iterator[tuple[str, float | None, str | None]]:
    if not isinstance(entry, dict):
        return
    for statistic in _STAT_NAMES:
        value = numeric(entry.get(statistic))
        if value is not None:
            yield f"{statistic.replace('.', '_')}_{name}", value, unit


def _readings_with(found: list[tuple[str, float | None, str | None]]) -> tuple[Reading, ...]:
    units = {name: unit for name, _, unit in found if unit is not None}
    return readings_of({name: value for name, value, _ in found}, units)


def _is_genai_bench(document: Any) -> bool:
    inner = document.get("aggregated_metrics") if isinstance(document, dict) else None
    return isinstance(inner, dict) and isinstance(inner.get("stats"), dict)


def _genai_bench(report: dict[str, Any]) -> tuple[Reading, ...]:
    metrics = report["aggregated_metrics"]
    found: list[tuple[str, float | None, str | None]] = [
        (key, amount, "s" if key == "run_duration" else None)
        for key, value in metrics.items()
        if key not in ("num_concurrency", "batch_size") and (amount := numeric(value)) is not None
    ]
    for name, entry in metrics["stats"].items():
        is_time = "latency" in name or name in ("ttft", "tpot")
        unit = "s" if is_time else "tok/s" if "throughput" in name or "speed" in name else None
        found += _statistics(name, entry, unit)
    return _readings_with(found)


def _genai_bench_why(report: dict[str, Any], parsed: Parsed) -> str | None:
    failed = parsed.value("num_error_requests")
    if failed:
        return f"{failed:,.0f} requests failed"
    return "no request was completed" if parsed.value("num_completed_requests") == 0 else None


def _is_inference_perf(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and isinstance(document.get("successes"), dict)
        and isinstance(document.get("failures"), dict)
        and isinstance(document["successes"].get("latency", {}), dict)
    )


def _inference_perf(report: dict[str, Any]) -> tuple[Reading, ...]:
    successes = report["successes"]
    found: list[tuple[str, float | None, str | None]] = [
        ("completed", numeric(successes.get("count")), None),
        ("failed", numeric(report["failures"].get("count")), None),
    ]
    for name, entry in successes.get("latency", {}).items():
        found += _statistics(slug(name), entry, "s")
    throughput = successes.get("throughput")
    if isinstance(throughput, dict):
        found += [(slug(name), numeric(value), None) for name, value in throughput.items()]
    for name in ("prompt_len", "output_len"):
        found += _statistics(name, successes.get(name), "tokens")
    return _readings_with(found)


def _inference_perf_why(report: dict[str, Any], parsed: Parsed) -> str | None:
    failed = parsed.value("failed")
    if parsed.value("completed") == 0:
        return "no request was completed"
    return f"{failed:,.0f} requests failed" if failed else None


def _load_settings(report: dict[str, Any]) -> dict[str, Setting]:
    summary = report.get("load_summary")
    plain = summary.items() if isinstance(summary, dict) else ()
    return {slug(k): setting_of(v) for k, v in plain if isinstance(v, int | float | str)}


PARSERS = (
    JsonTool(
        name="genai-bench",
        source="sgl-project/genai-bench: genai_bench/metrics/metrics.py (AggregatedMetrics)",
        is_report=_is_genai_bench,
        readings=_genai_bench,
        why=_genai_bench_why,
        settings=lambda report: (
            work_of(report["aggregated_metrics"])
            | work_of({"traffic_scenario": report["aggregated_metrics"].get("scenario", "")})
        ),
    ).parser(),
    JsonTool(
        name="inference-perf",
        source="kubernetes-sigs/inference-perf: inference_perf/reportgen (summary_lifecycle_metrics.json)",
        is_report=_is_inference_perf,
        readings=_inference_perf,
        why=_inference_perf_why,
        settings=_load_settings,
    ).parser(),
)

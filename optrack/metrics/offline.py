"""Benchmarks without a server: vLLM's throughput and latency, TensorRT-LLM's `trtllm-bench`, MLPerf's LoadGen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from optrack.metrics.output import (
    Output,
    Parsed,
    Parser,
    Setting,
    last_of,
    nothing,
    number,
    numeric,
    readings_of,
    slug,
)
from optrack.metrics.tool import JsonTool, setting_of, work_of
from optrack.model.metrics import Reading, unit_of

THROUGHPUT = "vllm.bench_throughput"
LATENCY = "vllm.bench_latency"
TRTLLM = "trtllm-bench"
MLPERF = "mlperf-loadgen"

_LINE = re.compile(
    r"^Throughput: (?P<req>[\d.,]+) requests/s, (?P<tok>[\d.,]+) (?:total )?tokens/s"
    r"(?:, (?P<out>[\d.,]+) output tokens/s)?",
    re.MULTILINE,
)
_AVERAGE = re.compile(r"^Avg latency: ([\d.,]+) seconds", re.MULTILINE)
_PERCENTILE = re.compile(r"^(\d+)% percentile latency: ([\d.,]+) seconds", re.MULTILINE)


def _is_throughput(document: Any) -> bool:
    return isinstance(document, dict) and {"requests_per_second", "tokens_per_second"} <= document.keys()


def _throughput(row: dict[str, Any]) -> tuple[Reading, ...]:
    values = {k: numeric(v) for k, v in row.items() if not isinstance(v, str)}
    return readings_of(values, {"elapsed_time": "s"})


def _throughput_text(output: Output) -> Parsed | None:
    results = []
    for match in _LINE.finditer(output.text):
        rates = {"requests_per_second": number(match["req"]), "tokens_per_second": number(match["tok"])}
        out = {"output_tokens_per_second": number(match["out"])} if match["out"] else {}
        results.append(readings_of(rates | out))
    return last_of(THROUGHPUT, results, "results") if results else None


def _is_latency(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and "avg_latency" in document
        and isinstance(document.get("percentiles"), dict)
    )


def _latency(row: dict[str, Any]) -> tuple[Reading, ...]:
    percentiles = {f"p{k}_latency": numeric(v) for k, v in row["percentiles"].items()}
    values = {"avg_latency": numeric(row["avg_latency"]), **percentiles}
    return readings_of(values, dict.fromkeys(values, "s"))


def _latency_text(output: Output) -> Parsed | None:
    average = _AVERAGE.findall(output.text)
    if not average:
        return None
    percentiles = {f"p{k}_latency": number(v) for k, v in _PERCENTILE.findall(output.text)}
    values = {"avg_latency": number(average[-1]), **percentiles}
    return Parsed(tool=LATENCY, readings=readings_of(values, dict.fromkeys(values, "s")))


_HEAD = "PERFORMANCE OVERVIEW"
_SHORT = {"time-to-first-token": "TTFT", "time-per-output-token": "TPOT"}
_ROW = re.compile(
    r"^(?:\[[^\]]*\]\s*)*(?P<label>[A-Za-z].*?)(?:\s*\((?P<unit>[^()]*)\))?\s*:\s*(?P<value>[-\d.,eE+]+)\s*$"
)
_BREAKDOWN = re.compile(
    r"\[(?P<what>[A-Z]+)\]\s+(?P<stat>MINIMUM|MAXIMUM|AVERAGE|P\d+(?:\.\d+)?)\s*:\s*(?P<value>[\d.,]+)"
)
_STATS = {"MINIMUM": "min", "MAXIMUM": "max", "AVERAGE": "average"}
_DETAIL = re.compile(
    r"^(?P<name>Number of requests|Number of concurrent requests|Average Input Length|Average Output Length"
    r"|Issue Rate|Max Runtime Batch Size|Max Runtime Tokens|Model|Dtype|TP Size|PP Size)[^:\n]{0,40}:\s*(?P<value>\S+)",
    re.MULTILINE,
)


def _overview(text: str) -> tuple[Reading, ...]:
    values: dict[str, float | None] = {}
    units: dict[str, str] = {}
    for line in text.splitlines():
        breakdown = _BREAKDOWN.search(line)
        if breakdown:
            stat = _STATS.get(breakdown["stat"], breakdown["stat"].casefold())
            name, unit, value = f"{stat}_{breakdown['what'].casefold()}_ms", "ms", breakdown["value"]
        elif (row := _ROW.match(line)) and row["unit"]:
            (name, unit), value = _named(row["label"], row["unit"].strip()), row["value"]
        else:
            continue
        values[name], units[name] = number(value), unit
    return readings_of(values, units)


def _named(label: str, unit: str) -> tuple[str, str]:
    """Return metric and unit of a row: `average_ttft_ms` for `Average time-to-first-token [TTFT] (ms)`."""
    if "[w/ ctx]" not in label and "[1/TPOT]" not in label:
        for long, short in _SHORT.items():
            label = re.sub(rf"{long}(?:\s*\[{short}\])?", short, label, flags=re.IGNORECASE)
    name = slug(re.sub(r"\[[^\]]*\]", " ", label))
    return (f"{name}_ms", "ms") if unit == "ms" else (name, unit_of(unit) or unit.replace("tps", "tok/s"))


def _trtllm_report(document: Any) -> bool:
    return (
        isinstance(document, dict) and isinstance(document.get("performance"), dict) and "engine" in document
    )


def _trtllm(report: dict[str, Any]) -> tuple[Reading, ...]:
    parts = (report.get(part) for part in ("performance", "streaming_metrics"))
    values = {k: v for part in parts if isinstance(part, dict) for k, v in _flat(part).items()}
    return readings_of(values)


def _flat(document: Mapping[str, Any], prefix: str = "") -> dict[str, float | None]:
    values: dict[str, float | None] = {}
    for key, value in document.items():
        if isinstance(value, dict):
            values |= _flat(value, f"{prefix}{key}_")
        elif (amount := numeric(value)) is not None:
            values[slug(f"{prefix}{key}")] = amount
    return values


def _trtllm_settings(report: dict[str, Any]) -> dict[str, Setting]:
    parts = (report.get(part) for part in ("engine", "world_info", "request_info"))
    return {k: v for part in parts if isinstance(part, dict) for k, v in work_of(part).items()}


def _trtllm_text(output: Output) -> Parsed | None:
    head = output.text.rfind(_HEAD)
    if head < 0:
        return None
    readings = _overview(output.text[head:])
    if not readings:
        return nothing(TRTLLM, "the performance overview is empty")
    settings = {slug(m["name"]): setting_of(m["value"]) for m in _DETAIL.finditer(output.text)}
    return Parsed(tool=TRTLLM, readings=readings, settings=settings)


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
_PARAMETERS = "Test Parameters Used"


def _metric(label: str) -> str:
    """Return `p99_latency_ns` for `99.00 percentile latency (ns)`, `samples_per_second` for that label."""
    percentile = re.match(r"([\d.]+) percentile (.*)", label)
    if percentile:
        rank = percentile[1].rstrip("0").rstrip(".").replace(".", "_")
        label = f"p{rank} {percentile[2]}"
    return slug(label)


def _summary(text: str) -> Parsed:
    body, _, parameters = text[text.rfind(_SUMMARY) :].partition(_PARAMETERS)
    values = {_metric(m["label"]): number(m["value"]) for m in _SUMMARY_ROW.finditer(body)}
    result = _RESULT.search(body)
    why = None
    if result is None:
        why = "the summary has no result line: it is cut off"
    elif result[1] == "INVALID":
        reasons = [" ".join(reason.split()) for reason in _REASON.findall(body)]
        why = f"LoadGen says INVALID ({'; '.join(reasons) or 'no reason given'})"
    settings = {slug(m["label"]): setting_of(m["value"]) for m in _SUMMARY_ROW.finditer(parameters)}
    return Parsed(tool=MLPERF, readings=readings_of(values), invalid=why, settings=settings)


def _tiny(text: str) -> Parsed:
    windows = [w for w in map(number, _WINDOW.findall(text)) if w is not None]
    values = {
        "median_throughput": number(_MEDIAN.findall(text)[-1]),
        "min_throughput": min(windows, default=None),
    }
    unmet = _UNMET.search(text)
    readings = readings_of(values, dict.fromkeys(values, "inf/s"))
    return Parsed(tool=MLPERF, readings=readings, invalid=unmet[0] if unmet else None)


def _parse_mlperf(output: Output) -> Parsed:
    """Return the summary's figures; a run that LoadGen calls INVALID is invalid here."""
    if _SUMMARY in output.text:
        return _summary(output.text)
    return _tiny(output.text) if _MEDIAN.search(output.text) else nothing(MLPERF, "no results summary")


PARSERS = (
    JsonTool(
        name=THROUGHPUT,
        source="vllm-project/vllm: vllm/benchmarks/throughput.py",
        is_report=_is_throughput,
        readings=_throughput,
        text=_throughput_text,
        names=(
            "elapsed_time num_requests total_num_tokens requests_per_second tokens_per_second output_tokens_per_second"
        ).split(),
    ).parser(),
    JsonTool(
        name=LATENCY,
        source="vllm-project/vllm: vllm/benchmarks/latency.py",
        is_report=_is_latency,
        readings=_latency,
        text=_latency_text,
        names=("avg_latency", *(f"p{n}_latency" for n in (10, 25, 50, 75, 90, 99))),
    ).parser(),
    JsonTool(
        name=TRTLLM,
        source="NVIDIA/TensorRT-LLM: tensorrt_llm/bench/dataclasses/reporting.py",
        is_report=_trtllm_report,
        readings=_trtllm,
        settings=_trtllm_settings,
        text=_trtllm_text,
        aliases=("trtllm", "tensorrt-llm"),
    ).parser(),
    Parser(
        name=MLPERF,
        source="mlcommons/inference: loadgen/results.cc; eembc/energyrunner (ulp-mlperf log)",
        recognises=lambda output: _SUMMARY in output.text or bool(_MEDIAN.search(output.text)),
        parse=_parse_mlperf,
        aliases=("mlperf", "loadgen"),
    ),
)

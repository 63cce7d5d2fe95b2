"""TensorRT-LLM's `trtllm-bench`: the printed performance overview, and its `--report_json`."""

from __future__ import annotations

import re
from typing import Any

from optrack.metrics.output import Output, Parsed, Parser, nothing, number, numeric, readings_of, slug

NAME = "trtllm-bench"
_HEAD = "PERFORMANCE OVERVIEW"
_SHORT = {"time-to-first-token": "TTFT", "time-per-output-token": "TPOT"}
_ROW = re.compile(
    r"^(?:\[[^\]]*\]\s*)*(?P<label>[A-Za-z].*?)(?:\s*\((?P<unit>[^()]*)\))?\s*:\s*(?P<value>[-\d.,eE+]+)\s*$"
)
_BREAKDOWN = re.compile(
    r"\[(?P<what>[A-Z]+)\]\s+(?P<stat>MINIMUM|MAXIMUM|AVERAGE|P\d+(?:\.\d+)?)\s*:\s*(?P<value>[\d.,]+)"
)
_STATS = {"MINIMUM": "min", "MAXIMUM": "max", "AVERAGE": "average"}
_UNITS = {"req/sec": "req/s", "tokens/sec": "tok/s"}


def _printed(text: str) -> dict[str, tuple[float | None, str]]:
    found: dict[str, tuple[float | None, str]] = {}
    for line in text.splitlines():
        breakdown = _BREAKDOWN.search(line)
        if breakdown:
            stat = _STATS.get(breakdown["stat"], breakdown["stat"].casefold())
            found[f"{stat}_{breakdown['what'].casefold()}_ms"] = number(breakdown["value"]), "ms"
        elif (row := _ROW.match(line)) and row["unit"]:
            name, unit = _named(row["label"], row["unit"].strip())
            found[name] = number(row["value"]), unit
    return found


def _named(label: str, unit: str) -> tuple[str, str]:
    """Return metric and unit of a row: `average_ttft_ms` for `Average time-to-first-token [TTFT] (ms)`."""
    if "[w/ ctx]" not in label and "[1/TPOT]" not in label:
        for long, short in _SHORT.items():
            label = re.sub(rf"{long}(?:\s*\[{short}\])?", short, label, flags=re.IGNORECASE)
    name = slug(re.sub(r"\[[^\]]*\]", " ", label))
    return (f"{name}_ms", "ms") if unit == "ms" else (name, _UNITS.get(unit, unit.replace("tps", "tok/s")))


def _report(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("performance"), dict)


def _flat(document: dict[str, Any], prefix: str = "") -> dict[str, float | None]:
    values: dict[str, float | None] = {}
    for key, value in document.items():
        if isinstance(value, dict):
            values |= _flat(value, f"{prefix}{key}_")
        elif (amount := numeric(value)) is not None:
            values[slug(f"{prefix}{key}")] = amount
    return values


def recognises(output: Output) -> bool:
    """Whether the output has the overview of trtllm-bench or its report."""
    return _HEAD in output.text or any(_report(d) and "engine" in d for d in output.objects)


def parse(output: Output) -> Parsed:
    """Return the rows of the last overview: `request_throughput`, `average_ttft_ms`, `p99_tpot_ms`."""
    reports = [document for document in output.objects if _report(document)]
    if reports:
        parts = [reports[-1].get(part) for part in ("performance", "streaming_metrics")]
        values: dict[str, float | None] = {}
        for part in parts:
            values |= _flat(part) if isinstance(part, dict) else {}
        return Parsed(tool=NAME, readings=readings_of(values))
    head = output.text.rfind(_HEAD)
    found = _printed(output.text[head:]) if head >= 0 else {}
    if not found:
        return nothing(NAME, "no performance overview" if head < 0 else "the performance overview is empty")
    units = {name: unit for name, (_, unit) in found.items()}
    return Parsed(tool=NAME, readings=readings_of({k: v for k, (v, _) in found.items()}, units))


PARSER = Parser(
    name=NAME,
    source="NVIDIA/TensorRT-LLM: tensorrt_llm/bench/dataclasses/reporting.py",
    recognises=recognises,
    parse=parse,
    aliases=("trtllm", "tensorrt-llm"),
)

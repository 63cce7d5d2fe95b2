"""vLLM's offline benchmarks: `bench throughput` and `bench latency`, saved as JSON or printed."""

from __future__ import annotations

import re
from typing import Any

from optrack.metrics.output import Output, Parsed, Parser, last_of, nothing, number, numeric, readings_of

THROUGHPUT = "vllm.bench_throughput"
LATENCY = "vllm.bench_latency"
_UNITS = {
    "requests_per_second": "req/s",
    "tokens_per_second": "tok/s",
    "output_tokens_per_second": "tok/s",
    "elapsed_time": "s",
    "avg_latency": "s",
}
_LINE = re.compile(
    r"^Throughput: (?P<req>[\d.,]+) requests/s, (?P<tok>[\d.,]+) (?:total )?tokens/s"
    r"(?:, (?P<out>[\d.,]+) output tokens/s)?",
    re.MULTILINE,
)
_AVERAGE = re.compile(r"^Avg latency: ([\d.,]+) seconds", re.MULTILINE)
_PERCENTILE = re.compile(r"^(\d+)% percentile latency: ([\d.,]+) seconds", re.MULTILINE)


def _throughput(document: Any) -> bool:
    return isinstance(document, dict) and {"requests_per_second", "tokens_per_second"} <= document.keys()


def _parse_throughput(output: Output) -> Parsed:
    results = [
        readings_of({k: numeric(v) for k, v in row.items() if not isinstance(v, str)}, _UNITS)
        for row in output.objects
        if _throughput(row)
    ]
    for match in _LINE.finditer(output.text):
        rates = {"requests_per_second": number(match["req"]), "tokens_per_second": number(match["tok"])}
        out = {"output_tokens_per_second": number(match["out"])} if match["out"] else {}
        results.append(readings_of(rates | out, _UNITS))
    return last_of(THROUGHPUT, results, "results") if results else nothing(THROUGHPUT, "no result")


def _latency(document: Any) -> bool:
    return isinstance(document, dict) and {"avg_latency", "percentiles"} <= document.keys()


def _parse_latency(output: Output) -> Parsed:
    results = []
    for row in output.objects:
        if _latency(row) and isinstance(row["percentiles"], dict):
            percentiles = {f"p{k}_latency": numeric(v) for k, v in row["percentiles"].items()}
            values = {"avg_latency": numeric(row["avg_latency"]), **percentiles}
            results.append(readings_of(values, dict.fromkeys(values, "s")))
    average = _AVERAGE.findall(output.text)
    if not results and average:
        percentiles = {f"p{k}_latency": number(v) for k, v in _PERCENTILE.findall(output.text)}
        values = {"avg_latency": number(average[-1]), **percentiles}
        results.append(readings_of(values, dict.fromkeys(values, "s")))
    return last_of(LATENCY, results, "results") if results else nothing(LATENCY, "no result")


THROUGHPUT_PARSER = Parser(
    name=THROUGHPUT,
    source="vllm-project/vllm: vllm/benchmarks/throughput.py",
    recognises=lambda output: bool(any(map(_throughput, output.objects)) or _LINE.search(output.text)),
    parse=_parse_throughput,
    whole_file=True,
)
LATENCY_PARSER = Parser(
    name=LATENCY,
    source="vllm-project/vllm: vllm/benchmarks/latency.py",
    recognises=lambda output: bool(any(map(_latency, output.objects)) or _AVERAGE.search(output.text)),
    parse=_parse_latency,
    whole_file=True,
)

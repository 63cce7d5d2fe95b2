"""The serving benchmarks of SGLang and vLLM, and InferenceX's results: the JSON they save, the table they print."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

from optrack.metrics.output import (
    Output,
    Parsed,
    Parser,
    last_of,
    nothing,
    number,
    numeric,
    readings_of,
    with_reason,
)
from optrack.metrics.requests import checked
from optrack.metrics.serving_table import Table, tables
from optrack.metrics.tables import table_rows
from optrack.metrics.tool import JsonTool, setting_of, work_of
from optrack.model.metrics import Reading

SGLANG = "sglang.bench_serving"
VLLM = "vllm.bench_serve"
SWEEP = "vllm.bench_sweep"
_STARTED = ("#Input tokens:", "Starting main benchmark run")
_SETTINGS = frozenset(
    "request_rate max_concurrency num_prompts burstiness best_of date run_number seed sharegpt_output_len "
    "random_input_len random_output_len random_range_ratio random_prefix_len conc tp ep isl osl".split()
)
_VLLM_NAMES = {
    "total_throughput": "total_token_throughput",
    "accept_length": "spec_decode_acceptance_length",
    "acceptance_rate": "spec_decode_acceptance_rate",
}
_SWEEP_MARKS = frozenset({"run_number", "output_throughput", "completed"})
_SECONDS = re.compile(r"(?:mean|median|std|p\d+(?:\.\d+)?)_(?:ttft|tpot|itl|e2el)")
_RATE = re.compile(r"(?<![a-z])tput(?![a-z])")


def latency_names(*kinds: str) -> tuple[str, ...]:
    """Return the names of the usual statistics of these latencies."""
    statistics = ("mean", "median", "std", "p50", "p75", "p90", "p95", "p99")
    return tuple(f"{statistic}_{kind}_ms" for kind, statistic in product(kinds, statistics))


_SERVING_NAMES = (
    "completed failed duration request_throughput output_throughput concurrency total_input_tokens "
    "total_output_tokens max_output_tokens_per_s max_concurrent_requests"
).split()
_SGLANG_NAMES = (
    "input_throughput total_throughput accept_length max_itl_ms total_output_tokens_retokenized "
    "total_input_text_tokens total_input_vision_tokens total_generated_tokens last_gen_throughput"
).split()
_VLLM_ONLY = (
    "total_token_throughput request_goodput rtfx spec_decode_acceptance_length spec_decode_acceptance_rate"
).split()


def _is_sglang(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and {"output_throughput", "completed"} <= document.keys()
        and ("backend" in document or "dataset_name" in document)
        and "model_id" not in document  # vLLM's
    )


def _is_vllm(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and "completed" in document
        and not document.keys().isdisjoint({"request_throughput", "output_throughput"})
        and not document.keys().isdisjoint({"model_id", "backend", "endpoint_type"})
        and any(key.endswith("_ms") for key in document)
    )


def _is_inferencex(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and any(_SECONDS.fullmatch(key) for key in document)
        and not any(key.endswith("_ms") for key in document)
        and ("completed" in document or "tput_per_gpu" in document)
    )


def _numbers(row: Mapping[str, Any]) -> dict[str, float | None]:
    """Return a result's numbers, without the settings among them."""
    values = {key.rstrip(":"): value for key, value in row.items() if not isinstance(value, str)}
    return {key: numeric(value) for key, value in values.items() if key not in _SETTINGS}


def _readings(row: Mapping[str, Any]) -> tuple[Reading, ...]:
    return readings_of(_numbers(row))


def _in_seconds(row: Mapping[str, Any]) -> tuple[Reading, ...]:
    """Return InferenceX's readings: each latency under its own name in seconds, and as `…_ms`."""
    values = _numbers(row)
    latencies = {key: value for key, value in values.items() if _SECONDS.fullmatch(key)}
    units = {key: "tok/s" for key in values if _RATE.search(key)} | dict.fromkeys(latencies, "s")
    millis = {f"{key}_ms": value * 1000 for key, value in latencies.items() if value is not None}
    return readings_of(values | millis, units)


def _why(row: Mapping[str, Any], parsed: Parsed) -> str | None:
    return checked(parsed, requested=_asked(row)).invalid


def _asked(row: Mapping[str, Any]) -> int | None:
    asked = numeric(row.get("num_prompts"))
    return int(asked) if asked and abs(asked) < 1e15 else None


def _printed(
    name: str, mine: Callable[[Table], bool], names: Mapping[str, str], output: Output
) -> Parsed | None:
    """Return what the last result table says, None if there is none of this tool."""
    found = [table for table in tables(output) if mine(table)]
    if not found:
        return None
    results = [readings_of({names.get(k, k): v for k, v in table.values.items()}) for table in found]
    parsed = last_of(name, results, "result tables in this pass")
    settings = {key: setting_of(value) for key, value in found[-1].settings.items()}
    parsed = parsed.model_copy(update={"settings": settings})
    parsed = with_reason(parsed, None if found[-1].whole else "the result table is cut off")
    return checked(parsed, requested=found[-1].requested)


def _sglang_text(output: Output) -> Parsed | None:
    printed = _printed(SGLANG, lambda table: "backend" in table.settings, {}, output)
    if printed is None and not tables(output) and all(mark in output.text for mark in _STARTED):
        return nothing(SGLANG, "the benchmark started and gave no result")
    return printed


def _vllm_text(output: Output) -> Parsed | None:
    return _printed(
        VLLM, lambda t: "completed" in t.values and "backend" not in t.settings, _VLLM_NAMES, output
    )


def _any_table(name: str, names: Mapping[str, str], parser: Parser) -> Parser:
    """Return a parser that, asked for by its name, reads a result table of whichever tool."""

    def parse(output: Output) -> Parsed:
        if parser.recognises(output):
            return parser.parse(output)
        return _printed(name, lambda table: True, names, output) or parser.parse(output)

    return replace(parser, parse=parse)


def _sweep_rows(output: Output) -> list[dict[str, str]]:
    rows = table_rows(output)
    return rows if rows and rows[0].keys() >= _SWEEP_MARKS else []


def _parse_sweep(output: Output) -> Parsed:
    """Return the last row of a sweep's `summary.csv`; the others are kept as earlier results."""
    rows = _sweep_rows(output)
    if not rows:
        return nothing(SWEEP, "no table of a sweep's runs")
    results = [
        readings_of({k: number(v) for k, v in row.items() if k and k not in _SETTINGS}) for row in rows
    ]
    parsed = last_of(SWEEP, results, "runs in this table").model_copy(update={"settings": work_of(rows[-1])})
    return checked(parsed, requested=_asked(rows[-1]))


PARSERS = (
    _any_table(
        SGLANG,
        {},
        JsonTool(
            name=SGLANG,
            source="sgl-project/sglang: python/sglang/benchmark/serving.py (before 0.5.12: bench_serving.py)",
            is_report=_is_sglang,
            readings=_readings,
            why=_why,
            text=_sglang_text,
            aliases=("sglang", "bench_serving", "sglang.benchmark.serving"),
            names=(*_SERVING_NAMES, *_SGLANG_NAMES, *latency_names("ttft", "tpot", "itl", "e2e_latency")),
        ).parser(),
    ),
    _any_table(
        VLLM,
        _VLLM_NAMES,
        JsonTool(
            name=VLLM,
            source="vllm-project/vllm: vllm/benchmarks/serve.py (before 0.10: benchmarks/benchmark_serving.py)",
            is_report=_is_vllm,
            readings=_readings,
            why=_why,
            text=_vllm_text,
            aliases=("vllm", "vllm_bench", "vllm.bench.serve"),
            names=(*_SERVING_NAMES, *_VLLM_ONLY, *latency_names("ttft", "tpot", "itl", "e2el")),
        ).parser(),
    ),
    Parser(
        name=SWEEP,
        source="vllm-project/vllm: vllm/benchmarks/sweep/serve.py",
        recognises=lambda output: bool(_sweep_rows(output)),
        parse=_parse_sweep,
    ),
    JsonTool(
        name="inferencex",
        source="SemiAnalysisAI/InferenceX: utils/process_result.py, experimental results",
        is_report=_is_inferencex,
        readings=_in_seconds,
        why=_why,
        aliases=("inferencemax",),
    ).parser(),
)

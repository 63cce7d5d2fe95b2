"""The serving benchmarks of SGLang and vLLM, and InferenceX's results: the JSON they save, the table they print."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import product

from optrack.metrics.output import Output, Parsed, Values, last_of, number
from optrack.metrics.requests import asked_by, checked
from optrack.metrics.serving_table import Table, tables
from optrack.metrics.tables import table_rows
from optrack.metrics.tool import Report, TextReader, numbers, setting_of, tool, work_of

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


def _latencies(*kinds: str) -> tuple[str, ...]:
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


def _is_sglang(report: Report) -> bool:
    return {"output_throughput", "completed"} <= report.keys() and (
        ("backend" in report or "dataset_name" in report) and "model_id" not in report  # vLLM's
    )


def _is_vllm(report: Report) -> bool:
    return (
        "completed" in report
        and not report.keys().isdisjoint({"request_throughput", "output_throughput"})
        and not report.keys().isdisjoint({"model_id", "backend", "endpoint_type"})
        and any(key.endswith("_ms") for key in report)
    )


def _is_inferencex(report: Report) -> bool:
    return (
        any(_SECONDS.fullmatch(key) for key in report)
        and not any(key.endswith("_ms") for key in report)
        and ("completed" in report or "tput_per_gpu" in report)
    )


def _readings(report: Report) -> dict[str, float | None]:
    """Return a result's numbers, without the settings among them."""
    return {key.rstrip(":"): v for key, v in numbers(report).items() if key.rstrip(":") not in _SETTINGS}


def _in_seconds(report: Report) -> Values:
    """Return InferenceX's numbers: each latency under its own name in seconds, and as `…_ms`."""
    values = _readings(report)
    seconds = {key: value for key, value in values.items() if _SECONDS.fullmatch(key) and value is not None}
    rates = {key: (value, "tok/s") for key, value in values.items() if _RATE.search(key)}
    latencies = {key: (value, "s") for key, value in seconds.items()}
    return values | rates | latencies | {f"{key}_ms": value * 1000 for key, value in seconds.items()}


def _why(report: Mapping[str, object], parsed: Parsed) -> str | None:
    return checked(parsed, requested=asked_by(work_of(report))).invalid


def _printed(mine: Callable[[Table], bool], names: Mapping[str, str]) -> TextReader:
    """Return the reader of the last result table that is `mine`, with the names that the tool gives in JSON."""

    def read(output: Output) -> Parsed | None:
        found = [table for table in tables(output) if mine(table)]
        if not found:
            return None
        parsed = last_of(
            [{names.get(k, k): v for k, v in table.values.items()} for table in found],
            "result tables in this pass",
        )
        parsed = parsed.but(settings={key: setting_of(value) for key, value in found[-1].settings.items()})
        parsed = parsed.because(None if found[-1].whole else "the result table is cut off")
        return checked(parsed, requested=found[-1].requested)

    return read


_sglang_table = _printed(lambda table: "backend" in table.settings, {})


def _sglang_text(output: Output) -> Parsed | None:
    printed = _sglang_table(output)
    if printed is None and not tables(output) and all(mark in output.text for mark in _STARTED):
        return Parsed(invalid="the benchmark started and gave no result")
    return printed


def _sweep(output: Output) -> Parsed | None:
    """Return the last row of a sweep's `summary.csv`; the others are kept as earlier results."""
    rows = table_rows(output)
    if not rows or not rows[0].keys() >= _SWEEP_MARKS:
        return None
    results = [{k: number(v) for k, v in row.items() if k and k not in _SETTINGS} for row in rows]
    parsed = last_of(results, "runs in this table").but(settings=work_of(rows[-1]))
    return checked(parsed, requested=asked_by(work_of(rows[-1])))


SGLANG = tool(
    "sglang.bench_serving",
    "sgl-project/sglang: python/sglang/benchmark/serving.py (before 0.5.12: bench_serving.py)",
    is_report=_is_sglang,
    readings=_readings,
    why=_why,
    text=_sglang_text,
    otherwise=_printed(lambda table: True, {}),
    aliases=("sglang", "bench_serving", "sglang.benchmark.serving"),
    names=(*_SERVING_NAMES, *_SGLANG_NAMES, *_latencies("ttft", "tpot", "itl", "e2e_latency")),
)
PARSERS = (
    tool(
        "vllm.bench_serve",
        "vllm-project/vllm: vllm/benchmarks/serve.py (before 0.10: benchmarks/benchmark_serving.py)",
        is_report=_is_vllm,
        readings=_readings,
        why=_why,
        text=_printed(lambda t: "completed" in t.values and "backend" not in t.settings, _VLLM_NAMES),
        otherwise=_printed(lambda table: True, _VLLM_NAMES),
        aliases=("vllm", "vllm_bench", "vllm.bench.serve"),
        names=(*_SERVING_NAMES, *_VLLM_ONLY, *_latencies("ttft", "tpot", "itl", "e2el")),
    ),
    tool(
        "vllm.bench_sweep",
        "vllm-project/vllm: vllm/benchmarks/sweep/serve.py",
        text=_sweep,
        missing="no table of a sweep's runs",
    ),
    tool(
        "inferencex",
        "SemiAnalysisAI/InferenceX: utils/process_result.py, experimental results",
        is_report=_is_inferencex,
        readings=_in_seconds,
        why=_why,
        aliases=("inferencemax",),
    ),
)

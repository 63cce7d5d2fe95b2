"""The benchmarks of vLLM: serving, sweeps of it, offline throughput and latency."""

from __future__ import annotations

from typing import Any

from optrack.metrics.output import Output, Parsed, Parser, last_of, nothing, numeric, readings_of
from optrack.metrics.rules import checked
from optrack.metrics.serving_table import Table, tables
from optrack.model.metrics import Reading

NAME = "vllm.bench_serve"
_SETTINGS = frozenset(
    {"request_rate", "max_concurrency", "num_prompts", "burstiness", "best_of", "date", "run_number"}
)
_NAMES = {
    "total_throughput": "total_token_throughput",
    "accept_length": "spec_decode_acceptance_length",
    "acceptance_rate": "spec_decode_acceptance_rate",
}


def _result(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and "completed" in document
        and ("request_throughput" in document or "output_throughput" in document)
        and ("model_id" in document or "backend" in document or "endpoint_type" in document)
        and any(key.endswith("_ms") for key in document)
    )


def _readings(result: dict[str, Any]) -> tuple[Reading, ...]:
    values = {key.rstrip(":"): value for key, value in result.items()}
    return readings_of(
        {k: numeric(v) for k, v in values.items() if k not in _SETTINGS and not isinstance(v, str)}
    )


def _from_results(output: Output) -> Parsed:
    results = [document for document in output.objects if _result(document)]
    parsed = last_of(NAME, [_readings(result) for result in results], "results in this pass")
    if output.torn:
        parsed = parsed.model_copy(update={"invalid": "the last result is cut off"})
    asked = numeric(results[-1].get("num_prompts"))
    return checked(parsed, requested=int(asked) if asked else None)


def _mine(output: Output) -> list[Table]:
    return [table for table in tables(output) if "completed" in table.values and "backend" not in table.words]


def _from_tables(found: list[Table]) -> Parsed:
    results = [readings_of({_NAMES.get(k, k): v for k, v in table.values.items()}) for table in found]
    parsed = last_of(NAME, results, "result tables in this pass")
    if not found[-1].whole:
        parsed = parsed.model_copy(update={"invalid": "the result table is cut off"})
    return checked(parsed, requested=found[-1].requested)


def recognises(output: Output) -> bool:
    """Whether the output has a result of `vllm bench serve` (or benchmark_serving.py), or its table."""
    return any(map(_result, output.objects)) or bool(_mine(output))


def parse(output: Output) -> Parsed:
    """Return the readings of the last result; JSON is preferred to the table, being more exact."""
    if any(map(_result, output.objects)):
        return _from_results(output)
    found = _mine(output) or tables(output)
    if found:
        return _from_tables(found)
    return nothing(NAME, "the result is cut off" if output.torn else "no result: neither JSON nor a table")


PARSER = Parser(
    name=NAME,
    source="vllm-project/vllm: vllm/benchmarks/serve.py (before 0.10: benchmarks/benchmark_serving.py)",
    recognises=recognises,
    parse=parse,
    aliases=("vllm", "vllm_bench", "vllm.bench.serve"),
)

"""SGLang's `bench_serving`: the JSON line it appends, and the table it prints."""

from __future__ import annotations

from typing import Any

from optrack.metrics.output import Output, Parsed, Parser, last_of, nothing, numeric, readings_of
from optrack.metrics.rules import checked
from optrack.metrics.serving_table import Table, tables
from optrack.model.metrics import Reading

NAME = "sglang.bench_serving"
_STARTED = ("#Input tokens:", "Starting main benchmark run")
_SETTINGS = frozenset(
    {
        "request_rate",
        "max_concurrency",
        "sharegpt_output_len",
        "random_input_len",
        "random_output_len",
        "random_range_ratio",
        "num_prompts",
        "seed",
    }
)


def _row(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and "output_throughput" in document
        and "completed" in document
        and ("backend" in document or "dataset_name" in document)
        and "model_id" not in document  # vLLM's
    )


def _readings(row: dict[str, Any]) -> tuple[Reading, ...]:
    return readings_of(
        {k: numeric(v) for k, v in row.items() if k not in _SETTINGS and not isinstance(v, str)}
    )


def _from_rows(output: Output) -> Parsed:
    rows = [row for row in output.objects if _row(row)]
    parsed = last_of(NAME, [_readings(row) for row in rows], "result lines in this pass")
    asked = numeric(rows[-1].get("num_prompts"))
    if output.torn:
        parsed = parsed.model_copy(update={"invalid": "the last result line is cut off"})
    return checked(parsed, requested=int(asked) if asked else None)


def _mine(output: Output) -> list[Table]:
    return [table for table in tables(output) if "backend" in table.words]


def _from_tables(found: list[Table]) -> Parsed:
    parsed = last_of(NAME, [readings_of(table.values) for table in found], "result tables in this pass")
    if not found[-1].whole:
        parsed = parsed.model_copy(update={"invalid": "the result table is cut off"})
    return checked(parsed, requested=found[-1].requested)


def recognises(output: Output) -> bool:
    """Whether the output has a result line of bench_serving, its table or its start."""
    if any(map(_row, output.objects)) or _mine(output):
        return True
    return not tables(output) and all(mark in output.text for mark in _STARTED)


def parse(output: Output) -> Parsed:
    """Return the readings of the last result; the JSON line is preferred to the table, being more exact."""
    if any(map(_row, output.objects)):
        return _from_rows(output)
    found = _mine(output) or tables(output)
    if found:
        return _from_tables(found)
    if output.torn:
        return nothing(NAME, "the result line is cut off")
    started = all(mark in output.text for mark in _STARTED)
    return nothing(NAME, "the benchmark started and gave no result" if started else "no result line or table")


PARSER = Parser(
    name=NAME,
    source="sgl-project/sglang: python/sglang/benchmark/serving.py (before 0.5.12: bench_serving.py)",
    recognises=recognises,
    parse=parse,
    aliases=("sglang", "bench_serving", "sglang.benchmark.serving"),
)

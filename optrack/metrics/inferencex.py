"""InferenceX (InferenceMAX) results: JSON with latencies in seconds and no unit in the names."""

from __future__ import annotations

import re
from typing import Any

from optrack.metrics.output import Output, Parsed, Parser, last_of, nothing, numeric, readings_of
from optrack.metrics.rules import checked
from optrack.model.metrics import Reading

NAME = "inferencex"
_LATENCY = re.compile(r"(?:mean|median|std|p\d+(?:\.\d+)?)_(?:ttft|tpot|itl|e2el)")
_SETTINGS = frozenset(
    {"request_rate", "max_concurrency", "num_prompts", "burstiness", "conc", "tp", "ep", "isl", "osl"}
)


def _result(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and any(_LATENCY.fullmatch(key) for key in document)
        and not any(key.endswith("_ms") for key in document)
        and ("completed" in document or "tput_per_gpu" in document)
    )


def _readings(result: dict[str, Any]) -> tuple[Reading, ...]:
    values: dict[str, float | None] = {}
    units: dict[str, str] = {}
    for key, value in result.items():
        amount = None if key in _SETTINGS or isinstance(value, str) else numeric(value)
        if amount is None:
            continue
        values[key] = amount
        if _LATENCY.fullmatch(key):
            units[key] = "s"
            values[f"{key}_ms"] = amount * 1000
        elif "tput" in key:
            units[key] = "tok/s"
    return readings_of(values, units)


def parse(output: Output) -> Parsed:
    """Return the last result; each latency under its own name in seconds, and as `…_ms`."""
    results = [document for document in output.objects if _result(document)]
    if not results:
        return nothing(
            NAME, "the result is cut off" if output.torn else "no result with latencies in seconds"
        )
    asked = numeric(results[-1].get("num_prompts"))
    parsed = last_of(NAME, [_readings(result) for result in results], "results in this pass")
    return checked(parsed, requested=int(asked) if asked else None)


PARSER = Parser(
    name=NAME,
    source="SemiAnalysisAI/InferenceX: utils/process_result.py, experimental results",
    recognises=lambda output: any(map(_result, output.objects)),
    parse=parse,
    aliases=("inferencemax",),
    whole_file=True,
)

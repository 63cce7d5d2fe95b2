"""NVIDIA's AIPerf: its framed table, and the JSON and CSV that it exports."""

from __future__ import annotations

from typing import Any

from optrack.metrics import genai_perf
from optrack.metrics.output import Output, Parsed, Parser, numeric
from optrack.metrics.perf_statistics import is_export

NAME = "aiperf"
_MARKS = frozenset({"aiperf_version", "schema_version", "was_cancelled", "error_summary", "benchmark_id"})


def _export(document: Any) -> bool:
    return is_export(document) and not _MARKS.isdisjoint(document)


def recognises(output: Output) -> bool:
    """Whether the output is an export or a table of AIPerf."""
    return "NVIDIA AIPerf" in output.text or any(map(_export, output.documents))


def parse(output: Output) -> Parsed:
    """Return each metric's statistics; invalid if the run was cancelled or requests failed."""
    parsed = genai_perf.parse(output).model_copy(update={"tool": NAME})
    export: dict[str, Any] = next((d for d in reversed(output.objects) if _export(d)), {})
    errors = export.get("error_request_count")
    failed = numeric(errors.get("avg")) if isinstance(errors, dict) else None
    failed = failed if failed is not None else parsed.value("error_request_count")
    served = parsed.value("request_count")
    if export.get("was_cancelled") is True:
        return parsed.model_copy(update={"invalid": "the benchmark was cancelled"})
    if export.get("is_complete") is False:
        return parsed.model_copy(update={"invalid": "the benchmark didn't run to its end"})
    if served == 0:
        return parsed.model_copy(update={"invalid": "no request was completed"})
    if failed:
        return parsed.model_copy(update={"invalid": f"{failed:,.0f} requests failed"})
    return parsed


PARSER = Parser(
    name=NAME,
    source="ai-dynamo/aiperf: docs/reference/json-export-schema.md, src/aiperf/exporters",
    recognises=recognises,
    parse=parse,
    whole_file=True,
)

"""NVIDIA's GenAI-Perf: its framed table, and the JSON and CSV that it exports."""

from __future__ import annotations

from optrack.metrics.output import Output, Parsed, Parser, last_of, nothing
from optrack.metrics.perf_statistics import csv_readings, document_readings, is_export, table_readings

NAME = "genai-perf"


def _csv(output: Output) -> bool:
    return output.text.lstrip().startswith(("Metric,avg,", "Metric,Value"))


def recognises(output: Output) -> bool:
    """Whether the output is an export or a table of GenAI-Perf."""
    return "GenAI-Perf" in output.text or _csv(output) or any(map(is_export, output.documents))


def parse(output: Output) -> Parsed:
    """Return each metric's statistics, `avg_time_to_first_token_ms`, `output_token_throughput`."""
    exports = [document_readings(document) for document in output.documents if is_export(document)]
    if exports:
        return last_of(NAME, exports, "exports in this pass")
    readings = csv_readings(output) if _csv(output) else table_readings(output)
    return Parsed(tool=NAME, readings=readings) if readings else nothing(NAME, "the table has no rows")


PARSER = Parser(
    name=NAME,
    source="triton-inference-server/perf_analyzer: genai-perf/genai_perf/export_data",
    recognises=recognises,
    parse=parse,
    whole_file=True,
)

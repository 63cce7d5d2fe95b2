"""pyperf: the line it prints, and the JSON it saves."""

from __future__ import annotations

import re
import statistics
from typing import Any

from optrack.metrics.output import Output, Parsed, Parser, nothing, number, numeric, readings_of, slug

NAME = "pyperf"
_LINE = re.compile(
    r"^(?:(?P<name>.+): )?Mean \+- std dev: (?P<mean>[\d.,]+) (?P<unit>sec|ms|us|ns)"
    r" \+- (?P<dev>[\d.,]+) (?P<devunit>sec|ms|us|ns)",
    re.MULTILINE,
)
_SECONDS = {"sec": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def _report(document: Any) -> bool:
    return (
        isinstance(document, dict)
        and isinstance(document.get("benchmarks"), list)
        and any(isinstance(b, dict) and isinstance(b.get("runs"), list) for b in document["benchmarks"])
    )


def _from_report(report: dict[str, Any]) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    benchmarks = [b for b in report["benchmarks"] if isinstance(b, dict)]
    for benchmark in benchmarks:
        runs = [run for run in benchmark.get("runs", []) if isinstance(run, dict)]
        values = [v for run in runs for x in run.get("values") or [] if (v := numeric(x)) is not None]
        metadata = benchmark.get("metadata") or report.get("metadata") or {}
        name = slug(str(metadata.get("name", ""))) if isinstance(metadata, dict) else ""
        if values:
            prefix = f"{name}_" if len(benchmarks) > 1 and name else ""
            found[f"{prefix}mean_s"] = statistics.fmean(values)
            found[f"{prefix}stddev_s"] = statistics.stdev(values) if len(values) > 1 else None
    return found


def parse(output: Output) -> Parsed:
    """Return mean and standard deviation in seconds; pyperf's own warning of an unstable result is a note."""
    reports = [document for document in output.objects if _report(document)]
    values = _from_report(reports[-1]) if reports else {}
    lines = list(_LINE.finditer(output.text))
    for match in lines if not values else []:
        prefix = f"{slug(match['name'])}_" if match["name"] and len(lines) > 1 else ""
        values[f"{prefix}mean_s"] = (number(match["mean"]) or 0.0) * _SECONDS[match["unit"]]
        values[f"{prefix}stddev_s"] = (number(match["dev"]) or 0.0) * _SECONDS[match["devunit"]]
    if not values:
        return nothing(NAME, "no result")
    unstable = "the benchmark result may be unstable" in output.text
    notes = ("pyperf warns: the result may be unstable",) if unstable else ()
    return Parsed(tool=NAME, readings=readings_of(values), notes=notes)


PARSER = Parser(
    name=NAME,
    source="psf/pyperf: pyperf/_cli.py (format_benchmark), pyperf/_bench.py (JSON)",
    recognises=lambda output: bool(_LINE.search(output.text)) or any(map(_report, output.objects)),
    parse=parse,
    whole_file=True,
)

"""MLPerf: the summary that LoadGen writes, and the log of MLPerf Tiny's runner."""

from __future__ import annotations

import re

from optrack.metrics.output import Output, Parsed, Parser, nothing, number, readings_of, slug

NAME = "mlperf-loadgen"
_HEAD = "MLPerf Results Summary"
_ROW = re.compile(r"^\s*(?P<label>[^:\n]+?)\s*:\s*(?P<value>[-\d.,eE+]+)\s*$", re.MULTILINE)
_RESULT = re.compile(r"^Result is\s*:\s*(VALID|INVALID)", re.MULTILINE)
_REASON = re.compile(r"^\s*(?:\*\s*)?(.+? satisfied\s*:\s*NO)\s*$", re.MULTILINE | re.IGNORECASE)
_MEDIAN = re.compile(r"Median throughput is\s+([\d.,]+) inf\./sec")
_WINDOW = re.compile(r"Throughput\s*:\s*([\d.,]+) inf\./sec")
_UNMET = re.compile(
    r"Runtime requirements have NOT been met.*|Runtime requirements .*not.* met.*", re.IGNORECASE
)
_PARAMETERS = "Test Parameters Used"


def _metric(label: str) -> str:
    """Return `p99_latency_ns` for `99.00 percentile latency (ns)`, `samples_per_second` for that label."""
    percentile = re.match(r"([\d.]+) percentile (.*)", label)
    if percentile:
        rank = percentile[1].rstrip("0").rstrip(".").replace(".", "_")
        label = f"p{rank} {percentile[2]}"
    return slug(label)


def _summary(text: str) -> Parsed:
    start = text.rfind(_HEAD)
    body = text[start:].split(_PARAMETERS)[0]
    values = {_metric(m["label"]): number(m["value"]) for m in _ROW.finditer(body)}
    result = _RESULT.search(body)
    why = None
    if result is None:
        why = "the summary has no result line: it is cut off"
    elif result[1] == "INVALID":
        reasons = [" ".join(reason.split()) for reason in _REASON.findall(body)]
        why = f"LoadGen says INVALID ({'; '.join(reasons) or 'no reason given'})"
    return Parsed(tool=NAME, readings=readings_of(values), invalid=why)


def _tiny(text: str) -> Parsed:
    median = number(_MEDIAN.findall(text)[-1])
    windows = [w for w in map(number, _WINDOW.findall(text)) if w is not None]
    values = {"median_throughput": median, "min_throughput": min(windows, default=None)}
    unmet = _UNMET.search(text)
    readings = readings_of(values, dict.fromkeys(values, "inf/s"))
    return Parsed(tool=NAME, readings=readings, invalid=unmet[0] if unmet else None)


def parse(output: Output) -> Parsed:
    """Return the summary's figures; a run that LoadGen calls INVALID is invalid here."""
    if _HEAD in output.text:
        return _summary(output.text)
    if _MEDIAN.search(output.text):
        return _tiny(output.text)
    return nothing(NAME, "no results summary")


PARSER = Parser(
    name=NAME,
    source="mlcommons/inference: loadgen/results.cc; eembc/energyrunner (ulp-mlperf log)",
    recognises=lambda output: _HEAD in output.text or bool(_MEDIAN.search(output.text)),
    parse=parse,
    aliases=("mlperf", "loadgen"),
)

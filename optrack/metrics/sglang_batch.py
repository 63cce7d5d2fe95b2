"""SGLang's batch benchmarks: `bench_one_batch`, `bench_one_batch_server`, `bench_offline_throughput`."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from optrack.metrics.output import Output, Parsed, Parser, last_of, nothing, number, numeric, readings_of
from optrack.metrics.requests import checked
from optrack.metrics.serving_table import tables
from optrack.metrics.tool import JsonTool, work_of
from optrack.model.metrics import Reading

ONE_BATCH = "sglang.bench_one_batch"
OFFLINE = "sglang.bench_offline_throughput"
_SETTINGS = frozenset({"batch_size", "input_len", "output_len"})
_TIMES = ("latency", "last_ttft", "prefill_latency", "median_decode_latency", "total_latency")
_SECONDS = dict.fromkeys(_TIMES, "s")
_PHASES = {
    "prefill": ("prefill_latency", "prefill_throughput"),
    "decode": ("median_decode_latency", "median_decode_throughput"),
    "total": ("total_latency", "overall_throughput"),
}
_PHASE = re.compile(
    r"(?P<phase>Prefill|Decode|Total)\.\s+(?:median )?latency:\s*(?P<latency>[\d.]+) s,"
    r"\s*(?:median )?throughput:\s*(?P<rate>[\d.,]+) token/s"
)
_SECTION = re.compile(r"^(Warmup|Benchmark) \.\.\.", re.MULTILINE)
_SERVER_LINE = re.compile(
    r"^(?P<label>latency|(?:input|output|last generation|\(input \+ output\)) throughput|last_ttft|ttft|"
    r"acc_length|accept length):\s*(?P<value>[-\d.,]+)",
    re.MULTILINE,
)
_SERVER_NAMES = {
    "latency": "latency",
    "input throughput": "input_throughput",
    "output throughput": "output_throughput",
    "(input + output) throughput": "overall_throughput",
    "last generation throughput": "last_gen_throughput",
    "last_ttft": "last_ttft",
    "ttft": "last_ttft",
    "acc_length": "acc_length",
    "accept length": "acc_length",
}


def _row(document: Any) -> bool:
    return isinstance(document, dict) and {"run_name", "batch_size", "output_len"} <= document.keys()


def _case(row: dict[str, Any]) -> str:
    return f"bs{row.get('batch_size')}_in{row.get('input_len')}_out{row.get('output_len')}"


def _values(row: dict[str, Any]) -> dict[str, float | None]:
    values = {k: numeric(v) for k, v in row.items() if k not in _SETTINGS and not isinstance(v, str)}
    if (values.get("acc_length") or 0) < 0:
        values["acc_length"] = None
    return values


def _from_rows(rows: list[dict[str, Any]], *, torn: bool) -> Parsed:
    """Return the readings of the last case; of several cases, also those of each under its own names."""
    cases = {_case(row): _values(row) for row in rows}
    last = _values(rows[-1])
    readings = readings_of(last, _SECONDS)
    notes: tuple[str, ...] = ()
    if len(cases) > 1:
        notes = (f"{len(cases)} cases ({', '.join(cases)}); names without a case are those of the last",)
        for case, values in cases.items():
            units = {f"{name}_{case}": unit for name, unit in _SECONDS.items()}
            readings += readings_of({f"{name}_{case}": value for name, value in values.items()}, units)
    return Parsed(
        tool=ONE_BATCH,
        readings=readings,
        notes=notes,
        invalid="the last result line is cut off" if torn else None,
        settings=work_of(rows[-1]),
    )


def _sections(text: str) -> list[tuple[Reading, ...]]:
    starts = [match.end() for match in _SECTION.finditer(text) if match[1] == "Benchmark"]
    if not starts and _SECTION.search(text):
        return []
    pieces = [text[a:b] for a, b in pairwise([*starts, len(text)])] if starts else [text]
    found = []
    for piece in pieces:
        values: dict[str, float | None] = {}
        for match in _PHASE.finditer(piece):
            latency, rate = _PHASES[match["phase"].casefold()]
            values |= {latency: number(match["latency"]), rate: number(match["rate"])}
        if values:
            found.append(readings_of(values, _SECONDS))
    return found


def _server_text(text: str) -> tuple[Reading, ...]:
    values = {_SERVER_NAMES[m["label"]]: number(m["value"]) for m in _SERVER_LINE.finditer(text)}
    if (values.get("acc_length") or 0) < 0:
        del values["acc_length"]
    return readings_of(values, _SECONDS)


def _parse_one_batch(output: Output) -> Parsed:
    rows = [document for document in output.objects if _row(document)]
    if rows:
        return _from_rows(rows, torn=output.torn)
    sections = _sections(output.text)
    if sections:
        return last_of(ONE_BATCH, sections, "benchmark sections in this pass")
    server = _server_text(output.text)
    if server:
        return Parsed(tool=ONE_BATCH, readings=server)
    return nothing(ONE_BATCH, "no result line and no benchmark section")


def _recognises_one_batch(output: Output) -> bool:
    if any(_row(document) for document in output.objects) or _PHASE.search(output.text):
        return True
    return {"latency", "output_throughput"} <= {r.metric.name for r in _server_text(output.text)}


def _offline(document: Any) -> bool:
    return isinstance(document, dict) and {"successful_requests", "total_throughput"} <= document.keys()


def _offline_readings(row: dict[str, Any]) -> tuple[Reading, ...]:
    return readings_of({k: numeric(v) for k, v in row.items() if not isinstance(v, str)}, _SECONDS)


def _offline_text(output: Output) -> Parsed | None:
    if "Offline Throughput Benchmark Result" not in output.text:
        return None
    found = [readings_of(table.values) for table in tables(output)]
    return checked(last_of(OFFLINE, found, "result tables")) if found else None


def _offline_why(row: dict[str, Any], parsed: Parsed) -> str | None:
    return "no request was completed" if parsed.value("successful_requests") == 0 else None


PARSERS = (
    JsonTool(
        name=OFFLINE,
        source="sgl-project/sglang: python/sglang/benchmark/offline_throughput.py",
        is_report=_offline,
        readings=_offline_readings,
        why=_offline_why,
        text=_offline_text,
        aliases=("bench_offline_throughput",),
        names=(
            "successful_requests total_latency total_input_tokens total_output_tokens request_throughput "
            "input_throughput output_throughput total_throughput last_gen_throughput"
        ).split(),
    ).parser(),
    Parser(
        name=ONE_BATCH,
        source="sgl-project/sglang: python/sglang/benchmark/one_batch.py, one_batch_server.py",
        recognises=_recognises_one_batch,
        parse=_parse_one_batch,
        aliases=("sglang.bench_one_batch_server", "bench_one_batch", "bench_one_batch_server"),
        names=frozenset(
            (
                "latency last_ttft prefill_latency prefill_throughput median_decode_latency "
                "median_decode_throughput total_latency overall_throughput input_throughput output_throughput "
                "last_gen_throughput acc_length"
            ).split()
        ),
    ),
)

"""Benchmarks without clients: SGLang's batches, vLLM's throughput and latency, TensorRT-LLM's `trtllm-bench`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from optrack.metrics.output import Amount, Output, Parsed, Setting, Values, last_of, number, numeric, slug
from optrack.metrics.requests import checked
from optrack.metrics.serving_table import tables
from optrack.metrics.tool import Printed, Report, Row, numbers, setting_of, tool, work_of
from optrack.model.metrics import unit_of

_RATE = r"(?P<value>[\d.,]+)"
_CASE = frozenset({"run_name", "batch_size", "output_len"})
_SETTINGS = frozenset({"batch_size", "input_len", "output_len"})
_SECONDS = ("latency", "last_ttft", "prefill_latency", "median_decode_latency", "total_latency")
_PHASES: tuple[Row, ...] = tuple(
    (rf"{phase}\.\s+(?:median )?{what}", name, unit)
    for phase, latency, throughput in (
        ("Prefill", "prefill_latency", "prefill_throughput"),
        ("Decode", "median_decode_latency", "median_decode_throughput"),
        ("Total", "total_latency", "overall_throughput"),
    )
    for what, name, unit in (
        (rf"latency:\s*{_RATE} s,\s*(?:median )?throughput:", latency, "s"),
        (rf"latency:\s*[\d.]+ s,\s*(?:median )?throughput:\s*{_RATE} token/s", throughput, None),
    )
)
_SECTION = re.compile(r"^(Warmup|Benchmark) \.\.\.", re.MULTILINE)
_OF_SECTIONS = Printed(r"^Benchmark \.\.\.", _PHASES)
_OF_A_SERVER = Printed(
    r"\A",
    (
        (rf"^latency:\s*{_RATE}", "latency", "s"),
        (rf"^input throughput:\s*{_RATE}", "input_throughput", None),
        (rf"^output throughput:\s*{_RATE}", "output_throughput", None),
        (rf"^\(input \+ output\) throughput:\s*{_RATE}", "overall_throughput", None),
        (rf"^last generation throughput:\s*{_RATE}", "last_gen_throughput", None),
        (rf"^(?:last_)?ttft:\s*{_RATE}", "last_ttft", "s"),
        (rf"^(?:acc_length|accept length):\s*{_RATE}", "acc_length", None),
    ),
)


def _case_values(row: Report, case: str = "") -> Values:
    """Return a case's numbers, by names that end with it; a negative accepted length was not measured."""
    values = {k: v for k, v in numbers(row).items() if k not in _SETTINGS}
    if (values.get("acc_length") or 0) < 0:
        values["acc_length"] = None
    return {f"{k}{case}": (v, "s" if k in _SECONDS else None) for k, v in values.items()}


def _cases(output: Output) -> Parsed | None:
    """Return the last case of JSON lines; of several cases, also each under its own names."""
    rows = [document for document in output.objects if document.keys() >= _CASE]
    if not rows:
        return None
    cases = {f"bs{r['batch_size']}_in{r.get('input_len')}_out{r['output_len']}": r for r in rows}
    values: dict[str, Amount] = dict(_case_values(rows[-1]))
    notes: tuple[str, ...] = ()
    if len(cases) > 1:
        notes = (f"{len(cases)} cases ({', '.join(cases)}); names without a case are those of the last",)
        for case, row in cases.items():
            values |= _case_values(row, f"_{case}")
    parsed = last_of([values], "").but(notes=notes, settings=work_of(rows[-1]))
    return parsed.because("the last result line is cut off" if output.torn else None)


def _one_batch(output: Output) -> Parsed | None:
    parsed = _cases(output) or _OF_SECTIONS(output)
    if parsed is None and _SECTION.search(output.text) is None and (values := _phases(output)):
        parsed = last_of([values], "")
    return parsed or _of_a_server(output, least={"latency", "output_throughput"})


def _phases(output: Output) -> dict[str, Amount]:
    return _OF_SECTIONS.values(output.text)


def _of_a_server(output: Output, least: set[str] | None = None) -> Parsed | None:
    parsed = _OF_A_SERVER(output)
    return (
        parsed
        if parsed is not None and (least or set()) <= {r.metric.name for r in parsed.readings}
        else None
    )


def _offline_text(output: Output) -> Parsed | None:
    found = tables(output) if "Offline Throughput Benchmark Result" in output.text else []
    return checked(last_of([table.values for table in found], "result tables")) if found else None


def _latency(report: Report) -> Values:
    percentiles = {f"p{k}_latency": (numeric(v), "s") for k, v in report["percentiles"].items()}
    return {"avg_latency": (numeric(report["avg_latency"]), "s"), **percentiles}


_STATISTICS = {"MINIMUM": "min", "MAXIMUM": "max", "AVERAGE": "average"}
_OVERVIEW_ROW = re.compile(
    r"^(?:\[[^\]]*\]\s*)*(?P<label>[A-Za-z].*?)(?:\s*\((?P<unit>[^()]*)\))?\s*:\s*(?P<value>[-\d.,eE+]+)\s*$"
)
_BREAKDOWN = re.compile(
    r"\[(?P<what>[A-Z]+)\]\s+(?P<stat>MINIMUM|MAXIMUM|AVERAGE|P\d+(?:\.\d+)?)\s*:\s*(?P<value>[\d.,]+)"
)
_DETAIL = re.compile(
    r"^(?P<name>Number of requests|Number of concurrent requests|Average Input Length|Average Output Length"
    r"|Issue Rate|Max Runtime Batch Size|Max Runtime Tokens|Model|Dtype|TP Size|PP Size)[^:\n]{0,40}:\s*(?P<value>\S+)",
    re.MULTILINE,
)


def _overview(output: Output) -> Parsed | None:
    """Return what TensorRT-LLM's last performance overview says: `average_ttft_ms`, `p99_tpot_ms`."""
    head = output.text.rfind("PERFORMANCE OVERVIEW")
    if head < 0:
        return None
    values: dict[str, Amount] = {}
    for line in output.text[head:].splitlines():
        if (breakdown := _BREAKDOWN.search(line)) is not None:
            statistic = _STATISTICS.get(breakdown["stat"], breakdown["stat"].casefold())
            values[f"{statistic}_{breakdown['what'].casefold()}_ms"] = number(breakdown["value"]), "ms"
        elif (row := _OVERVIEW_ROW.match(line)) is not None and row["unit"]:
            name, unit = _named(row["label"], row["unit"].strip())
            values[name] = number(row["value"]), unit
    settings = {slug(m["name"]): setting_of(m["value"]) for m in _DETAIL.finditer(output.text)}
    parsed = last_of([values], "").but(settings=settings)
    return parsed.because(None if values else "the performance overview is empty")


def _named(label: str, unit: str) -> tuple[str, str]:
    """Return metric and unit of a row: `average_ttft_ms` for `Average time-to-first-token [TTFT] (ms)`."""
    if "[w/ ctx]" not in label and "[1/TPOT]" not in label:
        label = re.sub(r"time-to-first-token(?:\s*\[TTFT\])?", "TTFT", label, flags=re.IGNORECASE)
        label = re.sub(r"time-per-output-token(?:\s*\[TPOT\])?", "TPOT", label, flags=re.IGNORECASE)
    name = slug(re.sub(r"\[[^\]]*\]", " ", label))
    return (f"{name}_ms", "ms") if unit == "ms" else (name, unit_of(unit) or unit.replace("tps", "tok/s"))


def _parts(report: Report, *names: str) -> list[dict[str, Any]]:
    return [report[name] for name in names if isinstance(report.get(name), dict)]


def _flat(document: Mapping[str, Any], prefix: str = "") -> dict[str, Amount]:
    values: dict[str, Amount] = {}
    for key, value in document.items():
        if isinstance(value, dict):
            values |= _flat(value, f"{prefix}{key}_")
        elif (amount := numeric(value)) is not None:
            values[slug(f"{prefix}{key}")] = amount
    return values


def _trtllm(report: Report) -> Values:
    return {
        k: v for part in _parts(report, "performance", "streaming_metrics") for k, v in _flat(part).items()
    }


def _trtllm_settings(report: Report) -> dict[str, Setting]:
    parts = _parts(report, "engine", "world_info", "request_info")
    return {k: v for part in parts for k, v in work_of(part).items()}


SGLANG = (
    tool(
        "sglang.bench_offline_throughput",
        "sgl-project/sglang: python/sglang/benchmark/offline_throughput.py",
        keys="successful_requests total_throughput",
        readings=lambda report: {k: (v, "s" if k in _SECONDS else None) for k, v in numbers(report).items()},
        why=lambda _, parsed: (
            "no request was completed" if parsed.value("successful_requests") == 0 else None
        ),
        text=_offline_text,
        aliases=("bench_offline_throughput",),
        names=(
            "successful_requests total_latency total_input_tokens total_output_tokens request_throughput "
            "input_throughput output_throughput total_throughput last_gen_throughput"
        ).split(),
    ),
    tool(
        "sglang.bench_one_batch",
        "sgl-project/sglang: python/sglang/benchmark/one_batch.py, one_batch_server.py",
        text=_one_batch,
        otherwise=_of_a_server,
        missing="no result line and no benchmark section",
        aliases=("sglang.bench_one_batch_server", "bench_one_batch", "bench_one_batch_server"),
        names=(
            "latency last_ttft prefill_latency prefill_throughput median_decode_latency "
            "median_decode_throughput total_latency overall_throughput input_throughput output_throughput "
            "last_gen_throughput acc_length"
        ).split(),
    ),
)
OTHERS = (
    tool(
        "vllm.bench_throughput",
        "vllm-project/vllm: vllm/benchmarks/throughput.py",
        keys="requests_per_second tokens_per_second",
        readings=lambda report: {
            k: (v, "s" if k == "elapsed_time" else None) for k, v in numbers(report).items()
        },
        text=Printed(
            r"^Throughput: [\d.,]+ requests/s, ",
            (
                (rf"^Throughput: {_RATE} requests/s", "requests_per_second", None),
                (rf"^Throughput: \S+ requests/s, {_RATE} (?:total )?tokens/s", "tokens_per_second", None),
                (
                    rf"^Throughput: .{{1,80}} tokens/s, {_RATE} output tokens/s",
                    "output_tokens_per_second",
                    None,
                ),
            ),
        ),
        names=(
            "elapsed_time num_requests total_num_tokens requests_per_second tokens_per_second output_tokens_per_second"
        ).split(),
    ),
    tool(
        "vllm.bench_latency",
        "vllm-project/vllm: vllm/benchmarks/latency.py",
        is_report=lambda report: "avg_latency" in report and isinstance(report.get("percentiles"), dict),
        readings=_latency,
        text=Printed(
            r"^Avg latency: ",
            (
                (rf"^Avg latency: {_RATE} seconds", "avg_latency", "s"),
                (rf"^(?P<key>\d+)% percentile latency: {_RATE} seconds", "p{key}_latency", "s"),
            ),
        ),
        names=("avg_latency", *(f"p{n}_latency" for n in (10, 25, 50, 75, 90, 99))),
    ),
    tool(
        "trtllm-bench",
        "NVIDIA/TensorRT-LLM: tensorrt_llm/bench/dataclasses/reporting.py",
        is_report=lambda report: isinstance(report.get("performance"), dict) and "engine" in report,
        readings=_trtllm,
        settings=_trtllm_settings,
        text=_overview,
        aliases=("trtllm", "tensorrt-llm"),
    ),
)

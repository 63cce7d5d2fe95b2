"""Compares what the parsers read from a folder of real outputs with the right values in its expected.json.

Run by hand: `python tests/parsers/score.py FOLDER`. Prints one line a file; exit code 1 if a value is wrong.
Files of the kinds that no parser is for (plans, todo lists) are left out.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from optrack.metrics.collectives import nccl_rows
from optrack.metrics.output import Output, Parsed
from optrack.metrics.read import parse_output
from optrack.metrics.serving_table import metric_of
from optrack.model.metrics import Reading
from optrack.model.recipe_parts import MetricRule

Check = tuple[str, Any, Any]
"""What is compared, the right value, and the value that was read."""


def _values(readings: tuple[Reading, ...]) -> dict[str, float]:
    return {reading.metric.name: reading.value for reading in readings}


def _results(parsed: Parsed) -> list[dict[str, float]]:
    return [_values(earlier) for earlier in parsed.earlier] + [_values(parsed.readings)]


def _rows(expected: dict[str, Any], parsed: Parsed, data: bytes) -> Iterator[Check]:
    results = _results(parsed)
    yield "rows", expected["n_rows"], len(results)
    yield (
        "every output_throughput",
        expected["all_output_throughput"],
        [r["output_throughput"] for r in results],
    )
    for name, value in expected["last_row"].items():
        if name not in ("request_rate", "max_concurrency"):
            yield name, value, results[-1].get(name)


def _blocks(expected: dict[str, Any], parsed: Parsed, data: bytes) -> Iterator[Check]:
    results = _results(parsed) if parsed.readings else []
    yield "blocks", expected["n_result_blocks"], len(results)
    for block, result in zip(expected["blocks"], results, strict=False):
        for label, value in block.items():
            name = metric_of(label) or label
            nothing_served = block.get("Successful requests") == 0 and name not in (
                "completed",
                "failed",
                "duration",
            )
            yield label, None if nothing_served else value, result.get(name)
    if expected["n_result_blocks"] == 0 or expected["blocks"][-1].get("Successful requests") == 0:
        yield "counts as a measurement", False, parsed.invalid is None


def _one_batch(expected: dict[str, Any], parsed: Parsed, data: bytes) -> Iterator[Check]:
    names = {
        "prefill_latency_s": "prefill_latency",
        "prefill_throughput": "prefill_throughput",
        "decode_median_latency_s": "median_decode_latency",
        "decode_median_throughput": "median_decode_throughput",
        "total_latency_s": "total_latency",
        "total_throughput": "overall_throughput",
    }
    yield from ((key, expected[key], parsed.value(name)) for key, name in names.items())


def _sglang_log(expected: dict[str, Any], parsed: Parsed, data: bytes) -> Iterator[Check]:
    if "decode_lines" not in expected:
        yield "became ready", expected["ready"], "the server became ready" in parsed.notes
        return
    yield "decode lines", expected["decode_lines"], parsed.value("decode_lines") or 0
    yield "accept len, mean", expected["accept_len"]["mean"], parsed.value("accept_len")
    yield "accept len, last", expected["accept_len"]["last"], parsed.value("accept_len_last")
    yield "gen throughput, max", expected["gen_throughput"]["max"], parsed.value("gen_throughput_max")
    yield "gen throughput, last", expected["gen_throughput"]["last"], parsed.value("gen_throughput_last")
    yield "became ready", expected["ready_line"], "the server became ready" in parsed.notes
    yield "port open", expected["uvicorn_up"], "its HTTP port was open" in parsed.notes


def _vllm_log(expected: dict[str, Any], parsed: Parsed, data: bytes) -> Iterator[Check]:
    yield "became ready", expected["ready"], "the server became ready" in parsed.notes
    yield "acceptance lines", expected["acceptance_n"], parsed.value("acceptance_lines") or 0
    yield "acceptance, last", expected["acceptance_last"], parsed.value("mean_acceptance_length_last")
    yield "generation, max", expected["gen_tput_max"], parsed.value("generation_throughput_max")
    yield "engine died", expected["EngineDeadError"], "engine died" in (parsed.invalid or "")


def _inferencex(expected: dict[str, Any], parsed: Parsed, data: bytes) -> Iterator[Check]:
    for name in ("completed", "output_throughput", "median_ttft", "median_tpot", "median_tpot_ms"):
        yield name, expected[name], parsed.value(name)


def _by_path(expected: dict[str, Any], parsed: Parsed, data: bytes) -> Iterator[Check]:
    for scenario, concurrency, value in expected["gesamt_tps"]:
        path = f"laeufe[?szenario=='{scenario}' && concurrency==`{concurrency}`].gesamt_tps"
        rules = {"gesamt_tps": MetricRule(json_path=path)}
        yield f"{scenario} {concurrency}", value, parse_output("rules", data, rules=rules).value("gesamt_tps")


def _all_failed(expected: dict[str, Any], parsed: Parsed, data: bytes) -> Iterator[Check]:
    yield "counts as a measurement", False, parsed.invalid is None


def _nccl(expected: dict[str, Any], parsed: Parsed, data: bytes) -> Iterator[Check]:
    last = expected["last_row"]
    yield "rows", expected["rows"], len(nccl_rows(Output(data))[-1])
    for name, key in (("time_us", "time_us_oop"), ("algbw", "algbw_oop"), ("busbw", "busbw_oop")):
        yield name, float(last[key]), parsed.value(name)
    yield "busbw in place", float(last["busbw_ip"]), parsed.value("busbw_in_place")
    yield "largest busbw", expected["max_busbw_oop"], parsed.value("max_busbw")
    yield "average busbw", float(expected["avg_bus_bandwidth"][0]), parsed.value("avg_busbw")


def _llama(expected: Any, parsed: Parsed, data: bytes) -> Iterator[Check]:
    if isinstance(expected, list):
        for row in expected:
            depth = f"_d{row['n_depth']}" if row["n_depth"] else ""
            yield f"tg128{depth}", row["avg_ts"], parsed.value(f"tg{row['n_gen']}{depth}_tok_s")
        return
    for test, (speed, deviation) in expected.get("rows", {}).items():
        yield test, speed, parsed.value(f"{test}_tok_s")
        yield f"{test} ±", deviation, parsed.value(f"std_{test}_tok_s")
    if not expected.get("rows"):
        yield "counts as a measurement", False, parsed.invalid is None


def _genai_perf(expected: dict[str, Any], parsed: Parsed, data: bytes) -> Iterator[Check]:
    names = ("avg_time_to_first_token_ms", "output_token_throughput", "request_throughput")
    yield from (
        (name, value, parsed.value(name)) for name, value in zip(names, expected.values(), strict=True)
    )


def _guidellm(expected: list[dict[str, Any]], parsed: Parsed, data: bytes) -> Iterator[Check]:
    for benchmark, suffix in zip(expected, ("_rate_2", "_rate_4"), strict=True):
        yield from ((f"{k}{suffix}", v, parsed.value(f"{k}{suffix}")) for k, v in benchmark.items())


def _hyperfine(expected: list[dict[str, Any]], parsed: Parsed, data: bytes) -> Iterator[Check]:
    means = [r.value for r in parsed.readings if r.metric.name.endswith("mean_s")]
    deviations = [r.value for r in parsed.readings if r.metric.name.endswith("stddev_s")]
    yield "means", [row["mean_s"] for row in expected], means
    yield "deviations", [row["stddev"] for row in expected], deviations


def _pytest(expected: Any, parsed: Parsed, data: bytes) -> Iterator[Check]:
    if isinstance(expected, dict):
        yield "read something", True, bool(parsed.readings)
        return
    for key, suffix in (("mean", "_mean_s"), ("median", "_median_s"), ("rounds", "_rounds")):
        found = [r.value for r in parsed.readings if r.metric.name.endswith(suffix)]
        yield key, [row[key] for row in expected], found


def _trtllm(expected: dict[str, Any], parsed: Parsed, data: bytes) -> Iterator[Check]:
    names = {
        "Request Throughput (req/sec)": "request_throughput",
        "Total Output Throughput (tokens/sec)": "total_output_throughput",
        "TTFT ms": "average_ttft_ms",
        "TPOT ms": "average_tpot_ms",
    }
    yield from ((label, value, parsed.value(names[label])) for label, value in expected.items())


def _mlperf(expected: dict[str, Any], parsed: Parsed, data: bytes) -> Iterator[Check]:
    yield "median", float(expected["median_throughput"][0]), parsed.value("median_throughput")


def _tsv(expected: dict[str, Any], parsed: Parsed, data: bytes) -> Iterator[Check]:
    yield "rows", expected["data_rows"], len(_results(parsed))


_CHECKS: dict[str, Callable[[Any, Parsed, bytes], Iterator[Check]]] = {
    "sglang_log": _sglang_log,
    "vllm_log": _vllm_log,
    "nccl": _nccl,
    "llama_bench": _llama,
    "hyperfine": _hyperfine,
    "pytest_benchmark": _pytest,
    "trtllm": _trtllm,
    "mlperf": _mlperf,
    "autoresearch_tsv": _tsv,
}
_BY_SHAPE: dict[str, Callable[[Any, Parsed, bytes], Iterator[Check]]] = {
    "n_rows": _rows,
    "n_result_blocks": _blocks,
    "prefill_latency_s": _one_batch,
    "median_ttft": _inferencex,
    "gesamt_tps": _by_path,
    "top_keys": _all_failed,
    "Time to first token (ms) avg": _genai_perf,
}


def checks(name: str, expected: Any, parsed: Parsed, data: bytes) -> list[Check] | None:
    """Return the comparisons for one file, or None if no parser is for files of its kind."""
    for key, check in _BY_SHAPE.items():
        if isinstance(expected, dict) and key in expected:
            return list(check(expected, parsed, data))
    folder = name.split("/", 1)[0]
    if folder == "genai_tools" and isinstance(expected, list):
        return list(_guidellm(expected, parsed, data))
    return list(_CHECKS[folder](expected, parsed, data)) if folder in _CHECKS else None


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def right(expected: Any, found: Any) -> bool:
    """Whether a value that was read is the right one, to the digits that the right one has."""
    if isinstance(expected, list) and isinstance(found, list):
        return len(expected) == len(found) and all(map(right, expected, found))
    if isinstance(expected, float) and isinstance(found, float):
        return math.isclose(expected, found, rel_tol=1e-4, abs_tol=1e-12)
    return bool(expected == found)


def main(folder: Path) -> int:
    """Print the table for `folder`; return 1 if any value is wrong."""
    wrong = total = 0
    for name, expected in json.loads((folder / "expected.json").read_text()).items():
        if not (folder / name).is_file():
            continue
        data = (folder / name).read_bytes()
        parsed = parse_output("auto", data)
        compared = checks(name, expected, parsed, data)
        if compared is None:
            continue
        bad = [check for check in compared if not right(check[1], check[2])]
        total, wrong = total + len(compared), wrong + len(bad)
        counts = f"{len(compared) - len(bad)}/{len(compared)}"
        state = "wrong" if bad else "right"
        _say(f"{state}  {name:52} {parsed.tool:24} {counts:6} {parsed.invalid or ''}"[:180])
        for what, expected_value, found in bad:
            _say(f"         {what}: expected {expected_value}, read {found}")
    _say(f"{total - wrong} of {total} values are right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

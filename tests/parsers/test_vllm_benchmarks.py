"""vLLM's benchmarks, and InferenceX, which writes the same figures in seconds."""

from __future__ import annotations

import json
from typing import Any

from optrack.metrics.read import parse_output
from tests.parsers.samples import serving_table


def _result(**changes: Any) -> bytes:
    result = {
        "date": "20260301",
        "backend": "openai",
        "model_id": "m",
        "num_prompts": 50,
        "request_rate": "inf",
        "duration": 10.0,
        "completed": 50,
        "failed": 0,
        "request_throughput": 5.0,
        "request_goodput:": None,
        "output_throughput": 640.0,
        "mean_ttft_ms": 12.5,
        "median_tpot_ms": 7.5,
    }
    return json.dumps(result | changes).encode()


def test_a_saved_result_gives_its_metrics() -> None:
    parsed = parse_output("auto", _result())
    assert (parsed.tool, parsed.invalid) == ("vllm.bench_serve", None)
    assert parsed.value("output_throughput") == 640.0
    assert parsed.value("median_tpot_ms") == 7.5


def test_a_key_with_a_stray_colon_is_the_metric_it_means() -> None:
    assert parse_output("auto", _result(**{"request_goodput:": 4.5})).value("request_goodput") == 4.5


def test_results_appended_to_one_file_are_read_one_by_one() -> None:
    parsed = parse_output("auto", _result(output_throughput=600.0) + b"\n" + _result())
    assert (parsed.value("output_throughput"), len(parsed.earlier)) == (640.0, 1)


def test_a_list_of_results_is_read_as_its_results() -> None:
    data = b"[" + _result(output_throughput=600.0) + b"," + _result() + b"]"
    assert (
        parse_output("auto", data).value("output_throughput"),
        len(parse_output("auto", data).earlier),
    ) == (640.0, 1)


def test_all_requests_failed_is_no_measurement_and_its_zeros_are_no_readings() -> None:
    text = serving_table(
        "Successful requests: 0",
        "Failed requests: 200",
        "Benchmark duration (s): 12.5",
        "Output token throughput (tok/s): 0.00",
        "Mean TTFT (ms): 0.00",
        backend=None,
    )
    parsed = parse_output("auto", text.encode())
    assert (parsed.tool, parsed.invalid) == ("vllm.bench_serve", "no request was completed (200 failed)")
    assert {r.metric.name for r in parsed.readings} == {"completed", "failed", "duration"}


def test_a_single_failed_request_is_no_measurement() -> None:
    parsed = parse_output("auto", _result(completed=49, failed=1))
    assert parsed.invalid == "1 of 50 requests failed"


def test_the_total_has_vllms_own_name() -> None:
    text = serving_table("Successful requests: 5", "Total Token throughput (tok/s): 99.5", backend=None)
    assert parse_output("auto", text.encode()).value("total_token_throughput") == 99.5


def test_offline_throughput_and_latency_are_read_from_text_and_json() -> None:
    line = b"Throughput: 12.50 requests/s, 5000.25 total tokens/s, 1600.00 output tokens/s\n"
    printed = parse_output("auto", line)
    assert (printed.tool, printed.value("output_tokens_per_second")) == ("vllm.bench_throughput", 1600.0)
    saved = parse_output(
        "auto", json.dumps({"requests_per_second": 12.5, "tokens_per_second": 5000.0}).encode()
    )
    assert saved.value("requests_per_second") == 12.5
    text = b"Avg latency: 1.25 seconds\n10% percentile latency: 1.2 seconds\n99% percentile latency: 1.5 seconds\n"
    latency = parse_output("auto", text)
    assert (latency.tool, latency.value("avg_latency"), latency.value("p99_latency")) == (
        "vllm.bench_latency",
        1.25,
        1.5,
    )
    document = {"avg_latency": 1.25, "latencies": [1.25], "percentiles": {"99": 1.5}}
    assert parse_output("auto", json.dumps(document).encode()).value("p99_latency") == 1.5


def test_latencies_in_seconds_are_given_in_seconds_and_in_milliseconds() -> None:
    result = {"model_id": "m", "num_prompts": 8, "completed": 8, "output_throughput": 9.0, "median_ttft": 0.5}
    parsed = parse_output("auto", json.dumps(result).encode())
    assert parsed.tool == "inferencex"
    assert (parsed.value("median_ttft"), parsed.value("median_ttft_ms")) == (0.5, 500.0)
    units = {r.metric.name: (r.metric.unit, r.metric.better) for r in parsed.readings}
    assert units["median_ttft"] == ("s", "lower")
    assert units["median_ttft_ms"] == ("ms", "lower")


def test_a_sweeps_table_is_read_row_by_row() -> None:
    text = ",run_number,completed,num_prompts,output_throughput\n0,0,5,5,90.5\n1,1,4,5,95.5\n"
    parsed = parse_output("auto", text.encode())
    assert (parsed.tool, parsed.value("output_throughput"), len(parsed.earlier)) == (
        "vllm.bench_sweep",
        95.5,
        1,
    )
    assert parsed.invalid == "4 of 5 requests were completed"


def test_speculation_in_the_table_has_the_names_of_the_saved_result() -> None:
    text = serving_table(
        "Successful requests: 5", "Acceptance rate (%): 45.5", "Acceptance length: 2.5", backend=None
    )
    parsed = parse_output("auto", text.encode())
    assert parsed.value("spec_decode_acceptance_length") == 2.5
    assert parsed.value("spec_decode_acceptance_rate") == 45.5

"""The other benchmarks: collectives, llama.cpp, NVIDIA's tools, timers, MLPerf, experiment logs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from optrack.metrics.output import Parsed
from optrack.metrics.read import parse_output
from tests.parsers.samples import LLAMA, NCCL


def _json(document: Any) -> Parsed:
    return parse_output("auto", json.dumps(document).encode())


def test_the_bandwidth_of_a_collective_is_that_of_the_largest_size() -> None:
    parsed = parse_output("auto", NCCL.encode())
    assert (parsed.tool, parsed.invalid) == ("nccl-tests", None)
    assert parsed.value("busbw") == 313.15
    assert parsed.value("time_us_in_place") == 6010.0
    assert parsed.value("avg_busbw") == 119.36
    assert parsed.value("time_us_8") == 10.5
    directions = {r.metric.name: (r.metric.unit, r.metric.better) for r in parsed.readings}
    assert directions["busbw"] == ("GB/s", "higher")
    assert directions["time_us_8"] == ("us", "lower")


def test_a_collective_that_gave_wrong_values_is_no_measurement() -> None:
    wrong = NCCL.replace("313.15      0", "313.15      7")
    parsed = parse_output("auto", wrong.encode())
    assert parsed.invalid == "the collective gave wrong values (7)"


def test_lines_of_a_collective_may_have_a_prefix() -> None:
    prefixed = "\n".join(f"[1,0]<stdout>: {line}" for line in NCCL.splitlines())
    assert parse_output("auto", prefixed.encode()).value("busbw") == 313.15


def test_each_test_of_llama_bench_is_a_metric() -> None:
    parsed = parse_output("auto", LLAMA.encode())
    assert (parsed.tool, parsed.invalid) == ("llama-bench", None)
    assert parsed.value("pp512_tok_s") == 12040.5
    assert parsed.value("tg128_d4096_tok_s") == 141.2
    assert parsed.value("std_tg128_d4096_tok_s") == 0.4


@pytest.mark.parametrize("sign", ["±", "Â±", "\udcb1", "+/-"])
def test_the_sign_between_mean_and_deviation_may_have_been_damaged(sign: str) -> None:
    data = LLAMA.replace("±", sign).encode("utf-8", "surrogateescape")
    assert parse_output("auto", data).value("std_pp512_tok_s") == 30.25


def test_settings_in_which_equal_tests_differ_join_the_name() -> None:
    row = "| llama 8B Q4_0        |   4.33 GiB |     8.03 B | CUDA    |  50 |           pp512 |      900.00 ± 1.00 |"
    text = LLAMA.replace("\n\nbuild", f"\n{row}\n\nbuild")
    parsed = parse_output("auto", text.encode())
    assert parsed.value("pp512_tok_s_ngl_99") == 12040.5
    assert parsed.value("pp512_tok_s_ngl_50") == 900.0


def test_a_crash_in_the_table_is_no_measurement() -> None:
    head = "\n".join(LLAMA.splitlines()[:3])
    empty = parse_output("auto", f"{head}\nCUDA error: out of memory\n".encode())
    assert empty.readings == ()
    assert empty.invalid is not None and "CUDA error" in empty.invalid
    partly = parse_output("auto", LLAMA.replace("build:", "CUDA error: illegal address\nbuild:").encode())
    assert partly.value("pp512_tok_s") == 12040.5
    assert partly.invalid is not None


def test_llama_bench_is_read_from_json_lines_and_csv_too() -> None:
    rows = [
        {"n_prompt": 512, "n_gen": 0, "n_depth": 0, "avg_ts": 900.5, "stddev_ts": 1.5},
        {"n_prompt": 0, "n_gen": 128, "n_depth": 1024, "avg_ts": 50.5, "stddev_ts": 0.5},
    ]
    lines = parse_output("auto", "\n".join(map(json.dumps, rows)).encode())
    listed = _json(rows)
    table = "\n".join([",".join(rows[0]), *(",".join(f'"{v}"' for v in row.values()) for row in rows)])
    for parsed in (lines, listed, parse_output("auto", table.encode())):
        assert (parsed.tool, parsed.value("tg128_d1024_tok_s")) == ("llama-bench", 50.5)
        assert parsed.value("pp512_tok_s") == 900.5


PERF = """\
                     NVIDIA AIPerf | LLM Metrics
┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━┳━━━━━━━┓
┃                       Metric ┃      avg ┃   p99 ┃
┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━╇━━━━━━━┩
│     Time to First Token (ms) │ 1,234.50 │ 99.25 │
│      Output Token Throughput │   520.75 │   N/A │
│                 (tokens/sec) │          │       │
│     Request Count (requests) │    64.00 │   N/A │
└──────────────────────────────┴──────────┴───────┘
"""


def test_a_framed_table_is_read_with_separators_and_wrapped_labels() -> None:
    parsed = parse_output("auto", PERF.encode())
    assert (parsed.tool, parsed.invalid) == ("aiperf", None)
    assert parsed.value("avg_time_to_first_token_ms") == 1234.5
    assert parsed.value("p99_time_to_first_token_ms") == 99.25
    assert parsed.value("output_token_throughput") == 520.75
    older = parse_output(
        "auto", PERF.replace("AIPerf", "GenAI-Perf").replace("Metric ┃", "Statistic ┃").encode()
    )
    assert (older.tool, older.value("output_token_throughput")) == ("genai-perf", 520.75)


def test_an_export_gives_each_metrics_statistics() -> None:
    export = {
        "schema_version": "1.0",
        "time_to_first_token": {"unit": "ms", "avg": 20.5, "p50": 20.0, "p99": 30.0, "std": 1.0},
        "output_token_throughput": {"unit": "tokens/sec", "avg": 800.0},
        "request_count": {"unit": "requests", "avg": 64.0},
    }
    parsed = _json(export)
    assert (parsed.tool, parsed.invalid) == ("aiperf", None)
    assert parsed.value("p50_time_to_first_token_ms") == 20.0
    assert parsed.value("output_token_throughput") == 800.0
    assert _json(export | {"was_cancelled": True}).invalid == "the benchmark was cancelled"
    assert _json(export | {"is_complete": False}).invalid == "the benchmark didn't run to its end"
    failed = export | {"error_request_count": {"unit": "requests", "avg": 3}}
    assert _json(failed).invalid == "3 requests failed"


def test_a_statistics_csv_is_read() -> None:
    text = 'Metric,avg,p99\nRequest Latency (ms),"1,500.5",2000\n\nMetric,Value\nRequest Throughput (per sec),2.5\n'
    parsed = parse_output("auto", text.encode())
    assert parsed.value("avg_request_latency_ms") == 1500.5
    assert parsed.value("request_throughput") == 2.5


def _guidellm(rate: float, mean: float, errored: int = 0) -> dict[str, Any]:
    statistics = {"mean": mean, "median": mean, "percentiles": {"p50": mean, "p99": mean * 2}}
    outcomes = {"successful": statistics, "errored": {"mean": 0.0}, "total": {"mean": mean / 2}}
    return {
        "config": {"strategy": {"type_": "constant", "rate": rate}},
        "metrics": {
            "request_totals": {"successful": 5, "errored": errored},
            "time_to_first_token_ms": outcomes,
            "output_tokens_per_second": outcomes,
        },
    }


def test_guidellm_gives_what_successful_requests_saw_at_each_rate() -> None:
    parsed = _json({"metadata": {}, "benchmarks": [_guidellm(2.0, 10.0), _guidellm(4.5, 12.0)]})
    assert (parsed.tool, parsed.invalid) == ("guidellm", None)
    assert parsed.value("time_to_first_token_ms") == parsed.value("time_to_first_token_ms_rate_4_5") == 12.0
    assert parsed.value("time_to_first_token_ms_rate_2") == 10.0
    assert parsed.value("p99_time_to_first_token_ms") == 24.0
    assert _json({"benchmarks": [_guidellm(2.0, 10.0, errored=3)]}).invalid == "3 requests failed"


def test_the_overview_of_trtllm_bench_is_read_in_both_generations() -> None:
    rule = "=" * 59
    text = (
        f"{rule}\n= REQUEST DETAILS\n{rule}\nIssue Rate (req/sec):   1.0526E+15\n"
        f"{rule}\n= PERFORMANCE OVERVIEW\n{rule}\n"
        "Request Throughput (req/sec):                     80.5\n"
        "Total Output Throughput (tokens/sec):             1,100.25\n"
        "Average time-to-first-token [TTFT] (ms):          16.5\n"
        "Per User Output Speed [1/TPOT] (tokens/sec/user): 5.4\n\n"
        "[TPOT] AVERAGE: 7.25\n[TPOT] P99    : 8.5\n"
    )
    parsed = parse_output("auto", text.encode())
    assert parsed.tool == "trtllm-bench"
    assert parsed.value("request_throughput") == 80.5
    assert parsed.value("total_output_throughput") == 1100.25
    assert parsed.value("average_ttft_ms") == 16.5
    assert parsed.value("p99_tpot_ms") == 8.5
    assert parsed.value("issue_rate") is None


def _hyperfine(command: str, mean: float, **more: Any) -> dict[str, Any]:
    return {"command": command, "mean": mean, "median": mean, "stddev": 0.1, "min": mean, "max": mean} | more


def test_hyperfine_names_several_commands_apart() -> None:
    one = _json({"results": [_hyperfine("sleep 1", 1.0, exit_codes=[0])]})
    assert (one.tool, one.invalid, one.value("mean_s")) == ("hyperfine", None, 1.0)
    two = _json({"results": [_hyperfine("sleep 1", 1.0), _hyperfine("sleep 2", 2.0)]})
    assert two.value("sleep_2_mean_s") == 2.0


@pytest.mark.parametrize(
    "result",
    [
        _hyperfine("false", 1.0, exit_codes=[0, 1]),
        _hyperfine("x  [ERROR]", 3e-6, median=0.0),
        _hyperfine("true", 0.0),
    ],
)
def test_a_command_that_failed_or_took_no_time_is_no_measurement(result: dict[str, Any]) -> None:
    assert _json({"results": [result]}).invalid is not None


def test_hyperfines_printed_times_are_converted_to_seconds() -> None:
    text = "Benchmark 1: sleep 0.25\n  Time (mean ± σ):     250.5 ms ±   1.5 ms    [User: 1.0 ms, System: 1.0 ms]\n"
    assert parse_output("auto", text.encode()).value("mean_s") == pytest.approx(0.2505)
    table = b"command,mean,stddev,median,user,system,min,max\nsleep 1,1.25,0.1,1.2,0,0,1,2\n"
    assert parse_output("auto", table).value("mean_s") == 1.25


def test_json_of_no_known_tool_is_read_if_it_names_metrics_at_its_top() -> None:
    parsed = _json({"output_throughput": 12.5, "mean_itl_ms": 3.0, "note": "x", "ok": True})
    assert (parsed.tool, parsed.value("mean_itl_ms")) == ("json", 3.0)
    settings = _json({"model": "m", "servers": [{"port": 3000, "workers": 4}]})
    assert settings.invalid is not None and "name a `parser`" in settings.invalid
    assert (
        _json([{"error": "All requests failed"}]).invalid
        == "the output reports an error: All requests failed"
    )


def test_pytest_benchmark_is_read_from_json_and_from_its_table() -> None:
    stats = {"mean": 1.5e-6, "median": 1.25e-6, "min": 1e-6, "max": 2e-6, "stddev": 1e-7, "rounds": 12}
    parsed = _json({"benchmarks": [{"name": "test_sort[μ]", "stats": stats}], "version": "5.0"})
    assert (parsed.tool, parsed.value("test_sort_μ_mean_s")) == ("pytest-benchmark", 1.5e-6)
    table = (
        "Name (time in us)        Min               Mean              Rounds\n"
        "-------------------------------------------------------------------\n"
        "test_sort           1,000.5000 (1.0)     1,500.2500 (2.5)          12\n"
        "-------------------------------------------------------------------\n"
        "FAILED tests/test_b.py::test_sort - AssertionError\n"
    )
    printed = parse_output("auto", table.encode())
    assert printed.value("test_sort_mean_s") == pytest.approx(1.50025e-3)
    assert printed.invalid == "1 tests failed: test_sort"


def test_pyperf_and_google_benchmark_are_read() -> None:
    pyperf = parse_output("auto", b"Mean +- std dev: 1.50 us +- 0.25 us\n")
    assert pyperf.value("mean_s") == pytest.approx(1.5e-6)
    saved = _json({"benchmarks": [{"runs": [{"values": [1.0, 3.0]}]}], "version": "1.0"})
    assert (saved.tool, saved.value("mean_s")) == ("pyperf", 2.0)
    row = {"name": "BM_copy/8", "real_time": 12.5, "cpu_time": 12.0, "time_unit": "ns"}
    google = _json({"context": {}, "benchmarks": [row]})
    assert (google.tool, google.value("bm_copy_8_real_time_ns")) == ("google-benchmark", 12.5)
    failed = _json(
        {"benchmarks": [{"name": "a", "real_time": 1, "error_occurred": True, "error_message": "bad"}]}
    )
    assert failed.invalid == "a: bad"
    console = b"Benchmark     Time      CPU   Iterations\n-----\nBM_copy/8  12.5 ns  12.0 ns     100\n"
    assert parse_output("auto", console).value("bm_copy_8_cpu_time_ns") == 12.0


def test_repetitions_of_google_benchmark_are_averaged_and_its_counters_read() -> None:
    def row(name: str, real: float, kind: str = "iteration", **more: object) -> dict[str, object]:
        times = {"real_time": real, "cpu_time": real, "time_unit": "us"}
        return {"name": name, "run_name": "BM_copy", "run_type": kind, "iterations": 9, **times, **more}

    single = [row("BM_copy", 10.0, tokens=4.0, label="x"), row("BM_copy", 14.0, tokens=6.0)]
    spread = row("BM_copy_cv", 0.2, "aggregate", aggregate_unit="percentage")
    mean = row("BM_copy_mean", 12.0, "aggregate", aggregate_unit="time")
    whole = _json({"context": {}, "benchmarks": [*single, mean, spread]})
    assert {reading.metric.name: reading.value for reading in whole.readings} == {
        "bm_copy_cpu_time_us": 12.0,
        "bm_copy_real_time_us": 12.0,
        "bm_copy_tokens": 5.0,
    }
    alone = _json({"context": {}, "benchmarks": [mean, spread]})
    assert [reading.metric.name for reading in alone.readings] == [
        "bm_copy_mean_cpu_time_us",
        "bm_copy_mean_real_time_us",
    ]


def _loadgen(result: str) -> str:
    rule = "=" * 48
    return (
        f"{rule}\nMLPerf Results Summary\n{rule}\nScenario : Offline\nMode     : PerformanceOnly\n"
        f"Samples per second: 144.5\nResult is : {result}\n"
        f"  Min duration satisfied : {'Yes' if result == 'VALID' else 'NO'}\n"
        f"{rule}\nAdditional Stats\n{rule}\n99.00 percentile latency (ns)   : 500\n{rule}\nTest Parameters Used\n"
        f"{rule}\nsamples_per_query : 24576\n"
    )


def test_a_run_that_loadgen_calls_invalid_is_invalid() -> None:
    valid = parse_output("auto", _loadgen("VALID").encode())
    assert (valid.tool, valid.invalid) == ("mlperf-loadgen", None)
    assert (valid.value("samples_per_second"), valid.value("p99_latency_ns")) == (144.5, 500)
    assert valid.value("samples_per_query") is None
    invalid = parse_output("auto", _loadgen("INVALID").encode())
    assert invalid.invalid == "LoadGen says INVALID (Min duration satisfied : NO)"


def test_the_last_row_of_an_experiment_log_counts_unless_it_failed() -> None:
    head = "experiment\ttok_s\taccept_length\tstatus\tdescription\n"
    text = f"{head}1\t90.5\tN/A\tkeep\tbase\n2\t95.5\t2.5\tKEEP\tbetter\n"
    parsed = parse_output("auto", text.encode())
    assert (parsed.tool, parsed.value("tok_s"), parsed.invalid) == ("results.tsv", 95.5, None)
    assert [r.metric.name for r in parsed.earlier[0]] == ["tok_s"]
    crashed = parse_output("auto", (text + "3\t0.0\t-\tcrash\toom\n").encode())
    assert crashed.invalid == "status is 'crash'"

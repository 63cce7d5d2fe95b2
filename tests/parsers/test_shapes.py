"""Output of tools that nobody listed, read by its shape: names, units, and rows told apart."""

from __future__ import annotations

import json
from typing import Any

import pytest

from optrack.metrics.output import Parsed
from optrack.metrics.read import parse_output


def _auto(text: str) -> Parsed:
    return parse_output("auto", text.encode())


def _json(document: Any) -> Parsed:
    return _auto(json.dumps(document))


def _units(parsed: Parsed) -> dict[str, str]:
    return {reading.metric.name: reading.metric.unit for reading in parsed.readings}


def _says_shape(parsed: Parsed) -> bool:
    return any("read by shape" in note for note in parsed.notes)


def test_lines_of_a_name_a_number_and_a_unit_are_metrics() -> None:
    parsed = _auto(
        "Load test of 20 chats\nRequest throughput: 2.50 requests/s\nDecode speed (tok/s): 1,310.5\n"
        "Mean TTFT: 41.25 ms\nP99 first token (ms) = 90.5\nPrompts: 20\n"
    )
    assert _says_shape(parsed) and parsed.invalid is None
    assert parsed.value("decode_speed_tok_s") == 1310.5
    assert parsed.value("mean_ttft_ms") == 41.25
    units = _units(parsed)
    assert (units["decode_speed_tok_s"], units["mean_ttft_ms"], units["p99_first_token_ms"]) == (
        "tok/s",
        "ms",
        "ms",
    )
    assert parsed.settings["prompts"] == 20


def test_statistics_below_a_heading_carry_its_name() -> None:
    text = "read latency:\n    p50: 3\n    p99: 9\nwrite latency:\n    p50: 4\n    p99: 12\n"
    parsed = _auto(text)
    assert (parsed.value("read_latency_p99"), parsed.value("write_latency_p99")) == (9, 12)


def test_a_list_in_json_is_read_row_by_row() -> None:
    rows = [{"concurrency": c, "gen_tok_per_s": 20.0 * c, "ok": True} for c in (1, 4)]
    parsed = _json({"max_tokens": 256, "results": rows})
    assert (parsed.value("gen_tok_per_s_c1"), parsed.value("gen_tok_per_s_c4")) == (20.0, 80.0)
    assert parsed.settings["max_tokens"] == 256
    assert _says_shape(parsed)


def test_json_lines_with_the_same_keys_are_rows() -> None:
    lines = "\n".join(json.dumps({"batch_size": b, "tps": 10.0 * b}) for b in (1, 8))
    parsed = _auto(lines)
    assert (parsed.value("tps_bs1"), parsed.value("tps_bs8")) == (10.0, 80.0)


def test_nested_json_joins_its_keys_and_tells_what_it_left_out() -> None:
    parsed = _json({"decode": {"throughput": 9.5, "meanLatencyMs": 4.5}, "latencies": [1, 2, 3]})
    assert parsed.value("decode_throughput") == 9.5
    assert _units(parsed)["decode_mean_latency_ms"] == "ms"
    assert any("latencies" in note and "3" in note for note in parsed.notes)


def test_rows_are_told_apart_by_columns_that_nobody_knows() -> None:
    text = "zone,offset,latency_ms\nnorth,0,5.5\nnorth,64,6.5\nsouth,0,7.5\nsouth,64,8.5\n"
    parsed = _auto(text)
    assert [r.value for r in parsed.readings] == [5.5, 6.5, 7.5, 8.5]
    assert len({r.metric.name for r in parsed.readings}) == 4
    assert parsed.value("latency_ms_south_offset_64") == 8.5


def test_rows_that_can_not_be_told_apart_are_told_of() -> None:
    parsed = _auto("name,latency_ms\na,5.5\na,6.5\n")
    assert any("2 rows" in note for note in parsed.notes)


def test_a_markdown_table_is_read_with_its_units() -> None:
    text = (
        "| Load | TTFT p50 (ms) | Tok/s |\n|---|---:|---:|\n"
        "| light | 20.5 | 1,100 |\n| heavy | 92.0 | 2,400 |\n"
    )
    parsed = _auto(text)
    assert (parsed.value("ttft_p50_ms_heavy"), parsed.value("tok_s_light")) == (92.0, 1100)
    assert _units(parsed)["tok_s_light"] == "tok/s"


def test_a_table_of_metrics_by_statistic_names_each() -> None:
    text = "| Metric | Value | Unit |\n|---|---|---|\n| Output speed | 71.5 | tokens/s |\n| First token | 33 | ms |\n"
    parsed = _auto(text)
    assert {(r.value, r.metric.unit) for r in parsed.readings} == {(71.5, "tok/s"), (33.0, "ms")}
    assert any(r.metric.name.startswith("output_speed") for r in parsed.readings)


def test_an_aligned_table_is_read_though_its_first_column_has_no_name() -> None:
    text = "              ops/sec   p99_ms\nsmall keys      900.5      1.5\n"
    text = text.replace("small keys", "small_keys") + "large_keys      410.5      6.5\n"
    parsed = _auto(text)
    assert parsed.value("ops_sec_large_keys") == 410.5
    assert _units(parsed)["ops_sec_small_keys"] == "ops/s"


def test_lines_of_pairs_are_rows() -> None:
    text = "warming up\nchat c=1 ttft=0.2s speed=30.5 tok/s\nchat c=8 ttft=0.9s speed=11.5 tok/s\ndone\n"
    parsed = _auto(text)
    assert parsed.value("speed_tok_s_c8") == 11.5
    assert _units(parsed)["ttft_s_c1"] == "s"


@pytest.mark.parametrize(
    ("text", "name", "value", "unit"),
    [
        ("Latency avg: 22.5 ms, p99: 31.5 ms\n", "latency_p99_ms", 31.5, "ms"),
        ("Latencies     [min, mean, 99]   1.5ms, 2.5ms, 6.5ms\n", "latencies_p99_ms", 6.5, "ms"),
        ("# Size    Latency (us)\n1       1.5\n64      2.5\n", "latency_us_size_64", 2.5, "us"),
        ('{"results_ttft_s_mean": 0.25, "out_token_per_s_mean": 9.5}', "results_ttft_s_mean", 0.25, "s"),
        ('{"speed": {"value": 81.5, "unit": "tok/s"}}', "speed_tok_s", 81.5, "tok/s"),
        (
            "BS=1 | Throughput: 80.5 tok/s\nBS=8 | Throughput: 510.5 tok/s\n",
            "throughput_tok_s_bs8",
            510.5,
            "tok/s",
        ),
    ],
)
def test_a_value_has_its_name_its_unit_and_its_row_in_any_layout(
    text: str, name: str, value: float, unit: str
) -> None:
    parsed = _auto(text)
    found = {r.metric.name: (r.value, r.metric.unit) for r in parsed.readings}
    assert found.get(name) == (value, unit)


def test_a_share_of_requests_that_succeeded_must_be_all_of_them() -> None:
    assert _auto("Throughput: 9.5 req/s\nSuccess rate: 100.00%\n").invalid is None
    assert _auto("Throughput: 9.5 req/s\nSuccess rate: 97.50%\n").invalid is not None


@pytest.mark.parametrize(
    "text",
    [
        "HEAD\tmodelA\t397.0\t17.0\nHEAD\tmodelB\t398.0\t18.0\n",
        "It took 5 minutes, and 3 of 4 servers answered: not bad. Latency was fine.\nWe stop here.\n",
        "2026-01-01 10:00:00 INFO worker 3 started\n2026-01-01 10:00:05 INFO loaded 12 shards: 5\n",
        "server:\n  port: 8000\n  workers: 4\n",
        "a,b\n1,2\n3,4\n",
    ],
)
def test_what_is_no_result_is_not_made_one(text: str) -> None:
    parsed = _auto(text)
    assert parsed.readings == ()
    assert parsed.invalid is not None


@pytest.mark.parametrize("tool", ["results.tsv", "csv"])
def test_a_table_without_a_header_is_refused(tool: str) -> None:
    parsed = parse_output(tool, b"HEAD\tmodelA\t397.0\t17.0\nHEAD\tmodelB\t398.0\t18.0\n")
    assert parsed.readings == ()
    assert parsed.invalid is not None and "header" in parsed.invalid


def test_a_table_in_tabs_needs_no_column_of_known_name() -> None:
    parsed = _auto("n_batch\tn_ubatch\ttok_s\n512\t128\t90.5\n512\t256\t95.5\n")
    assert [(r.value, r.metric.unit) for r in parsed.readings] == [(90.5, "tok/s"), (95.5, "tok/s")]
    noted = _auto("exp\ttok_s\tnotes\n1\t90.5\tbase\n2\t95.5\tbetter\n")
    assert (noted.tool, noted.value("tok_s")) == ("results.tsv", 95.5)


def test_failures_that_an_unknown_tool_counts_make_the_pass_invalid() -> None:
    parsed = _auto("Throughput: 9.5 req/s\nFailed requests: 3\n")
    assert parsed.invalid is not None and "3" in parsed.invalid


def test_a_primary_metric_that_only_rows_have_is_told_of() -> None:
    data = json.dumps({"results": [{"concurrency": c, "tps": 20.0 * c} for c in (1, 4)]}).encode()
    parsed = parse_output("auto", data, primary="tps")
    assert parsed.invalid is not None and "tps_c1" in parsed.invalid and "tps_c4" in parsed.invalid
    assert parse_output("auto", data, primary="tps_c4").invalid is None


def test_a_course_of_time_is_no_list_of_cases() -> None:
    rows = "\n".join(f"{i},{i / 10}" for i in range(500))
    parsed = _auto(f"second,latency_ms\n{rows}\n")
    assert len(parsed.readings) <= 2
    assert any("500 rows" in note for note in parsed.notes)


UNLISTED: dict[str, tuple[str, dict[str, tuple[float, str]]]] = {
    "measures with no name but their unit": (
        "fill   :   2.500 micros/op 400 ops/sec;   51.0 MB/s (90 of 90 found)\n"
        "scan   :   9.000 micros/op 111 ops/sec;   7.0 MB/s\n",
        {"us_per_op_fill": (2.5, "us/op"), "mb_s_scan": (7.0, "MB/s"), "ops_sec_fill": (400, "ops/s")},
    ),
    "one measure in a line of several unnamed ones": (
        "BenchmarkSort-4 \t 400\t 289 ns/op\t 40 B/op\t 3 allocs/op\n"
        "BenchmarkFind/tree-4 \t 90\t 16 ns/op\t 0 B/op\t 0 allocs/op\n",
        {"ns_per_op_benchmarksort_4": (289, "ns/op"), "b_per_op_benchmarkfind_tree_4": (0, "B/op")},
    ),
    "the number first": (
        " 1,200.50 msec task-clock    #    0.9 CPUs utilized\n    1.25 seconds time elapsed\n",
        {"task_clock_msec": (1200.5, "ms"), "time_elapsed_seconds": (1.25, "s")},
    ),
    "durations in several units": (
        "total duration:   2m3.5s\nload duration:   90.5ms\neval count:   14 token(s)\neval rate:   16.5 tokens/s\n",
        {
            "total_duration_s": (123.5, "s"),
            "load_duration_ms": (90.5, "ms"),
            "eval_rate_tokens_s": (16.5, "tok/s"),
        },
    ),
    "sections in brackets": (
        "[FAST PATH]\n"
        "  Allocations:  15\n"
        "  p99 latency:  187 ns\n"
        "[SLOW PATH]\n"
        "  Allocations:  4\n"
        "  p99 latency:  18923 ns\n",
        {"fast_path_p99_latency_ns": (187, "ns"), "slow_path_p99_latency_ns": (18923, "ns")},
    ),
    "names between commas": (
        "[OVERALL], Throughput(ops/sec), 540.5\n[READ], Operations, 10\n[READ], Latency(us), 1295.25\n",
        {"overall_throughput_ops_sec": (540.5, "ops/s"), "read_latency_us": (1295.25, "us")},
    ),
    "a log's line of statistics": (
        "[08/11/2022-06:55:33] [I] Served: 233.5 qps\n"
        "[08/11/2022-06:55:33] [I] Copy: min = 4.5 ms, max = 5.5 ms, percentile(99%) = 5.25 ms\n"
        "[08/11/2022-06:55:33] [I] Compute: min = 3.5 ms, max = 4.5 ms, percentile(99%) = 4.25 ms\n",
        {"served_qps": (233.5, "req/s"), "p99_copy_ms": (5.25, "ms"), "min_compute_ms": (3.5, "ms")},
    ),
    "bits and bytes": (
        "  #bytes   #iterations   BW peak[Gb/sec]   BW[GB/sec]\n"
        "  2   50   0.5   0.0625\n"
        "  65536   50   361.25   45.15\n",
        {"bw_peak_gb_sec_bytes_65536": (361.25, "Gbit/s"), "bw_gb_sec_bytes_65536": (45.15, "GB/s")},
    ),
    "units on a line of their own": (
        "#   size    time    busbw\n#    (B)    (us)    (GB/s)\n   1024   62.5   29.5\n   4096   90.5   30.5\n",
        {"time_us_size_b_1024": (62.5, "us"), "busbw_gb_s_size_b_4096": (30.5, "GB/s")},
    ),
    "a column for the unit and uncertainties": (
        "[info] Benchmark       Mode  Cnt   Score    Error  Units\n"
        "[info] Encode.fast    thrpt   20  321.25 ±  10.5   ops/s\n"
        "[info] Encode.slow     avgt   20   32.25 ±   1.5   ns/op\n",
        {
            "score_ops_s_encode_fast": (321.25, "ops/s"),
            "score_ns_per_op_encode_slow": (32.25, "ns/op"),
        },
    ),
    "one framed table below another": (
        "┌─────┬──────┬─────────┐\n"
        "│ Stat │ 99%  │ Avg     │\n"
        "├─────┼──────┼─────────┤\n"
        "│ Wait │ 6 ms │ 1.88 ms │\n"
        "└─────┴──────┴─────────┘\n"
        "┌───────────┬────────┬─────────┐\n│ Stat      │ 97.5%  │ Avg     │\n├───────────┼────────┼─────────┤\n"
        "│ Req/Sec   │ 4,755  │ 4,165.5 │\n│ Bytes/Sec │ 237 kB │ 1.5 MB  │\n└───────────┴────────┴─────────┘\n",
        {
            "p99_wait_ms": (6, "ms"),
            "p97_5_req_sec": (4755, "req/s"),
            "avg_bytes_sec": (1.5e6, "B/s"),
            "p97_5_bytes_sec": (237e3, "B/s"),
        },
    ),
    "a matrix between devices": (
        "Write bandwidth (GB/s)\n   D\\D     0      1\n     0 2540.5 392.5\n     1 393.5 2551.5\n",
        {
            "write_bandwidth_gb_s_0_1": (392.5, "GB/s"),
            "write_bandwidth_gb_s_1_1": (2551.5, "GB/s"),
        },
    ),
    "statistics after a count": (
        "[ STATS ] copy: 3 calls, total: 1.05ms, avg: 350μs\n[ STATS ] launch: 100 calls, total: 5.25ms, avg: 52μs\n",
        {"total_ms_launch": (5.25, "ms"), "avg_us_copy": (350, "us"), "calls_copy": (3, "")},
    ),
    "names and values between strokes": (
        "wait min/avg/max = 0.5/0.75/1.25 ms\n",
        {"wait_avg_ms": (0.75, "ms"), "wait_max_ms": (1.25, "ms")},
    ),
    "sizes before names that come twice": (
        "  1.0MiB  upload  best=0.25s  avg=0.5s  best=47.5  MB/s avg=40.5 MB/s\n"
        "  64.0MiB upload  best=0.75s  avg=0.9s  best=125.5 MB/s avg=118.5 MB/s\n",
        {"best_s_64_0mib_upload": (0.75, "s"), "avg_mb_s_1_0mib_upload": (40.5, "MB/s")},
    ),
    "rows that an offered rate tells apart": (
        "| Offered req/s | Policy | Output tok/s |\n|---:|---|---:|\n"
        "| 50 | chunked | 267.5 |\n| 50 | static | 299.5 |\n| 150 | chunked | 316.5 |\n",
        {"output_tok_s_chunked_offered_req_s_150": (316.5, "tok/s")},
    ),
    "cases with a unit in their label": (
        "| Metric | before | after |\n"
        "|---|---:|---:|\n"
        "| Decode (tok/s) | 22.5 | **25.5** |\n"
        "| TTFT (ms) | 90.5 | 80.5 |\n",
        {"after_decode_tok_s": (25.5, "tok/s"), "before_ttft_ms": (90.5, "ms")},
    ),
    "a column that is a unit": (
        "| Method | Mean | Op/s |\n"
        "|---|---:|---:|\n"
        "| Code | 9.5 ns | 104,025,563.4 |\n"
        "| Info | 4.5 ns | 231,641,612.1 |\n",
        {"op_s_code": (104025563.4, "ops/s"), "mean_ns_info": (4.5, "ns")},
    ),
}


@pytest.mark.parametrize("kind", UNLISTED)
def test_what_no_tool_is_known_for_is_read_with_its_units(kind: str) -> None:
    text, right = UNLISTED[kind]
    parsed = _auto(text)
    read = {r.metric.name: (r.value, r.metric.unit) for r in parsed.readings}
    assert {name: read.get(name) for name in right} == right, read
    assert parsed.invalid is None


def test_criterion_gives_the_estimate_between_its_bounds() -> None:
    parsed = _auto(
        "copy/2048\n                        time:   [514.5 ns 532.5 ns 547.5 ns]\n"
        "                        thrpt:  [29.5 MiB/s 30.5 MiB/s 31.5 MiB/s]\n"
        "hash/1KiB               time:   [1.15 µs 1.25 µs 1.35 µs]\nFound 3 outliers among 100 measurements\n"
    )
    assert parsed.tool == "criterion"
    assert parsed.value("copy_2048_time_s") == pytest.approx(532.5e-9)
    assert parsed.value("copy_2048_thrpt_mib_s") == 30.5
    assert parsed.value("hash_1KiB_time_s") == pytest.approx(1.25e-6)


@pytest.mark.parametrize("text", ["[{}, {}]", '{"results": [{}, {}]}', '[{"a": "x"}, {}]'])
def test_rows_without_columns_are_no_result(text: str) -> None:
    assert _auto(text).invalid is not None


def test_failed_transactions_are_failures() -> None:
    parsed = _auto(
        "Transaction rate:    1.9 trans/sec\nSuccessful transactions:   5\nFailed transactions:   5\n"
    )
    assert parsed.value("transaction_rate_trans_sec") == 1.9
    assert parsed.invalid is not None and "Failed transactions: 5" in parsed.invalid

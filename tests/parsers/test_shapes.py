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

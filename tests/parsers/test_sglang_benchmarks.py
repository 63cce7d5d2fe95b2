"""SGLang's benchmarks: what counts, what is kept, and what is no measurement."""

from __future__ import annotations

import json

import pytest

from optrack.metrics.read import parse_output
from tests.parsers.samples import TABLE, serving_table, sglang_row


def test_a_result_line_gives_its_metrics_under_their_own_names() -> None:
    parsed = parse_output("auto", sglang_row(accept_length=2.5))
    assert parsed.tool == "sglang.bench_serving"
    assert parsed.invalid is None
    assert parsed.value("output_throughput") == 142.2
    assert parsed.value("accept_length") == 2.5
    throughput = next(r.metric for r in parsed.readings if r.metric.name == "output_throughput")
    assert (throughput.unit, throughput.better) == ("tok/s", "higher")


def test_settings_and_what_the_server_says_are_no_metrics() -> None:
    names = {r.metric.name for r in parse_output("auto", sglang_row()).readings}
    assert names.isdisjoint({"request_rate", "max_concurrency", "random_output_len", "server_info", "tag"})


def test_an_accept_length_of_null_is_no_reading() -> None:
    assert parse_output("auto", sglang_row()).value("accept_length") is None


def test_of_several_lines_the_last_counts_and_the_others_are_kept_with_a_note() -> None:
    parsed = parse_output("auto", sglang_row(output_throughput=1.0) + sglang_row(output_throughput=2.0))
    assert parsed.value("output_throughput") == 2.0
    assert [[r.value for r in e if r.metric.name == "output_throughput"] for e in parsed.earlier] == [[1.0]]
    assert any("2 results" in note and "last one counts" in note for note in parsed.notes)


def test_a_line_that_is_cut_off_makes_the_pass_invalid() -> None:
    torn = sglang_row()[:-200]
    assert "cut off" in (parse_output("sglang.bench_serving", torn).invalid or "")
    assert parse_output("auto", sglang_row() + torn).invalid == "the last result is cut off"


def test_fewer_completed_requests_than_asked_for_are_no_measurement() -> None:
    parsed = parse_output("auto", sglang_row(completed=9), expected_requests=10)
    assert parsed.invalid == "9 of 10 requests were completed"
    assert parsed.value("output_throughput") == 142.2


def test_rejected_requests_that_count_as_completed_are_no_measurement() -> None:
    no_text = parse_output("auto", sglang_row(total_output_tokens_retokenized=0))
    assert no_text.invalid is not None and "rejected" in no_text.invalid
    no_wait = parse_output("auto", sglang_row(mean_ttft_ms=0.0))
    assert no_wait.invalid is not None and "time to first token" in no_wait.invalid
    log = b"[2026-03-01 12:00:00] [http_server] Error: the input is longer than the context\n"
    told = parse_output("auto", sglang_row(), log=log)
    assert told.invalid is not None and "rejected 1 requests" in told.invalid


def test_much_less_text_than_tokens_is_noted() -> None:
    parsed = parse_output("auto", sglang_row(total_output_tokens_retokenized=300))
    assert parsed.invalid is None
    assert parsed.notes == ("text of 300 tokens came back for 640 that were counted",)


def test_nan_is_no_measurement() -> None:
    parsed = parse_output("auto", sglang_row(mean_itl_ms=float("nan")))
    assert parsed.invalid == "not a number: mean_itl_ms"


def test_the_printed_table_gives_the_names_of_the_result_line() -> None:
    parsed = parse_output("auto", serving_table(*TABLE).encode())
    assert parsed.tool == "sglang.bench_serving"
    assert parsed.invalid is None
    assert parsed.value("completed") == 32
    assert parsed.value("output_throughput") == 1204.8
    assert parsed.value("total_output_tokens_retokenized") == 2040
    assert parsed.value("mean_ttft_ms") == 31.5
    assert parsed.value("p99_itl_ms") == 9.25
    assert parsed.value("accept_length") == 2.25


def test_labels_may_be_misspelt_wrapped_coloured_or_behind_a_prefix() -> None:
    table = serving_table(
        "Succesful requests: 3", "Output token throughput (tok/s): 50.0", "Mean TTFT (ms): 5.0"
    )
    wrapped = table.replace("Output token throughput (tok/s):", "Output token throughput\n(tok/s):")
    bare = table.replace("Output token throughput (tok/s):", "Output token throughput (tok/s):\n")
    prefixed = "\n".join(f"client-1 | {line}" for line in table.split("\n"))
    coloured = table.replace("50.0", "\x1b[32m50.0\x1b[0m").replace("\n", "\r\n")
    for text in (table, wrapped, bare, prefixed, coloured):
        parsed = parse_output("auto", text.encode())
        assert (parsed.value("completed"), parsed.value("output_throughput")) == (3, 50.0), text


def test_the_total_of_the_progress_bar_tells_of_requests_that_failed() -> None:
    bar = " 50%|#####     | 16/64 [00:10<00:10,  3.20it/s]\r"
    parsed = parse_output("auto", (bar + serving_table(*TABLE)).encode())
    assert parsed.invalid == "32 of 64 requests were completed"


def test_a_table_without_its_end_is_no_measurement() -> None:
    text = serving_table(*TABLE).rsplit("=" * 50, 1)[0]
    assert parse_output("auto", text.encode()).invalid == "the result table is cut off"


def test_a_benchmark_that_started_and_printed_no_table_says_so() -> None:
    text = (
        "Namespace(num_prompts=64)\n#Input tokens: 100\n#Output tokens: 200\nStarting main benchmark run...\n"
    )
    parsed = parse_output("auto", text.encode())
    assert (parsed.readings, parsed.invalid) == ((), "the benchmark started and gave no result")


def test_of_warm_up_and_benchmark_sections_the_benchmark_counts() -> None:
    section = (
        "{name} ...\nPrefill. latency: {p:.5f} s, throughput:  100.00 token/s\n"
        "Decode 0. Batch size: 1, latency: 0.5 s, throughput:  9.00 token/s\n"
        "Decode.  median latency: {d:.5f} s, median throughput:  {t:.2f} token/s\n"
        "Total. latency:  1.000 s, throughput:  200.00 token/s\n"
    )
    text = section.format(name="Warmup", p=9, d=9, t=1) + section.format(
        name="Benchmark", p=0.25, d=0.01, t=100
    )
    parsed = parse_output("auto", text.encode())
    assert parsed.tool == "sglang.bench_one_batch"
    assert parsed.value("prefill_latency") == 0.25
    assert parsed.value("median_decode_throughput") == 100.0
    assert next(r.metric.unit for r in parsed.readings if r.metric.name == "prefill_latency") == "s"
    assert parse_output("sglang.bench_one_batch", text.split("Benchmark")[0].encode()).readings == ()


def test_each_case_of_a_batch_benchmark_has_its_own_names() -> None:
    rows = [
        {
            "run_name": "r",
            "batch_size": b,
            "input_len": 64,
            "output_len": 16,
            "latency": b / 10,
            "acc_length": -1,
        }
        for b in (1, 4)
    ]
    data = "\n".join(map(json.dumps, rows)).encode()
    parsed = parse_output("sglang.bench_one_batch_server", data)
    assert parsed.value("latency_bs1_in64_out16") == 0.1
    assert parsed.value("latency_bs4_in64_out16") == parsed.value("latency") == 0.4
    assert parsed.value("acc_length") is None


@pytest.mark.parametrize("done, invalid", [(16, None), (0, "no request was completed")])
def test_an_offline_benchmark_counts_its_requests(done: int, invalid: str | None) -> None:
    row = {"backend": "engine", "successful_requests": done, "total_latency": 2.0, "total_throughput": 800.0}
    parsed = parse_output("auto", json.dumps(row).encode())
    assert (parsed.tool, parsed.invalid) == ("sglang.bench_offline_throughput", invalid)

"""Units, partial runs, several results in one output, and servers that died: what a pass may claim."""

from __future__ import annotations

import json

import pytest

from optrack.metrics.output import Parsed
from optrack.metrics.read import parse_output
from optrack.metrics.server_logs import parse_server_log
from optrack.model.metrics import metric_named
from tests.parsers.samples import TABLE, decode_line, serving_table, sglang_row


def _auto(text: str) -> Parsed:
    return parse_output("auto", text.encode())


def _unit(parsed: Parsed, name: str) -> str:
    return next(reading.metric.unit for reading in parsed.readings if reading.metric.name == name)


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("total_output_tokens", "tokens"),
        ("tok_s", "tok/s"),
        ("tg_tok_s", "tok/s"),
        ("req_s", "req/s"),
        ("bandwidth_gb_s", "GB/s"),
        ("images_per_second", "images/s"),
        ("elapsed_seconds", "s"),
        ("first_token_s", "s"),
        ("time_to_first_token_s", "s"),
        ("output_token_throughput", "tok/s"),
        ("tput", ""),
        ("accept_rate", ""),
    ],
)
def test_a_units_word_is_read_whole(name: str, unit: str) -> None:
    assert metric_named(name).unit == unit


def test_a_time_to_a_token_gets_better_downwards_and_missed_requests_never_upwards() -> None:
    assert metric_named("average_time_to_first_token_s").better == "lower"
    assert metric_named("failed_requests_per_s").better is None
    assert metric_named("misses_s").better is None


def test_results_in_seconds_count_tokens_as_tokens() -> None:
    row = {"completed": 4, "mean_ttft": 0.5, "total_output_tokens": 5120, "tput_per_gpu": 90.5, "conc": 8}
    parsed = _auto(json.dumps(row))
    assert parsed.tool == "inferencex"
    assert (_unit(parsed, "total_output_tokens"), _unit(parsed, "tput_per_gpu")) == ("tokens", "tok/s")
    assert parsed.settings["conc"] == 8


def test_the_acceptance_rate_of_a_table_is_in_percent() -> None:
    parsed = _auto(serving_table("Successful requests: 5", "Acceptance rate (%): 57.00", backend=None))
    assert _unit(parsed, "spec_decode_acceptance_rate") == "%"


def _statistics(tool: str, rows: str) -> str:
    return f"{tool} | LLM Metrics\n┃ Statistic ┃ avg ┃ p99 ┃\n{rows}\n"


def test_rates_of_genai_perf_and_aiperf_have_one_unit() -> None:
    older = _auto(_statistics("NVIDIA GenAI-Perf", "│ Output token throughput (per sec) │ 90.5 │ N/A │"))
    newer = _auto(_statistics("NVIDIA AIPerf", "│ Output Token Throughput (tokens/sec) │ 90.5 │ N/A │"))
    assert _unit(older, "output_token_throughput") == _unit(newer, "output_token_throughput") == "tok/s"


def test_of_two_result_tables_only_the_last_is_read() -> None:
    first = _statistics(
        "NVIDIA GenAI-Perf", "│ Time to first token (ms) │ 9 │ 9 │\n│ Request latency (ms) │ 50 │ 60 │"
    )
    second = _statistics("NVIDIA GenAI-Perf", "│ Request latency (ms) │ 400 │ 500 │")
    parsed = _auto(first + second)
    assert parsed.value("avg_request_latency_ms") == 400
    assert parsed.value("avg_time_to_first_token_ms") is None
    assert len(parsed.earlier) == 1 and any("2 result tables" in note for note in parsed.notes)


@pytest.mark.parametrize(
    "echo",
    [
        "benchmark_args=Namespace(backend='sglang', dataset_name='random', num_prompts=100, seed=1)\n",
        "+ python -m sglang.bench_serving --backend sglang --num-prompts 100\n",
        "num_prompts: 100\n",
    ],
)
def test_a_run_of_fewer_requests_than_its_echoed_arguments_ask_for_is_no_measurement(echo: str) -> None:
    rows = ("Successful requests: 97", *TABLE[1:])
    assert _auto(serving_table(*rows)).invalid is None
    parsed = _auto(echo + serving_table(*rows))
    assert parsed.invalid is not None and "97" in parsed.invalid and "100" in parsed.invalid
    assert parsed.settings["num_prompts"] == 100


def test_the_work_of_a_serving_benchmark_is_kept_from_its_row_and_from_its_table() -> None:
    row = parse_output("auto", sglang_row(seed=7)).settings
    assert (row["request_rate"], row["max_concurrency"], row["random_input_len"]) == ("inf", 1, 128)
    assert (row["dataset_name"], row["seed"]) == ("random-ids", 7)
    assert "server_info" not in row
    table = _auto(serving_table("Traffic request rate: inf", "Max request concurrency: 8", *TABLE)).settings
    assert (table["request_rate"], table["max_concurrency"], table["backend"]) == ("inf", 8, "sglang")


def test_rows_of_llama_bench_are_told_apart_by_any_setting() -> None:
    rows = "".join(
        f"{m},{d},128,512,{v}\n" for m, d, v in (("A", 0, 9.5), ("A", 64, 8.5), ("B", 0, 7.5), ("B", 64, 6.5))
    )
    parsed = _auto(f"model,starting_depth,n_gen,n_prompt,avg_ts\n{rows}".replace(",128,512,", ",128,0,"))
    assert sorted(r.value for r in parsed.readings) == [6.5, 7.5, 8.5, 9.5]
    odd = _auto('{"n_prompt": 8, "n_gen": 0, "avg_ts": 1.5}\n{"n_prompt": 8, "n_gen": 0, "avg_ts": 2.5}\n')
    assert odd.value("pp8_tok_s") == 2.5 and any("several times" in note for note in odd.notes)


def test_a_console_that_quotes_a_servers_line_is_no_server_log() -> None:
    quoted = (
        "(EngineCore_0 pid=7) INFO 01-01 10:00:00 [metrics.py:1] SpecDecoding metrics: Accepted: 3 tokens\n"
    )
    rows = "".join(f"chat c={c} speed={40.5 - c} tok/s ttft=0.{c}s\n" for c in range(1, 9))
    parsed = _auto(rows + quoted)
    assert parsed.value("speed_tok_s_c4") == 36.5


@pytest.mark.parametrize(
    "death",
    [
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
        "Scheduler hit an exception: Traceback (most recent call last)",
        "[2026-03-01 12:00:09] Received sigquit from a child process. It usually means the child failed.",
        "NCCL error: unhandled system error",
    ],
)
def test_a_log_that_ends_with_a_servers_death_is_no_measurement(death: str) -> None:
    lines = [decode_line(f"12:00:0{s}", 100.0) for s in range(4)]
    assert _auto("\n".join(lines)).invalid is None
    parsed = _auto("\n".join([*lines, death]))
    assert parsed.readings and parsed.invalid is not None


def test_an_error_after_which_the_server_went_on_is_survived() -> None:
    lines = [decode_line(f"12:00:0{s}", 100.0) for s in range(4)]
    lines.insert(2, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB")
    assert _auto("\n".join(lines)).invalid is None


def test_every_throughput_of_data_parallel_ranks_is_a_sum() -> None:
    lines = [
        decode_line(f"12:00:0{s}", 100.0 + s, rank=f" DP{r} TP0", running=3) for s in range(4) for r in (0, 1)
    ]
    log = "\n".join(lines)
    values = {r.metric.name: r.value for r in parse_server_log("sglang", log.encode())}
    assert (values["gen_throughput_max"], values["gen_throughput_last"]) == (206.0, 206.0)
    assert values["running_req"] == 6
    assert any("2 data-parallel ranks" in note for note in _auto(log).notes)

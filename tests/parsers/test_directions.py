"""Which way a metric gets better, as its name tells: by whole words, since a verdict turns on it."""

from __future__ import annotations

import pytest

from optrack.model.metrics import metric_named

HIGHER = [
    "output_throughput",
    "output_tok_s",
    "tokens_per_second",
    "requests_per_second",
    "tg128_tok_s",
    "busbw_1024",
    "algbw",
    "tput_per_gpu",
    "accept_length",
    "acceptance_rate",
    "goodput",
    "bandwidth_gb_s",
    "output_tps_per_user",
    "tflops",
    "speedup_vs_eager",
    "decode.output_throughput",
    "per_user_output_speed",
    "bytes_per_second",
]
LOWER = [
    "mean_time_per_output_token_ms",
    "time_to_first_output_token_ms",
    "output_token_latency_ms",
    "p99_itl_ms",
    "median_tpot_ms",
    "ttft",
    "e2el",
    "step_time",
    "ms_per_step",
    "seconds_per_sample_ms",
    "http_req_duration_ms",
    "time_us_1024",
    "peak_vram_mb",
    "duration_ms",
    "cutoff_ms",
    "https_ms",
    "decode.itl_ms",
    "Latency_P99",
]
NEITHER = [
    "output_sequence_length",
    "output_token_count",
    "output_tokens_per_iteration",
    "completed",
    "concurrency",
    "std_itl_ms",
    "stddev_tok_s",
    "total_output_tokens",
    "decode_lines",
    "prompt_tokens",
    "throughputs_seen",
    "duration",
    "input_length",
]


@pytest.mark.parametrize("name", HIGHER)
def test_rates_get_better_upwards(name: str) -> None:
    assert metric_named(name).better == "higher"


@pytest.mark.parametrize("name", LOWER)
def test_times_and_sizes_get_better_downwards(name: str) -> None:
    assert metric_named(name).better == "lower"


@pytest.mark.parametrize("name", NEITHER)
def test_counts_spreads_and_lengths_have_no_direction(name: str) -> None:
    assert metric_named(name).better is None

"""Server logs: the metrics of a stretch of time, and what a whole log tells."""

from __future__ import annotations

import pytest

from optrack.metrics.read import parse_output
from optrack.metrics.server_logs import parse_server_log
from optrack.model.metrics import Reading
from tests.parsers.samples import decode_line, vllm_lines


def _values(readings: tuple[Reading, ...]) -> dict[str, float]:
    return {reading.metric.name: reading.value for reading in readings}


def test_lines_that_count_idle_time_are_left_out_of_the_throughput() -> None:
    lines = [
        decode_line("12:00:00", 1.2),
        decode_line("12:00:01", 100.0),
        decode_line("12:00:02", 100.0),
        decode_line("12:00:40", 3.0),
        decode_line("12:00:41", 100.0),
    ]
    values = _values(parse_server_log("sglang", "\n".join(lines).encode()))
    assert values["gen_throughput"] == pytest.approx(100.0)
    assert values["decode_lines"] == 5
    assert values["gen_throughput_last"] == 100.0


def test_a_pause_shorter_than_the_logs_clock_is_seen_by_the_throughput() -> None:
    rates = (90.0, 110.0, 100.0, 8.0, 100.0)
    lines = [decode_line("12:00:00", rate) for rate in (1.0, *rates)]
    values = _values(parse_server_log("sglang", "\n".join(lines).encode()))
    assert 98.0 < values["gen_throughput"] < 100.0


def test_the_throughput_is_tokens_over_time_and_not_a_mean_of_rates() -> None:
    lines = [decode_line("12:00:00", 1.0), decode_line("12:00:01", 100.0), decode_line("12:00:02", 50.0)]
    values = _values(parse_server_log("sglang", "\n".join(lines).encode()))
    assert values["gen_throughput"] == pytest.approx(2 / (1 / 100 + 1 / 50))


def test_the_ranks_of_data_parallel_servers_add_up() -> None:
    lines = [decode_line(f"12:00:0{s}", 100.0, rank=f" DP{r} TP0") for s in range(4) for r in (0, 1)]
    values = _values(parse_server_log("sglang", "\n".join(lines).encode()))
    assert values["gen_throughput"] == pytest.approx(200.0)


def test_the_accepted_length_is_the_mean_of_the_lines_and_absent_without_speculation() -> None:
    lines = [decode_line("12:00:00", 9.0, accept=2.0), decode_line("12:00:01", 9.0, accept=3.0)]
    values = _values(parse_server_log("sglang", "\n".join(lines).encode()))
    assert (values["accept_len"], values["accept_len_last"]) == (2.5, 3.0)
    assert "accept_len" not in _values(parse_server_log("sglang", decode_line("12:00:00", 9.0).encode()))


def test_a_whole_log_tells_whether_the_server_became_ready() -> None:
    ready = (
        f"[2026-03-01 12:00:00] The server is fired up and ready to roll!\n{decode_line('12:00:01', 9.0)}\n"
    )
    parsed = parse_output("auto", ready.encode())
    assert parsed.tool == "sglang.log"
    assert "the server became ready" in parsed.notes
    loading = b"[2026-03-01 12:00:00 TP0] Load weight begin. avail mem=80 GB\n"
    dead = loading + b"[2026-03-01 12:00:01] Scheduler hit an exception: x"
    broken = parse_output("auto", dead)
    assert broken.readings == ()
    assert broken.invalid is not None
    assert "a scheduler died of an exception" in broken.notes


def test_vllms_periodic_lines_give_throughput_and_acceptance() -> None:
    values = _values(
        parse_server_log("vllm", (vllm_lines(40.0) + vllm_lines(0.0, 0) + vllm_lines(60.0)).encode())
    )
    assert values["generation_throughput"] == 50.0
    assert values["generation_throughput_max"] == 60.0
    assert values["mean_acceptance_length"] == 2.5
    assert values["acceptance_rate"] == 0.5
    assert values["prefix_cache_hit_rate_pct"] == 12.5


def test_an_engine_that_died_makes_the_log_invalid_whatever_it_said_before() -> None:
    text = vllm_lines(40.0) + "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue\n"
    parsed = parse_output("auto", text.encode())
    assert parsed.tool == "vllm.log"
    assert parsed.invalid is not None and "EngineDeadError" in parsed.invalid


def test_nothing_is_known_of_another_engines_log() -> None:
    assert parse_server_log("command", decode_line("12:00:00", 9.0).encode()) == ()

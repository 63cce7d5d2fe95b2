"""Whatever a benchmark writes, a parser returns an answer: damaged, cut off, or not text at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optrack.metrics.output import Output, number, slug
from optrack.metrics.read import parse_output
from optrack.metrics.registry import parser_names, parsers
from tests.parsers.samples import LLAMA, NCCL, TABLE, decode_line, serving_table, sglang_row, vllm_lines

SAMPLES = (
    sglang_row(),
    serving_table(*TABLE).encode(),
    NCCL.encode(),
    LLAMA.encode(),
    decode_line("12:00:00", 9.0).encode(),
    vllm_lines(9.0).encode(),
)
KEYS = [
    "results",
    "benchmarks",
    "metrics",
    "command",
    "mean",
    "name",
    "stats",
    "completed",
    "percentiles",
    "output_throughput",
    "backend",
    "unit",
    "avg",
    "runs",
    "real_time",
    "performance",
    "mean_ttft",
    "avg_latency",
    "n_prompt",
    "n_gen",
    "avg_ts",
    "batch_size",
    "run_name",
    "output_len",
    "error",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(KEYS),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


@given(st.binary(max_size=400))
@settings(max_examples=60, deadline=None)
def test_no_bytes_make_a_parser_raise(data: bytes) -> None:
    parsed = parse_output("auto", data)
    assert parsed.readings or parsed.invalid


@given(JSON)
@settings(max_examples=150, deadline=None)
def test_no_json_makes_a_parser_raise(document: object) -> None:
    data = json.dumps(document).encode()
    for parser in parsers():
        output = Output(data)
        if parser.recognises(output):
            parser.parse(output)


@given(st.sampled_from(SAMPLES), st.integers(0, 2000), st.integers(0, 2000), st.binary(max_size=8))
@settings(max_examples=80, deadline=None)
def test_a_damaged_or_cut_off_output_never_makes_a_parser_raise(
    sample: bytes, cut: int, at: int, noise: bytes
) -> None:
    damaged = sample[: min(at, len(sample))] + noise + sample[at:]
    parse_output("auto", damaged[: len(damaged) - min(cut, len(damaged))])


@pytest.mark.parametrize("name", [n for n in parser_names() if n != "auto"])
def test_every_parser_says_why_there_is_nothing_in_an_empty_output(name: str) -> None:
    parsed = parse_output(name, b"")
    assert parsed.readings == ()
    assert parsed.invalid


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_a_byte_order_mark_tells_the_encoding(encoding: str) -> None:
    assert parse_output("auto", LLAMA.encode(encoding)).value("pp512_tok_s") == 12040.5


def test_numbers_are_read_as_tools_write_them() -> None:
    assert number("1,234.5") == 1234.5
    assert number("-0.00") == 0
    assert number("1.0526E+15") == 1.0526e15
    assert number("90.5%") == 90.5
    assert number("nan") != number("nan")
    for text in ("N/A", "", "-", "1,2,3", "not set", "1_000"):
        assert number(text) is None, text


def test_huge_numbers_and_deep_nesting_are_survived() -> None:
    huge = b'{"output_throughput": 1' + b"0" * 400 + b', "completed": 3, "backend": "sglang"}'
    assert parse_output("auto", huge).value("output_throughput") == float("inf")
    assert parse_output("auto", b"[" * 100_000).invalid is not None


def test_a_slug_keeps_letters_of_any_script() -> None:
    assert slug("test_μs[0]") == "test_μs_0"

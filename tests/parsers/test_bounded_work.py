"""No parser takes long over any text: its work grows with the text's length, whatever runs stand in it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator

import pytest

from optrack.metrics import server_logs, sglang_log
from optrack.metrics.output import LINE_CHARS, Output
from optrack.metrics.read import parse_output
from optrack.metrics.registry import parsers

LENGTH = 30_000
CPU_S = 0.75
UNITS = (
    *("=", "-", "_", ".", ",", ":", ";", "|", "/", "\\", "*", "+", "#", "%", "'", '"', "(", ")", "[", "]"),
    *(
        "{",
        "}",
        "<",
        ">",
        "0",
        "1",
        "a",
        "A",
        "p1",
        "é",
        "┃",
        " ",
        "\t",
        "\x1b",
        "\x1b[",
        "\x1b]",
        "\r",
        "\0",
    ),
    *(
        "1,",
        "1.",
        "1/",
        "1 ",
        "a:",
        "a ",
        "a,",
        "= ",
        "- ",
        "p1 ",
        "1:0",
        "[A] ",
        "a(",
        "(a)",
        " (",
        "mean ",
        "::",
    ),
    *("e+", "1e", "--- ", "inf ", "nan,", "\\u", '{"a":', '{"a":[', "[1,", '["', "[]", "{}", '"a", '),
)
BEGINNINGS = (
    "============ Serving Benchmark Result ============\n",
    "#       size         count      type   redop    root     time   algbw   busbw\n",
    "Name (time in ms)   Min   Max   Mean\n",
    "Benchmark                Time             CPU   Iterations\n",
    "Benchmark 1: sleep 1\n  Time (mean ± σ): ",
    "| model | size | params | backend | test | t/s |\n|---|---|---|---|---|---|\n| a | b | c | d | e | ",
    "===========================================================\n= PERFORMANCE OVERVIEW \n",
    "MLPerf Results Summary\nResult is : ",
    "NVIDIA AIPerf | LLM Metrics\n┃ Metric ┃ avg ┃\n",
    "[2025-01-01 00:00:00 TP0] Decode batch. ",
    "Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: ",
    "Benchmark ...\nDecode.  median latency: ",
    "run_number,output_throughput,completed\n",
    "commit\tval\tmemory\tstatus\n",
    "Running 1s test @ x\n  1 threads and 1 connections\n",
    "\nSummary:\n  Requests/sec:\t80.5\n",
    "Server Software: x\nRequests per second:    2.5 [#/sec] (mean)\n",
    "    http_reqs....: 400    39.5/s\n",
    "====== SET ======\n  5 parallel clients\n1.5 requests per second\n",
    "transaction type: x\ntps = 1.5 (without initial connection time)\n",
    "sysbench 1.0\n    events per second: 2.5\n",
    "Request Latency Statistics\n|===|===|\n| Benchmark | TTFT ||\n|---|---|\n",
    "Throughput: 9.5 tok/s\n",
)
PAIRS = ("=", "-", "|", "1", "a", " ", "1 ", "a: ", "a ", "1.", "(", ", ", "[")


def _texts(begin: str, unit: str) -> Iterator[str]:
    run = unit * (LENGTH // len(unit))
    if not begin:
        yield run
        yield f"{unit}\n" * (LENGTH // (len(unit) + 1))
    yield begin + "\n".join(run[at : at + 2000] for at in range(0, len(run), 2000)) + "!"


def _slow(begin: str, unit: str) -> Iterator[str]:
    """Name each parser that takes too long over the texts of these runs."""
    for text in _texts(begin, unit):
        output = Output(text.encode())
        steps: dict[str, Callable[[Output], object]] = {"lines": lambda out: out.lines}
        steps |= {
            "documents": lambda out: out.documents,
            "sglang": sglang_log.read_sglang,
            "vllm": server_logs.read_vllm,
        }
        steps["auto"] = lambda out: parse_output("auto", out.data)
        steps |= {parser.name: parser.parse for parser in parsers()}
        for name, step in steps.items():
            before = time.process_time()
            step(output)
            if (took := time.process_time() - before) > CPU_S:
                yield f"{name}: {took:.1f} s over {unit!r}"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(16))
def test_every_parser_reads_long_runs_of_any_sign_in_time_that_grows_with_their_length(part: int) -> None:
    assert [line for unit in UNITS[part::16] for line in _slow("", unit)] == []


@pytest.mark.slow
@pytest.mark.parametrize("begin", BEGINNINGS, ids=lambda begin: " ".join(begin.split())[:14])
def test_every_parser_reads_a_result_that_goes_on_without_end(begin: str) -> None:
    assert [line for unit in PAIRS for line in _slow(begin, unit)] == []


def test_a_long_line_shows_its_ends_and_no_half_number() -> None:
    output = Output(b"first = 1.5 " + b"12345 " * LENGTH + b"last = 2.5\nnext = 3")
    assert len(output.lines[0]) <= LINE_CHARS + 10 and output.lines[1] == "next = 3"
    assert output.lines[0].startswith("first = 1.5 12345") and output.lines[0].endswith("12345 last = 2.5")
    assert set(output.lines[0].split()) == {"first", "=", "1.5", "12345", "…", "last", "2.5"}
    assert output.text == "\n".join(output.lines)


def test_a_json_document_is_read_from_a_line_of_any_length() -> None:
    row = json.dumps({"itl_ms": [1.5] * LENGTH, "output_throughput": 9.5}).encode()
    assert parse_output("auto", b"begin\n" + row + b"\nend\n").value("output_throughput") == 9.5


def test_a_result_after_a_hundred_thousand_lines_in_brackets_is_still_read() -> None:
    log = b"[2025-01-31 10:00:00 TP0] Decode batch, #running-req: 1\n[INFO] {x\n" * 50_000
    assert parse_output("json", log + b'{"output_throughput": 9.5}\n').value("output_throughput") == 9.5

"""Outputs of benchmarks and servers, written for the tests in the shape that the tools give them."""

from __future__ import annotations

import json
from typing import Any


def sglang_row(**changes: Any) -> bytes:
    """Return a result line of bench_serving, as Python's json module writes it (with a bare Infinity)."""
    row: dict[str, Any] = {
        "tag": None,
        "backend": "sglang",
        "dataset_name": "random-ids",
        "request_rate": float("inf"),
        "max_concurrency": 1,
        "random_input_len": 128,
        "random_output_len": 64,
        "random_range_ratio": 1.0,
        "server_info": {"model_path": "m", "api_key": "sk-abc"},
        "duration": 4.5,
        "completed": 10,
        "total_input_tokens": 1280,
        "total_output_tokens": 640,
        "total_output_tokens_retokenized": 640,
        "request_throughput": 2.2,
        "output_throughput": 142.2,
        "mean_e2e_latency_ms": 450.0,
        "mean_ttft_ms": 20.5,
        "median_ttft_ms": 20.1,
        "mean_itl_ms": 6.75,
        "accept_length": None,
    }
    return json.dumps(row | changes).encode() + b"\n"


def serving_table(*rows: str, backend: str | None = "sglang") -> str:
    """Return a result table with the given rows, `label: value`, padded as the tools do."""
    lines = ["============ Serving Benchmark Result ============"]
    if backend:
        lines.append(f"{'Backend:':<40} {backend}")
    for row in rows:
        label, _, value = row.rpartition(":")
        lines.append(f"{label + ':':<40} {value.strip():<10}")
    return "\n".join([*lines, "=" * 50, ""])


TABLE = (
    "Successful requests: 32",
    "Benchmark duration (s): 10.00",
    "Total generated tokens: 2,048",
    "Total generated tokens (retokenized): 2040",
    "Request throughput (req/s): 3.20",
    "Output token throughput (tok/s): 1,204.80",
    "Mean TTFT (ms): 31.50",
    "Median TPOT (ms): -0.00",
    "P99 ITL (ms): 9.25",
    "Accept length: 2.25",
)

NCCL = """\
# nThread 1 nGpus 2 minBytes 8 maxBytes 1024 step: 2(factor) warmup iters: 5 iters: 20
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
           8             2     float     sum      -1    10.50    0.00    0.00      0    10.10    0.00    0.00      0
     1048576        262144     float     sum      -1    40.25   26.05   45.59      0    41.00   25.57   44.76    N/A
  1073741824     268435456     float     sum      -1   6000.5  178.94  313.15      0   6010.0  178.66  312.65      0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 119.36
#
"""

LLAMA = """\
ggml_cuda_init: found 1 CUDA devices:
| model                |       size |     params | backend | ngl |            test |                  t/s |
| -------------------- | ---------: | ---------: | ------- | --: | --------------: | -------------------: |
| llama 8B Q4_0        |   4.33 GiB |     8.03 B | CUDA    |  99 |           pp512 |     12040.50 ± 30.25 |
| llama 8B Q4_0        |   4.33 GiB |     8.03 B | CUDA    |  99 |  tg128 @ d4096 |        141.20 ± 0.40 |

build: 0123abc (9999)
"""


def decode_line(
    at: str, throughput: float, *, running: int = 1, accept: float | None = None, rank: str = ""
) -> str:
    """Return a decode line of SGLang's log at time `at` (`12:00:05`)."""
    accepted = f"accept len: {accept:.2f}, accept rate: 0.50, " if accept is not None else ""
    return (
        f"[2026-03-01 {at}{rank}] Decode batch, #running-req: {running}, #token: 100, token usage: 0.01, "
        f"{accepted}cuda graph: True, gen throughput (token/s): {throughput:.2f}, #queue-req: 0, "
    )


def vllm_lines(throughput: float, running: int = 1) -> str:
    """Return what vLLM logs every ten seconds."""
    head = "(APIServer pid=7) INFO 03-01 12:00:10"
    return (
        f"{head} [loggers.py:1] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: "
        f"{throughput} tokens/s, Running: {running} reqs, Waiting: 0 reqs, GPU KV cache usage: 1.5%, "
        "Prefix cache hit rate: 12.5%\n"
        f"{head} [metrics.py:1] SpecDecoding metrics: Mean acceptance length: 2.50, Accepted throughput: 3.00 "
        "tokens/s, Drafted throughput: 6.00 tokens/s, Accepted: 30 tokens, Drafted: 60 tokens\n"
    )

"""The names of the metrics that a tool's parser and an engine's server log are known to give.

The parsers pass on every number that a tool writes, so a name that isn't here may still be measured by a newer
tool; a tool that isn't here gives nobody knows what.
"""

from __future__ import annotations

from itertools import product

from optrack.errors import PlanError
from optrack.metrics import sglang_batch, sglang_serving, vllm_offline, vllm_serving
from optrack.metrics.registry import RULES_ONLY, parser_named

_STATISTICS = ("mean", "median", "std", "p50", "p75", "p90", "p95", "p99")
_SERVING = (
    *("completed", "failed", "duration", "request_throughput", "output_throughput", "concurrency"),
    *("total_input_tokens", "total_output_tokens", "max_output_tokens_per_s", "max_concurrent_requests"),
)
_SGLANG_SERVING = (
    *(
        "input_throughput",
        "total_throughput",
        "accept_length",
        "max_itl_ms",
        "total_output_tokens_retokenized",
    ),
    *(
        "total_input_text_tokens",
        "total_input_vision_tokens",
        "total_generated_tokens",
        "last_gen_throughput",
    ),
)
_VLLM_SERVING = (
    *("total_token_throughput", "request_goodput", "rtfx", "spec_decode_acceptance_length"),
    *("spec_decode_acceptance_rate", "max_output_tokens_per_s"),
)
_OFFLINE = (
    *(
        "successful_requests",
        "total_latency",
        "total_input_tokens",
        "total_output_tokens",
        "request_throughput",
    ),
    *("input_throughput", "output_throughput", "total_throughput", "last_gen_throughput"),
)
_BATCH = (
    *("latency", "last_ttft", "prefill_latency", "prefill_throughput", "median_decode_latency"),
    *(
        "median_decode_throughput",
        "total_latency",
        "overall_throughput",
        "input_throughput",
        "output_throughput",
    ),
    *("last_gen_throughput", "acc_length"),
)


def _latencies(*kinds: str) -> tuple[str, ...]:
    return tuple(f"{statistic}_{kind}_ms" for kind, statistic in product(kinds, _STATISTICS))


_OF_TOOL: dict[str, tuple[str, ...]] = {
    sglang_serving.NAME: (*_SERVING, *_SGLANG_SERVING, *_latencies("ttft", "tpot", "itl", "e2e_latency")),
    vllm_serving.NAME: (*_SERVING, *_VLLM_SERVING, *_latencies("ttft", "tpot", "itl", "e2el")),
    sglang_batch.OFFLINE: _OFFLINE,
    sglang_batch.ONE_BATCH: _BATCH,
    vllm_offline.THROUGHPUT: (
        *("elapsed_time", "num_requests", "total_num_tokens"),
        *("requests_per_second", "tokens_per_second", "output_tokens_per_second"),
    ),
    vllm_offline.LATENCY: ("avg_latency", *(f"p{n}_latency" for n in (10, 25, 50, 75, 90, 99))),
}
_OF_LOG: dict[str, tuple[str, ...]] = {
    "sglang": (
        *("gen_throughput", "gen_throughput_max", "gen_throughput_last", "accept_len", "accept_len_last"),
        *("accept_rate", "running_req", "queue_req", "token_usage", "cuda_graph_share", "decode_lines"),
    ),
    "vllm": (
        *("generation_throughput", "generation_throughput_max", "generation_throughput_last"),
        *("prompt_throughput", "running_reqs", "waiting_reqs", "kv_cache_usage_pct"),
        *("prefix_cache_hit_rate_pct", "mean_acceptance_length", "mean_acceptance_length_last"),
        *("acceptance_lines", "acceptance_rate"),
    ),
}


def names_of_tool(tool: str) -> frozenset[str] | None:
    """Return the metrics that the parser of `tool` is known to give, none for rules alone; None if unknown."""
    if tool in RULES_ONLY:
        return frozenset()
    if tool == "auto":
        return None
    try:
        known = _OF_TOOL.get(parser_named(tool).name)
    except PlanError:
        return None
    return frozenset(known) if known is not None else None


def names_of_log(engine: str) -> frozenset[str]:
    """Return the metrics that are read from the server's log of `engine`."""
    return frozenset(_OF_LOG.get(engine, ()))

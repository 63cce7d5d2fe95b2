"""The parsers by name: those of optrack, and those that other packages offer as `optrack.parsers`."""

from __future__ import annotations

import re
from functools import cache

from optrack.errors import PlanError
from optrack.metrics import (
    aiperf,
    genai_perf,
    generic,
    google_benchmark,
    guidellm,
    hyperfine,
    inferencex,
    mlperf,
    pyperf,
    pytest_benchmark,
    sglang_batch,
    sglang_log,
    sglang_serving,
    trtllm_bench,
    vllm_log,
    vllm_offline,
    vllm_serving,
    vllm_sweep,
)
from optrack.metrics import generic as results_tsv
from optrack.metrics import llama as llama_bench
from optrack.metrics import nccl as nccl_tests
from optrack.metrics.output import Parser
from optrack.model.text import nearest

GROUP = "optrack.parsers"
RULES_ONLY = ("rules", "regex", "log", "none")
"""Names that mean: no parser, only the metrics that the recipe defines."""

_BUILT_IN: tuple[Parser, ...] = (
    sglang_serving.PARSER,
    sglang_batch.OFFLINE_PARSER,
    sglang_batch.ONE_BATCH_PARSER,
    vllm_serving.PARSER,
    vllm_sweep.PARSER,
    vllm_offline.THROUGHPUT_PARSER,
    vllm_offline.LATENCY_PARSER,
    inferencex.PARSER,
    guidellm.PARSER,
    aiperf.PARSER,
    genai_perf.PARSER,
    trtllm_bench.PARSER,
    nccl_tests.PARSER,
    llama_bench.PARSER,
    hyperfine.PARSER,
    pytest_benchmark.PARSER,
    pyperf.PARSER,
    google_benchmark.PARSER,
    mlperf.PARSER,
    sglang_log.PARSER,
    vllm_log.PARSER,
    results_tsv.PARSER,
    generic.JSON,
    generic.CSV,
)
"""In the order in which `auto` asks them: the surest first, the most general last."""


@cache
def parsers() -> tuple[Parser, ...]:
    """Return all parsers in the order in which they are asked; those of other packages come first."""
    from importlib.metadata import entry_points

    added = [loaded for entry in entry_points(group=GROUP) if isinstance(loaded := entry.load(), Parser)]
    return (*added, *_BUILT_IN)


def parser_names() -> tuple[str, ...]:
    """Return the names that `parser:` accepts."""
    return ("auto", *(parser.name for parser in parsers()), *RULES_ONLY)


def parser_named(name: str) -> Parser:
    """Return the parser called `name`, an alias of it, or a spelling with other separators.

    Raises PlanError with the nearest name if there is none.
    """
    wanted = _folded(name)
    for parser in parsers():
        if wanted in {_folded(known) for known in (parser.name, *parser.aliases)}:
            return parser
    near = nearest(name, parser_names(), cutoff=0.5)
    hint = f"did you mean '{near}'?" if near else f"known parsers: {', '.join(parser_names())}"
    raise PlanError(f"unknown parser '{name}'", hint=hint)


def _folded(name: str) -> str:
    return re.sub(r"[-_. ]+", "", name.casefold())

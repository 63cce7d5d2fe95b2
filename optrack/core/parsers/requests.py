"""Whether the requests of a serving benchmark were really served: what its exit code doesn't tell."""

from __future__ import annotations

import math
import re

from optrack.core.parsers.output import Output
from optrack.core.parsers.parsed import Parsed

_REJECTED = re.compile(r"\[http_server\] Error: .*")
_FEW_TOKENS = 0.8
_COUNTS = frozenset({"completed", "failed", "duration", "total_input_tokens", "total_output_tokens"})


def checked(parsed: Parsed, *, expected: int | None = None, requested: int | None = None) -> Parsed:
    """Return `parsed` with `invalid` set if requests failed or were only counted as served.

    `expected` is the number of prompts asked for, `requested` the number that the output itself tells.
    SGLang's `bench_serving` counts rejected requests as successes: they show as a mean time to first token
    of 0 and as generated text of 0 tokens. Latencies and rates of no requests are no readings.
    """
    completed = parsed.value("completed")
    if parsed.invalid is None and completed is not None:
        why = _why_invalid(parsed, completed, expected if expected is not None else requested)
        parsed = parsed.model_copy(update={"invalid": why})
    if completed == 0:
        counts = tuple(r for r in parsed.readings if r.metric.name in _COUNTS)
        parsed = parsed.model_copy(update={"readings": counts})
    return _with_doubt(parsed)


def rejected(parsed: Parsed, log: Output) -> Parsed:
    """Return `parsed` as invalid if SGLang's log of the same time tells of requests that it rejected."""
    errors = _REJECTED.findall(log.text)
    if not errors or parsed.invalid is not None:
        return parsed
    return parsed.model_copy(update={"invalid": f"the server rejected {len(errors)} requests: {errors[0]}"})


def _with_doubt(parsed: Parsed) -> Parsed:
    """Return `parsed` with a note if much less text came back than tokens were counted."""
    generated = parsed.value("total_output_tokens")
    returned = parsed.value("total_output_tokens_retokenized")
    if not generated or not returned or returned >= _FEW_TOKENS * generated:
        return parsed
    note = f"text of {_count(returned)} tokens came back for {_count(generated)} that were counted"
    return parsed if note in parsed.notes else parsed.model_copy(update={"notes": (*parsed.notes, note)})


def _why_invalid(parsed: Parsed, completed: float, expected: int | None) -> str | None:
    failed = parsed.value("failed") or 0
    total = expected if expected is not None else completed + failed
    if completed == 0:
        return f"no request was completed ({_count(failed or total)} failed)"
    if failed > 0:
        return f"{_count(failed)} of {_count(completed + failed)} requests failed"
    if expected is not None and completed < expected:
        return f"{_count(completed)} of {expected} requests were completed"
    if expected is not None and completed > expected:
        return f"{_count(completed)} requests were completed, but {expected} were asked for"
    return _only_counted(parsed)


def _only_counted(parsed: Parsed) -> str | None:
    generated = parsed.value("total_output_tokens")
    if generated == 0:
        return "no token was generated"
    if generated and parsed.value("total_output_tokens_retokenized") == 0:
        return "requests were counted as completed but no text came back: the server rejected them"
    if parsed.value("mean_ttft_ms") == 0 and parsed.value("mean_e2e_latency_ms") != 0:
        return "the mean time to first token is 0: requests were rejected, not served"
    broken = [r.metric.name for r in parsed.readings if math.isnan(r.value)]
    return f"not a number: {', '.join(broken)}" if broken else None


def _count(value: float) -> str:
    return f"{value:,.0f}"

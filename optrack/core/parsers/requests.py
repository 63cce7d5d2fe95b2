"""Whether the requests of a serving benchmark were really served: what its exit code doesn't tell."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from optrack.core.parsers.output import Output
from optrack.core.parsers.parsed import Parsed

_REJECTED = re.compile(r"\[http_server\] Error: .*")
_NAMESPACE = re.compile(r"\bNamespace\(")
_SETTING = re.compile(r"\b(num_prompts|dataset_name)='?([\w-]+)")
_NOT_BY_COUNT = frozenset({"generated-shared-prefix"})
"""Datasets of SGLang whose requests `num_prompts` doesn't count."""
_OPTION = re.compile(
    r"""(?<![\w-])--num[-_]prompts(?:=|(?:[ \t]|\\\n)+)(["']?)"""
    r"""(?:(?P<count>\d{1,9})|\$\{?(?P<name>\w{1,64})\}?)\1(?![\w.,$])"""
)
_ANY_OPTION = re.compile(r"(?<![\w-])--num[-_]prompts\b")
_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\n]*", re.MULTILINE)
_MOST_SHELL_CHARS = 100_000
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


def short_of(parsed: Parsed, asked: int | None) -> Parsed:
    """Return `parsed` as invalid if fewer requests were completed than were asked for.

    For where the tool says only how many were completed: more may have been, a command can ask more than once.
    """
    completed = parsed.value("completed")
    if asked is None or completed is None or parsed.invalid is not None or completed >= asked:
        return parsed
    return parsed.model_copy(update={"invalid": f"{_count(completed)} of {asked} requests were completed"})


def asked_in_output(output: Output) -> int | None:
    """Return the prompts of the last `Namespace(…)` that the output tells: its tool's arguments; None if none."""
    last = None
    for line in output.lines:
        if (start := _NAMESPACE.search(line)) is not None:
            last = line[start.end() :]
    settings = dict(_SETTING.findall(last or ""))
    if settings.get("dataset_name") in _NOT_BY_COUNT or not settings.get("num_prompts", "").isdecimal():
        return None
    return int(settings["num_prompts"])


def asked_in_shell(shell: str, env: Mapping[str, str | None]) -> int | None:
    """Return the prompts that a command's text asks for by its last `--num-prompts`; None if that can't be told.

    A variable counts where `env` or one assignment in the text itself gives it a number.
    """
    text = _COMMENT.sub("", shell[:_MOST_SHELL_CHARS])
    options = list(_OPTION.finditer(text))
    if not options or len(options) != len(_ANY_OPTION.findall(text)):
        return None
    last = options[-1]
    if last["count"] is not None:
        return int(last["count"])
    values = re.findall(rf"(?<![\w$]){last['name']}=(\S*)", text)
    value = values[0] if len(values) == 1 else env.get(last["name"]) if not values else None
    value = (value or "").strip("\"';")
    return int(value) if value.isdecimal() and len(value) < 10 else None


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

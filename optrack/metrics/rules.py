"""The recipe's own metrics, and requests that failed or are missing."""

from __future__ import annotations

import csv
import io
import math
import re
import statistics
from collections.abc import Mapping
from typing import Any

from optrack.metrics.output import Output, Parsed, number, numeric
from optrack.model.metrics import Reading, metric_named
from optrack.model.recipe_parts import MetricRule
from optrack.model.written import path_problem

MOST_ROWS = 10_000
"""At most so many rows of a table, the last ones, are read."""
_MOST_VALUES = 200_000


def read_rules(
    rules: Mapping[str, MetricRule],
    output: Output,
    log: Output,
    files: Mapping[str, Output] | None = None,
    unread: Mapping[str, str] | None = None,
) -> tuple[tuple[Reading, ...], tuple[str, ...]]:
    """Return the readings that `rules` find, and a note for each metric that isn't there or is no number.

    `regex`, `json` and `csv` read the benchmark's output (or the file a rule names, from `files`): the last
    match counts. `log` reads the server's log in the benchmark's time window: the median of its matches.
    `unread` says of files why they couldn't be read.
    """
    found: list[Reading] = []
    notes: list[str] = []
    for name, rule in rules.items():
        source = output if rule.file is None else (files or {}).get(rule.file)
        if source is None:
            why = (unread or {}).get(rule.file or "", "is missing")
            notes.append(f"metric {name}: the file {rule.file} {why}")
            continue
        value, note = _read(rule, source, log)
        if value is not None:
            metric = metric_named(name, unit=rule.unit or None, better=rule.better)
            found.append(Reading(metric=metric, value=value))
        if value is not None and not math.isfinite(value):
            note = f"{value:g} is no finite number, so it is shown and counts for nothing"
        if note:
            notes.append(f"metric {name}: {note}")
    return tuple(found), tuple(notes)


def _read(rule: MetricRule, output: Output, log: Output) -> tuple[float | None, str | None]:
    if rule.regex is not None:
        values, why = matches(rule.regex, output.text)
        return (values[-1], why) if values else (None, why)
    if rule.log is not None:
        values, why = matches(rule.log, log.text)
        return (statistics.median(values), None) if values else (None, f"{why} in the server's log")
    if rule.json_path is not None:
        return _by_path(rule.json_path, output)
    if rule.csv is not None:
        return _by_column(rule.csv, output)
    return None, "the rule has none of regex, json, csv and log"


def matches(pattern: str, text: str) -> tuple[list[float], str | None]:
    """Return the numbers that `pattern` finds (in its first group, if any), and what was wrong, if anything.

    Something is wrong if nothing matches, or if the last match is no number.
    """
    try:
        expression = re.compile(pattern, re.MULTILINE)
    except (re.error, OverflowError, RecursionError) as error:
        return [], f"not a regular expression: {error}"
    values: list[float] = []
    last, matched = None, False
    for match in expression.finditer(text):
        last, matched = match[1] if expression.groups else match[0], True
        value = number(last) if last is not None else None
        if value is not None:
            values.append(value)
            if len(values) > _MOST_VALUES:
                del values[: _MOST_VALUES // 2]
    if not matched:
        return [], f"{_quoted(pattern)} matches nothing"
    if last is not None and number(last) is not None:
        return values, None
    what = f"{_quoted(last)} is not a number" if last is not None else "its group matched nothing"
    return values, f"{what}; the match before it counts" if values else what


def _quoted(text: str) -> str:
    return f"'{text}'" if len(text) <= 80 else f"'{text[:80]}…'"


def _by_path(path: str, output: Output) -> tuple[float | None, str | None]:
    if not output.documents:
        return None, "there is no JSON in the output"
    if (problem := path_problem(path)) is not None:
        return None, f"not a JMESPath expression: {problem}"
    import jmespath

    expression = jmespath.compile(path)
    for document in reversed(output.documents):
        try:
            value = _only_number(expression.search(document))
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 (the functions of JMESPath raise whatever Python does)
            return None, f"{_quoted(path)} can't be evaluated on the output: {_one_line(error)}"
        if value is not None:
            return value, None
    return None, f"{_quoted(path)} finds no number"


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return (text if len(text) <= 200 else f"{text[:200]}…") or type(error).__name__


def _only_number(value: Any) -> float | None:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return numeric(value)


def _by_column(column: str, output: Output) -> tuple[float | None, str | None]:
    rows = table_rows(output)
    if not rows or column not in rows[0]:
        names = ", ".join(rows[0]) if rows else "none"
        return None, f"there is no column '{column}' (columns: {names})"
    values = [value for row in rows if (value := number(row.get(column) or "")) is not None]
    return (values[-1], None) if values else (None, f"column '{column}' has no number")


def table_rows(output: Output) -> list[dict[str, str]]:
    """Return the last rows of delimited text by column; the first line with two columns or more is the header."""
    lines = [line for line in output.lines if line.strip()]
    sample = "\n".join(lines[:5])
    delimiter = max(("\t", ",", ";", "|"), key=sample.count)
    try:
        cells = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=delimiter))
    except csv.Error:
        return []
    start = next((i for i, row in enumerate(cells) if len(row) > 1), None)
    if start is None:
        return []
    header = [name.strip() for name in cells[start]]
    rows = [row for row in cells[start + 1 :] if len(row) == len(header)][-MOST_ROWS:]
    return [dict(zip(header, (cell.strip() for cell in row), strict=True)) for row in rows]


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

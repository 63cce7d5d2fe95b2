"""The metrics that a recipe defines by expressions, paths and columns."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Mapping
from typing import Any

from optrack.metrics.output import Output, number, numeric
from optrack.metrics.tables import table_rows
from optrack.model.metrics import Reading, metric_named
from optrack.model.recipe_parts import MetricRule
from optrack.model.written import path_problem

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

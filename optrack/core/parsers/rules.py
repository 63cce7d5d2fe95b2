"""Metrics that a recipe defines itself: by expression, JMESPath or column, or in the server's log."""

from __future__ import annotations

import csv
import io
import re
import statistics
from collections.abc import Mapping
from typing import Any

from optrack.core.metrics import Reading, metric_named
from optrack.core.parsers.output import Output, number, numeric
from optrack.core.recipes.recipe import MetricRule


def read_rules(
    rules: Mapping[str, MetricRule], output: Output, log: Output, files: Mapping[str, Output] | None = None
) -> tuple[tuple[Reading, ...], tuple[str, ...]]:
    """Return the readings that `rules` find, and a note for each metric that isn't there.

    `regex`, `json` and `csv` read the benchmark's output (or the file a rule names, from `files`): the last
    match counts. `log` reads the server's log in the benchmark's time window: the median of its matches.
    """
    found: list[Reading] = []
    notes: list[str] = []
    for name, rule in rules.items():
        source = output if rule.file is None else (files or {}).get(rule.file)
        if source is None:
            notes.append(f"metric {name}: the file {rule.file} is missing")
            continue
        value, note = _read(rule, source, log)
        if value is not None:
            metric = metric_named(name, unit=rule.unit or None, better=rule.better)
            found.append(Reading(metric=metric, value=value))
        if note:
            notes.append(f"metric {name}: {note}")
    return tuple(found), tuple(notes)


def _read(rule: MetricRule, output: Output, log: Output) -> tuple[float | None, str | None]:
    if rule.regex is not None:
        values, why = matches(rule.regex, output.text)
        return (values[-1], None) if values else (None, why)
    if rule.log is not None:
        values, why = matches(rule.log, log.text)
        return (statistics.median(values), None) if values else (None, f"{why} in the server's log")
    if rule.json_path is not None:
        return _by_path(rule.json_path, output)
    if rule.csv is not None:
        return _by_column(rule.csv, output)
    return None, "the rule has none of regex, json, csv and log"


def matches(pattern: str, text: str) -> tuple[list[float], str | None]:
    """Return the numbers that `pattern` finds (in its first group, if any), or why there are none."""
    try:
        expression = re.compile(pattern, re.MULTILINE)
    except re.error as error:
        return [], f"not a regular expression: {error}"
    texts = [match[1] if expression.groups else match[0] for match in expression.finditer(text)]
    values = [value for value in map(_number, texts) if value is not None]
    if values:
        return values, None
    return [], f"'{texts[-1]}' is not a number" if texts else f"'{pattern}' matches nothing"


def _number(text: str | None) -> float | None:
    return number(text) if text is not None else None


def _by_path(path: str, output: Output) -> tuple[float | None, str | None]:
    import jmespath
    from jmespath.exceptions import JMESPathError

    try:
        expression = jmespath.compile(path)
        for document in reversed(output.documents):
            value = _only_number(expression.search(document))
            if value is not None:
                return value, None
    except JMESPathError as error:
        return None, f"not a JMESPath expression: {' '.join(str(error).split())}"
    return None, f"'{path}' finds no number" if output.documents else "there is no JSON in the output"


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
    """Return the rows of delimited text by column; the first line with two columns or more is the header."""
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
    rows = [row for row in cells[start + 1 :] if len(row) == len(header)]
    return [dict(zip(header, (cell.strip() for cell in row), strict=True)) for row in rows]

"""Output of no known tool: plain JSON, delimited text, and result tables kept by hand."""

from __future__ import annotations

import re
from typing import Any

from optrack.metrics.output import (
    Output,
    Parsed,
    Parser,
    last_of,
    nothing,
    number,
    numeric,
    readings_of,
    slug,
)
from optrack.metrics.rules import MOST_ROWS, checked, table_rows
from optrack.model.metrics import metric_named

_MOST_METRICS = 200


def _flat(document: dict[str, Any], prefix: str = "") -> dict[str, float]:
    found: dict[str, float] = {}
    for key, value in document.items():
        name = f"{prefix}{key}"
        amount = None if isinstance(value, str) else numeric(value)
        if isinstance(value, dict) and name.count(".") < 4:
            found |= _flat(value, f"{name}.")
        elif amount is not None:
            found[name.replace(".", "_").rstrip(":")] = amount
        if len(found) >= _MOST_METRICS:
            break
    return found


def _errors(output: Output) -> str | None:
    """Return the error that every result of the output tells of, if they all do."""
    results = [r for d in output.documents for r in (d if isinstance(d, list) else [d])]
    if results and all(isinstance(r, dict) and isinstance(r.get("error"), str) for r in results):
        return str(results[-1]["error"])
    return None


def _recognises_json(output: Output) -> bool:
    if _errors(output):
        return True
    last = output.objects[-1] if output.objects and output.objects[-1] in output.documents else {}
    named = [
        name for name, value in last.items() if numeric(value) is not None and not isinstance(value, str)
    ]
    return any("_" in name and metric_named(name).better is not None for name in named)


def _parse_json(output: Output) -> Parsed:
    error = _errors(output)
    if error:
        return nothing("json", f"the output reports an error: {error}")
    results = [readings_of(flat) for document in output.objects if (flat := _flat(document))]
    if not results:
        return nothing("json", "the JSON is cut off" if output.torn else "no JSON object with numbers")
    parsed = last_of("json", results, "JSON objects in this pass")
    if output.torn:
        parsed = parsed.model_copy(update={"invalid": "the last JSON document is cut off"})
    return checked(parsed)


def _parse_csv(output: Output) -> Parsed:
    rows = [{k: number(v) for k, v in row.items()} for row in table_rows(output)]
    results = [readings_of(row) for row in rows if any(v is not None for v in row.values())]
    return last_of("csv", results, "rows in this pass") if results else nothing("csv", "no row with numbers")


JSON = Parser(
    name="json",
    source="RFC 8259; nested objects give names joined by underscores",
    recognises=_recognises_json,
    parse=_parse_json,
)
CSV = Parser(
    name="csv",
    source="RFC 4180, also with tabs, semicolons or bars; the first line has the names",
    recognises=lambda output: False,
    parse=_parse_csv,
)


NAME = "results.tsv"
_LABELS = frozenset({"experiment", "exp", "config_id", "commit", "id", "tag", "status", "description", "run"})
_BROKEN = re.compile(r"crash|fail|error|blocked|timeout|timed.?out|oom|abort", re.IGNORECASE)
_VERDICTS = ("status", "correctness", "result")


def _rows(output: Output) -> tuple[list[str], list[list[str]]]:
    lines = [line.split("\t") for line in output.lines if line.strip()]
    if not lines:
        return [], []
    return [name.strip() for name in lines[0]], [[c.strip() for c in line] for line in lines[1:]]


def recognises(output: Output) -> bool:
    """Whether the text is a table in tabs with a column for the experiment and one for what became of it."""
    header = {name.casefold() for name in _rows(output)[0]}
    return len(header) >= 3 and not header.isdisjoint(_LABELS) and "description" in header


def parse(output: Output) -> Parsed:
    """Return the numbers of the last row by column; a row whose status tells of a failure is invalid."""
    header, rows = _rows(output)
    whole = [row for row in rows if len(row) == len(header)]
    if not whole:
        return nothing(NAME, "the table has no rows" if header else "no table")
    results = [
        readings_of({slug(k): number(v) for k, v in zip(header, row, strict=True) if k not in _LABELS})
        for row in whole[-MOST_ROWS:]
    ]
    parsed = last_of(NAME, results, "rows")
    last = dict(zip((name.casefold() for name in header), whole[-1], strict=True))
    broken = [f"{key} is '{last[key]}'" for key in _VERDICTS if _BROKEN.search(last.get(key, ""))]
    notes = list(parsed.notes)
    if len(whole) < len(rows):
        notes.append(f"{len(rows) - len(whole)} rows have another number of fields and were left out")
    if len(rows[-1]) != len(header):
        broken.append("the last row is cut off")
    return parsed.model_copy(update={"invalid": broken[0] if broken else None, "notes": tuple(notes)})


PARSER = Parser(
    name=NAME,
    source="karpathy/autoresearch: program.md (results.tsv), and its descendants",
    recognises=recognises,
    parse=parse,
    aliases=("autoresearch", "tsv"),
)

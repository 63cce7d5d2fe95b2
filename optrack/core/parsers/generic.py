"""Output of no known tool: plain JSON whose numbers are named like metrics, and delimited text."""

from __future__ import annotations

from typing import Any

from optrack.core.metrics import metric_named
from optrack.core.parsers.output import Output, number, numeric
from optrack.core.parsers.parsed import Parsed, Parser, last_of, nothing, readings_of
from optrack.core.parsers.requests import checked
from optrack.core.parsers.rules import table_rows

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

"""Output of a tool that nobody listed, read by its shape: JSON, tables, and lines of `name: value unit`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from optrack.metrics.lines import add_lines
from optrack.metrics.output import Output, Parsed, last_of, number, numeric, slug
from optrack.metrics.requests import checked
from optrack.metrics.rows import (
    Found,
    add_measure,
    add_rows,
    is_setting,
    named,
    slugged,
)
from optrack.metrics.tables import (
    MOST_ROWS,
    TextTable,
    aligned_tables,
    delimited_table,
    framed_tables,
    has_no_header,
    is_header,
    matrices,
    measure_of,
)
from optrack.metrics.tool import WORK, setting_of, tool
from optrack.model.metrics import unit_of

NOTE = "read by shape: no known tool wrote this, so look at the names and units"
_MOST_DEPTH = 6
_NO_LINE = "no table and no line of a name and a number"


def _json(output: Output) -> Found:
    """Return what the JSON holds: of several documents of the same keys each as a row, else the last."""
    found = Found()
    documents = list(output.objects)
    if not documents:
        return found
    same = [d for d in documents if d.keys() == documents[-1].keys()]
    if len(same) > 1 and not any(_has_rows(value) for value in same[-1].values()):
        add_rows(found, [_flat(d, found) for d in same])
        return found
    if len(documents) > 1:
        found.notes.append(f"{len(documents)} JSON objects in this pass; the last one counts")
    lists: list[tuple[str, list[Any]]] = []
    for path, key, value in _leaves(documents[-1], "", found, lists):
        measure = measure_of(value) if isinstance(value, str) and " " in value else None
        amount = None if isinstance(value, str) else numeric(value)
        if measure is not None and unit_of(measure[1]) is not None:
            name, unit = named(path)
            add_measure(found, name, measure[0], measure[1], unit, "", measure[2])
        elif key in WORK or (amount is not None and is_setting(key)):
            if amount is not None or isinstance(value, str):
                found.settings[path] = setting_of(value)
        elif amount is not None and path:
            name, unit = named(path)
            found.add(name, amount, unit)
    for path, rows in lists:
        flat = [_flat(row, found) for row in rows if isinstance(row, dict)]
        add_rows(found, flat, prefix=path if len(lists) > 1 else "")
    return found


def _has_rows(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_rows, value.values()))
    return isinstance(value, list) and any(isinstance(row, dict) for row in value)


def _leaves(
    value: Mapping[str, Any],
    path: str,
    found: Found,
    lists: list[tuple[str, list[Any]]] | None,
    depth: int = 0,
) -> Iterator[tuple[str, str, Any]]:
    """Yield the path of each plain value, its own key, and itself; lists of objects go to `lists`."""
    for key, inner in value.items():
        name = slugged(f"{path} {key}") if path else slugged(str(key))
        if (
            isinstance(inner, dict)
            and isinstance(inner.get("unit"), str)
            and numeric(inner.get("value")) is not None
        ):
            yield name, slugged(str(key)), f"{inner['value']} {inner['unit']}"
        elif isinstance(inner, dict):
            if depth < _MOST_DEPTH:
                yield from _leaves(inner, name, found, lists, depth + 1)
            else:
                found.notes.append(f"{name} is nested too deeply and was left out")
        elif isinstance(inner, list):
            if lists is not None and inner and any(isinstance(x, dict) for x in inner):
                lists.append((name, inner))
            elif inner:
                found.notes.append(f"{name}: a list of {len(inner)} was left out")
        else:
            yield name, slugged(str(key)), inner


def _flat(row: Mapping[str, Any], found: Found) -> dict[str, Any]:
    """Return a row's values with those nested in it, by joined names; `found` is told what is left out."""
    inner = Found()
    flat = {path: value for path, _, value in _leaves(row, "", inner, None)}
    found.notes += [note for note in inner.notes if note not in found.notes]
    return flat


def _delimited(output: Output) -> Found:
    found = Found()
    table = delimited_table(output)
    if table is not None:
        add_rows(found, table.records())
    return found


def _tables(output: Output) -> tuple[Found, frozenset[int]]:
    """Return what framed and aligned tables hold, and the numbers of their lines; of tables alike the last."""
    found = Found()
    tables = [*framed_tables(output)]
    taken = {line for table in tables for line in table.lines}
    tables += [table for table in aligned_tables(output) if taken.isdisjoint(table.lines)]
    last: dict[tuple[str, ...], TextTable] = {table.header: table for table in tables}
    if len(last) < len(tables):
        found.notes.append(
            f"{len(tables)} tables, {len(tables) - len(last)} of them again later; the last of each counts"
        )
    for table in last.values():
        add_rows(found, table.records())
    return found, frozenset(line for table in tables for line in table.lines)


def _errors(output: Output) -> str | None:
    """Return the error that every result of the output tells of, if they all do."""
    results = [r for d in output.documents for r in (d if isinstance(d, list) else [d])]
    if results and all(isinstance(r, dict) and isinstance(r.get("error"), str) for r in results):
        return f"the output reports an error: {results[-1]['error']}"
    return None


def _text(output: Output) -> tuple[Found, bool]:
    """Return what tables and lines hold, and whether they are a result: something that is good or bad, or a table
    with units in it."""
    found, taken = _tables(output)
    has_units = any(reading.metric.unit for reading in found.readings.values())
    add_lines(output, found, taken | _add_matrices(output, found))
    return found, has_units or _tells(found)


def _add_matrices(output: Output, found: Found) -> frozenset[int]:
    taken: frozenset[int] = frozenset()
    for title, cells, lines in matrices(output):
        name, unit = named(title)
        for row, column, value in cells:
            add_measure(found, f"{name}_{row}_{column}", value, "", unit, "", None)
        taken |= lines
    return taken


def _parsed(found: Found, why: str) -> Parsed:
    parsed = Parsed(notes=tuple(dict.fromkeys(found.notes)), settings=found.settings)
    if not found.readings:
        return parsed.but(invalid=why)
    readings = tuple(found.readings.values())
    return checked(parsed.but(readings=readings, notes=(NOTE, *parsed.notes)))


def _tells(found: Found) -> bool:
    """Whether something in it is known to be good or bad, so that it is a result and no list of numbers."""
    return any(reading.metric.better is not None for reading in found.readings.values())


def _whole_json(output: Output) -> Parsed:
    if (error := _errors(output)) is not None:
        return Parsed(invalid=error)
    parsed = _parsed(_json(output), "the JSON is cut off" if output.torn else "no JSON object with numbers")
    return (
        parsed.but(invalid="the last JSON document is cut off") if output.torn and parsed.readings else parsed
    )


def _json_result(output: Output) -> Parsed | None:
    last = output.documents[-1] if output.documents else None
    is_its = _errors(output) is not None or (isinstance(last, dict | list) and _tells(_json(output)))
    return _whole_json(output) if is_its else None


def _whole_table(output: Output) -> Parsed:
    why = "no header row: the first row holds numbers" if has_no_header(output) else "no row with numbers"
    return _parsed(_delimited(output), why)


def _text_result(output: Output) -> Parsed | None:
    if output.torn or has_no_header(output):
        return None
    found, is_result = _text(output)
    return _parsed(found, _NO_LINE) if is_result else None


_LABELS = frozenset({"experiment", "exp", "config_id", "commit", "id", "tag", "status", "description", "run"})
_REMARKS = frozenset(
    {"description", "notes", "note", "comment", "comments", "status", "verdict", "correctness"}
)
_BROKEN = re.compile(r"crash|fail|error|blocked|timeout|timed.?out|oom|abort", re.IGNORECASE)


def _experiments(output: Output) -> Parsed | None:
    """Read a table in tabs with a column for the experiment and one for what became of it."""
    first = next((line for line in output.lines if line.strip()), "")
    names = {name.strip().casefold() for name in first.split("\t")}
    is_its = len(names) >= 3 and not names.isdisjoint(_LABELS - _REMARKS) and not names.isdisjoint(_REMARKS)
    return _last_experiment(output) if is_its else None


def _last_experiment(output: Output) -> Parsed:
    """Return the numbers of the last row by column; a row whose status tells of a failure is invalid."""
    lines = [line.split("\t") for line in output.lines if line.strip()]
    header, *rows = [[cell.strip() for cell in line] for line in lines] or [[]]
    if has_no_header(output) or not is_header(header):
        return Parsed(invalid="no header row: the first row doesn't hold the names of the columns")
    whole = [row for row in rows if len(row) == len(header)]
    if not whole:
        return Parsed(invalid="the table has no rows" if header else "no table")
    columns = [name.casefold() for name in header]
    results = [
        {slug(k): number(v) for k, v in zip(header, row, strict=True) if k not in _LABELS}
        for row in whole[-MOST_ROWS:]
    ]
    parsed, last = last_of(results, "rows"), dict(zip(columns, whole[-1], strict=True))
    if len(whole) < len(rows):
        left = f"{len(rows) - len(whole)} rows have another number of fields and were left out"
        parsed = parsed.but(notes=(*parsed.notes, left))
    for key in ("status", "correctness", "result"):
        parsed = parsed.because(f"{key} is '{last[key]}'" if _BROKEN.search(last.get(key, "")) else None)
    return parsed.because("the last row is cut off" if len(rows[-1]) != len(header) else None)


JSON = tool(
    "json",
    "RFC 8259; nested objects give names joined by underscores",
    text=_json_result,
    otherwise=_whole_json,
)
PARSERS = (
    tool(
        "results.tsv",
        "karpathy/autoresearch: program.md (results.tsv), and its descendants; the last row counts",
        text=_experiments,
        otherwise=_last_experiment,
        aliases=("autoresearch", "tsv"),
    ),
    tool(
        "csv",
        "RFC 4180, also with tabs, semicolons or bars; the first line has the names",
        text=lambda output: (
            _whole_table(output) if not output.documents and _tells(_delimited(output)) else None
        ),
        otherwise=_whole_table,
    ),
    tool(
        "text",
        "tables in markdown, framed or aligned, and lines of a name, a number and a unit",
        text=_text_result,
        otherwise=lambda output: _parsed(_text(output)[0], _NO_LINE),
    ),
)
"""In the order in which they are asked."""

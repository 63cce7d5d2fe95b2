"""Result tables that people and agents keep by hand, a row for each experiment: the last row counts."""

from __future__ import annotations

import re

from optrack.metrics.output import Output, Parsed, Parser, last_of, nothing, number, readings_of, slug
from optrack.metrics.tables import MOST_ROWS, has_no_header, is_header

NAME = "results.tsv"
_LABELS = frozenset({"experiment", "exp", "config_id", "commit", "id", "tag", "status", "description", "run"})
_REMARKS = frozenset(
    {"description", "notes", "note", "comment", "comments", "status", "verdict", "correctness"}
)
_BROKEN = re.compile(r"crash|fail|error|blocked|timeout|timed.?out|oom|abort", re.IGNORECASE)
_VERDICTS = ("status", "correctness", "result")


def _rows(output: Output) -> tuple[list[str], list[list[str]]]:
    lines = [line.split("\t") for line in output.lines if line.strip()]
    if not lines:
        return [], []
    return [name.strip() for name in lines[0]], [[c.strip() for c in line] for line in lines[1:]]


def _recognises(output: Output) -> bool:
    """Whether the text is a table in tabs with a column for the experiment and one for what became of it."""
    header = {name.casefold() for name in _rows(output)[0]}
    return len(header) >= 3 and not header.isdisjoint(_LABELS - _REMARKS) and not header.isdisjoint(_REMARKS)


def _parse(output: Output) -> Parsed:
    """Return the numbers of the last row by column; a row whose status tells of a failure is invalid."""
    header, rows = _rows(output)
    if has_no_header(output) or not is_header(header):
        return nothing(NAME, "no header row: the first row doesn't hold the names of the columns")
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


PARSERS = (
    Parser(
        name=NAME,
        source="karpathy/autoresearch: program.md (results.tsv), and its descendants",
        recognises=_recognises,
        parse=_parse,
        aliases=("autoresearch", "tsv"),
    ),
)

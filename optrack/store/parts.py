"""What of a run lies in tables beside its own, read for many runs in one query each."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any, Literal

from optrack.model.metrics import Sample
from optrack.store import rows

Part = Literal["stages", "samples", "snapshot", "artifacts", "notes"]
"""What of a run lies in other tables and is read only where it is asked for."""

WHOLE: tuple[Part, ...] = ("stages", "samples", "snapshot", "artifacts", "notes")

_AT_ONCE = 10_000


def rows_in(
    connection: sqlite3.Connection, query: str, values: Sequence[str], *also: object
) -> list[sqlite3.Row]:
    """Return the rows of a query whose `{}` stands for a list of values, of which there may be any number."""
    found: list[sqlite3.Row] = []
    for start in range(0, len(values), _AT_ONCE):
        some = values[start : start + _AT_ONCE]
        found += connection.execute(query.format(", ".join("?" * len(some))), (*some, *also)).fetchall()
    return found


def _grouped(found: Iterable[sqlite3.Row], column: str) -> dict[str, tuple[Any, ...]]:
    groups: dict[str, list[Any]] = {}
    for row in found:
        groups.setdefault(row["run"], []).append(row[column])
    return {run: tuple(values) for run, values in groups.items()}


def _stages(connection: sqlite3.Connection, runs: Sequence[str]) -> dict[str, dict[str, float]]:
    query = "SELECT run, stage, seconds FROM stage WHERE run IN ({}) ORDER BY seq"
    stages: dict[str, dict[str, float]] = {}
    for row in rows_in(connection, query, runs):
        of_run = stages.setdefault(row["run"], {})
        of_run[row["stage"]] = of_run.get(row["stage"], 0.0) + row["seconds"]
    return stages


def samples_of(
    connection: sqlite3.Connection, runs: Sequence[str], metric: str | None = None
) -> dict[str, tuple[Sample, ...]]:
    if metric is None:
        found = rows_in(connection, "SELECT * FROM sample WHERE run IN ({}) ORDER BY seq", runs)
    else:
        query = "SELECT * FROM sample WHERE run IN ({}) AND metric = ? ORDER BY seq"
        found = rows_in(connection, query, runs, metric)
    groups: dict[str, list[Sample]] = {}
    for row in found:
        groups.setdefault(row["run"], []).append(rows.sample(row))
    return {run: tuple(samples) for run, samples in groups.items()}


def _snapshots(connection: sqlite3.Connection, runs: Sequence[str]) -> dict[str, Any]:
    query = "SELECT run, part, data FROM part JOIN content USING (digest) WHERE run IN ({})"
    groups: dict[str, list[sqlite3.Row]] = {}
    for row in rows_in(connection, query, runs):
        groups.setdefault(row["run"], []).append(row)
    content = cache(partial(_content, connection))
    return {run: rows.snapshot(parts, content) for run, parts in groups.items()}


def _artifacts(connection: sqlite3.Connection, runs: Sequence[str]) -> dict[str, tuple[str, ...]]:
    return _grouped(
        rows_in(connection, "SELECT run, path FROM artifact WHERE run IN ({}) ORDER BY seq", runs), "path"
    )


def _notes(connection: sqlite3.Connection, runs: Sequence[str]) -> dict[str, tuple[str, ...]]:
    return _grouped(
        rows_in(connection, "SELECT run, text FROM run_note WHERE run IN ({}) ORDER BY seq", runs), "text"
    )


def _content(connection: sqlite3.Connection, digest: str) -> str:
    row = connection.execute("SELECT data FROM content WHERE digest = ?", (digest,)).fetchone()
    return str(row["data"])


LOADERS: Mapping[Part, Callable[[sqlite3.Connection, Sequence[str]], Mapping[str, Any]]] = {
    "stages": _stages,
    "samples": samples_of,
    "snapshot": _snapshots,
    "artifacts": _artifacts,
    "notes": _notes,
}

"""Reads runs by their names, and what of many runs lies in tables beside their own in one query each."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from optrack.errors import UsageError
from optrack.model.metrics import Sample
from optrack.model.run import SessionRecord
from optrack.model.snapshot import Snapshot, snapshot_of
from optrack.model.text import nearest
from optrack.store import rows

Part = Literal["stages", "samples", "snapshot", "artifacts", "notes", "session"]
"""What of a run lies in other tables and is read only where it is asked for."""

WHOLE: tuple[Part, ...] = ("stages", "samples", "snapshot", "artifacts", "notes", "session")

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


def _facts(connection: sqlite3.Connection, runs: Sequence[str], *kinds: str) -> Iterator[tuple[str, Any]]:
    """Yield run and data of the runs' events of these kinds, in order."""
    listed = ", ".join(f"'{kind}'" for kind in kinds)
    query = f"SELECT run, data FROM event WHERE kind IN ({listed}) AND run IN ({{}}) ORDER BY seq"
    for row in rows_in(connection, query, runs):
        yield row["run"], json.loads(row["data"])


def _stages(connection: sqlite3.Connection, runs: Sequence[str]) -> dict[str, dict[str, float]]:
    stages: dict[str, dict[str, float]] = {}
    for run, event in _facts(connection, runs, "stage_ended"):
        of_run = stages.setdefault(run, {})
        of_run[event["stage"]] = of_run.get(event["stage"], 0.0) + event["seconds"]
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


def samples_by_event(
    connection: sqlite3.Connection, runs: Iterable[str], events: Sequence[int]
) -> dict[int, tuple[Sample, ...]]:
    """Return the samples that each of these events of these runs brought."""
    groups: dict[int, list[Sample]] = {}
    if events:
        query = "SELECT * FROM sample WHERE run IN ({}) AND event BETWEEN ? AND ? ORDER BY seq"
        for row in rows_in(connection, query, list(runs), min(events), max(events)):
            groups.setdefault(row["event"], []).append(rows.sample(row))
    return {event: tuple(samples) for event, samples in groups.items()}


def _snapshots(connection: sqlite3.Connection, runs: Sequence[str]) -> dict[str, Snapshot]:
    found = rows_in(connection, "SELECT run, part, digest FROM part WHERE run IN ({})", runs)
    digests = list({row["digest"] for row in found})
    texts = rows_in(connection, "SELECT digest, data FROM content WHERE digest IN ({})", digests)
    contents = {row["digest"]: json.loads(row["data"]) for row in texts}
    parts: dict[str, dict[str, Any]] = {}
    for row in found:
        parts.setdefault(row["run"], {})[row["part"]] = contents[row["digest"]]
    return {run: snapshot_of(of_run) for run, of_run in parts.items()}


def _artifacts(connection: sqlite3.Connection, runs: Sequence[str]) -> dict[str, tuple[str, ...]]:
    return _texts(_facts(connection, runs, "artifact_written"), "path")


def _notes(connection: sqlite3.Connection, runs: Sequence[str]) -> dict[str, tuple[str, ...]]:
    return _texts(_facts(connection, runs, "noted", "remarked"), "text")


def _sessions(connection: sqlite3.Connection, runs: Sequence[str]) -> dict[str, SessionRecord]:
    plans: dict[str, Any] = {}
    places: dict[str, dict[int, Any]] = {}
    for run, event in _facts(connection, runs, "session_planned", "launch_placed"):
        if event.pop("kind") == "session_planned":
            plans[run] = event
        else:
            places.setdefault(run, {})[event.pop("launch")] = event
    return {
        run: SessionRecord.model_validate({**plans.get(run, {}), "places": places.get(run, {})})
        for run in {*plans, *places}
    }


def _texts(facts: Iterable[tuple[str, Any]], field: str) -> dict[str, tuple[str, ...]]:
    """Return this field of the facts of each run; what was recorded twice is there once."""
    groups: dict[str, dict[str, None]] = {}
    for run, event in facts:
        groups.setdefault(run, {})[rows.stored(event[field])] = None
    return {run: tuple(texts) for run, texts in groups.items()}


def full_id(connection: sqlite3.Connection, name: str) -> str:
    """Return the id of the run that a name means: its id, the beginning of it, or any part that no other has.

    Raises UsageError for an unknown one, naming the nearest, and for one that several runs answer to.
    """
    if connection.execute("SELECT 1 FROM run WHERE id = ?", (name,)).fetchone():
        return name
    known = [row["id"] for row in connection.execute("SELECT id FROM run ORDER BY seq DESC, id DESC")]
    for found in ([i for i in known if i.startswith(name)], [i for i in known if name in i]):
        if name and len(found) == 1:
            return str(found[0])
        if name and found:
            several = ", ".join(found[:5])
            raise UsageError(f"{name} could be {len(found)} runs", hint=f"the latest are {several}")
    near = nearest(name, known[:1000], cutoff=0.5) or next(iter(known), None)
    raise UsageError(f"there is no run {name}", hint=f"did you mean {near}?" if near else "nothing ran yet")


LOADERS: Mapping[Part, Callable[[sqlite3.Connection, Sequence[str]], Mapping[str, Any]]] = {
    "stages": _stages,
    "samples": samples_of,
    "snapshot": _snapshots,
    "artifacts": _artifacts,
    "notes": _notes,
    "session": _sessions,
}

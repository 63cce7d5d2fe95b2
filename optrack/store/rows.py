"""Turns rows of the views into values of the model, and values into what a column holds."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter

from optrack.model.events import EVENT, Entry, Event
from optrack.model.item import ItemState, KnownFailure, Note
from optrack.model.metrics import Metric, Sample
from optrack.model.plan import Item
from optrack.model.run import Failure, ProcessId, Run

V = TypeVar("V", bound=BaseModel)

_ITEMS: TypeAdapter[list[Item]] = TypeAdapter(list[Item])
_IN_JSON = ("failure", "judgement")


KnownStates = dict[int, tuple[tuple[Any, ...], ItemState]]
"""An item's key -> all that its state was made of, and that state."""


def value(kind: type[V], row: sqlite3.Row, **also: Any) -> V:
    """Return a row as a value: its columns that are fields of it, and the fields given."""
    columns = {name: row[name] for name in row.keys() if name in kind.model_fields}  # noqa: SIM118
    columns |= {name: json.loads(columns[name]) for name in _IN_JSON if columns.get(name)}
    return kind.model_validate(columns | also)


def item_states(
    found: Sequence[sqlite3.Row], notes: Mapping[int, tuple[Note, ...]], known: KnownStates
) -> tuple[ItemState, ...]:
    """Return rows of `item_state` as values; `notes` are those of each item by its key.

    A state whose row is as it was is taken from `known`, which is brought up to date.
    """
    made_of = {row["key"]: (at, *row, notes.get(row["key"])) for at, row in enumerate(found)}
    new = [row for row in found if row["key"] not in known or known[row["key"]][0] != made_of[row["key"]]]
    items = _ITEMS.validate_python(json.loads("[" + ",".join(row["data"] for row in new) + "]"))
    for row, item in zip(new, items, strict=True):
        key = row["key"]
        if (
            row["archived"] or row["added"]
        ):  # what the plan's text doesn't have stands where the database put it
            item = item.model_copy(update={"id": row["id"], "rank": made_of[key][0]})
        known[key] = made_of[key], value(ItemState, row, item=item, notes=notes.get(key, ()))
    return tuple(known[row["key"]][1] for row in found)


def run(row: sqlite3.Row, recipe: Mapping[str, Any], **parts: Any) -> Run:
    """Return a row of `run_record` as a value; `parts` are the fields that are kept in other tables."""
    process = {name: row[f"runner_{name}"] for name in ProcessId.model_fields}
    return value(
        Run,
        row,
        beside=row["paired_run"],
        plan_digest=row["plan_digest"] or "",
        recipe=recipe,
        runner=None if process["pid"] is None else process,
        **parts,
    )


def sample(row: sqlite3.Row) -> Sample:
    """Return a row of `sample` as a value."""
    return Sample(
        metric=Metric(name=row["metric"], unit=row["unit"], better=row["better"]),
        value=row["value"] if row["special"] is None else float(row["special"]),
        launch=row["launch"],
        repetition=row["repetition"],
        invalid=row["invalid"],
    )


def event(row: sqlite3.Row, **apart: Any) -> Event:
    """Return a row of `event` as a value, with what of it is kept in other tables."""
    return EVENT.validate_python(json.loads(row["data"]) | apart)


def entry(row: sqlite3.Row, samples: tuple[Sample, ...]) -> Entry:
    """Return a row of `event` as followers are told it, with its samples and (`failure`) the run's failure."""
    apart: dict[str, Any] = {"samples": samples} if row["kind"] == "repetition_measured" else {}
    if row["failure"]:
        apart["failure"] = json.loads(row["failure"])
    return value(Entry, row, event=event(row, **apart))


def by_fingerprint(found: Sequence[sqlite3.Row]) -> tuple[KnownFailure, ...]:
    """Return the failures of these rows of `run_record` (oldest first), the one met last first."""
    groups: dict[str, list[sqlite3.Row]] = {}
    for row in found:
        groups.setdefault(row["fingerprint"], []).append(row)
    known = [_known_failure(fingerprint, group) for fingerprint, group in groups.items()]
    return tuple(sorted(known, key=lambda failure: failure.last_at, reverse=True))


def _known_failure(fingerprint: str, group: Sequence[sqlite3.Row]) -> KnownFailure:
    latest = Failure.model_validate(json.loads(group[-1]["failure"]))
    return KnownFailure(
        fingerprint=fingerprint,
        kind=latest.kind,
        message=latest.message,
        items=tuple(dict.fromkeys(row["item"] for row in group)),
        runs=tuple(row["id"] for row in group),
        first_at=group[0]["started_at"],
        last_at=group[-1]["started_at"],
    )


def stored(text: str) -> str:
    """Return the text as the database can hold it: what is no Unicode (an odd byte of a path) is replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def as_text(at: datetime) -> str:
    """Return the time as `2026-11-29T18:45:12.000000Z`; one without a zone is taken as UTC."""
    moment = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond:06d}Z"

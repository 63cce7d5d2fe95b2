"""Turns rows of the views into values, and groups failures."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter

from optrack.model.events import EVENT, Entry, Event
from optrack.model.item import (
    ItemState,
    Judged,
    KnownFailure,
    Note,
)
from optrack.model.judgement import Judgement
from optrack.model.metrics import Metric, Sample
from optrack.model.plan import Item
from optrack.model.run import Failure, ProcessId, Run

V = TypeVar("V", bound=BaseModel)

_ITEMS: TypeAdapter[list[Item]] = TypeAdapter(list[Item])


KnownStates = dict[int, tuple[tuple[Any, ...], ItemState]]
"""An item's key -> all that its state was made of, and that state."""


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
        standing = _as_it_stands(row, item, made_of[key][0])
        known[key] = (made_of[key], _item_state(row, standing, notes))
    return tuple(known[row["key"]][1] for row in found)


def _as_it_stands(row: sqlite3.Row, item: Item, position: int) -> Item:
    """Return the item with the id and rank it has now, where its text isn't the plan's."""
    if row["archived"] or row["added"]:
        return item.model_copy(update={"id": row["id"], "rank": position})
    return item


def _item_state(row: sqlite3.Row, item: Item, notes: Mapping[int, tuple[Note, ...]]) -> ItemState:
    judgement = row["judgement"]
    return ItemState(
        item=item,
        status=row["status"],
        archived=bool(row["archived"]),
        stale=bool(row["stale"]),
        adopted=bool(row["adopted"]),
        runs=row["runs"],
        last_run=row["last_run"],
        last_outcome=row["last_outcome"],
        judgement=Judgement.model_validate(json.loads(judgement)) if judgement else None,
        notes=notes.get(row["key"], ()),
    )


def value(kind: type[V], row: sqlite3.Row) -> V:
    """Return a row whose columns are the fields of a value."""
    return kind.model_validate(dict(row))


def note(row: sqlite3.Row) -> Note:
    """Return a row of `note_record` as a value."""
    return Note(at=from_text(row["at"]), who=row["who"], text=row["text"])


def run(row: sqlite3.Row, recipe: Mapping[str, Any], **whole: Any) -> Run:
    """Return a row of `run_record` as a value; `whole` are the fields that are kept in other tables."""
    return Run(
        id=row["id"],
        plan=row["plan"],
        item=row["item"],
        host=row["host"],
        started_at=from_text(row["started_at"]),
        ended_at=from_text(row["ended_at"]) if row["ended_at"] else None,
        seconds=row["seconds"],
        outcome=row["outcome"],
        stage=row["stage"],
        failure=Failure.model_validate(json.loads(row["failure"])) if row["failure"] else None,
        role=row["role"],
        beside=row["paired_run"],
        actor=row["actor"],
        plan_digest=row["plan_digest"] or "",
        recipe_digest=row["recipe_digest"],
        recipe=recipe,
        runner=_runner(row),
        **whole,
    )


def _runner(row: sqlite3.Row) -> ProcessId | None:
    if row["runner_pid"] is None:
        return None
    return ProcessId(
        pid=row["runner_pid"], start_ticks=row["runner_start_ticks"], boot_id=row["runner_boot_id"]
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
    return Entry(seq=row["seq"], run=row["run"], at=from_text(row["at"]), event=event(row, **apart))


def judged(row: sqlite3.Row) -> Judged:
    """Return a row of `judgement_record` as a value."""
    return Judged(
        seq=row["seq"],
        plan=row["plan"],
        item=row["item"],
        at=from_text(row["at"]),
        against=row["against"],
        judgement=Judgement.model_validate(json.loads(row["data"])),
    )


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
        first_at=from_text(group[0]["started_at"]),
        last_at=from_text(group[-1]["started_at"]),
    )


def stored(text: str) -> str:
    """Return the text as the database can hold it: what is no Unicode (an odd byte of a path) is replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def as_text(at: datetime) -> str:
    """Return the time as `2026-11-29T18:45:12.000000Z`; one without a zone is taken as UTC."""
    moment = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond:06d}Z"


def from_text(text: str) -> datetime:
    """Return the time that `as_text` wrote, with its zone."""
    return datetime.fromisoformat(text)

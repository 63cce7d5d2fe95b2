"""The record's read side: values of the model from the views of the database, asked for in plain SQL."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from optrack.model.events import FOLLOWED, FOLLOWED_BESIDE, Entry, ProcessStarted, RunRejected
from optrack.model.item import (
    Acceptance,
    Adoption,
    ItemState,
    Judged,
    KnownFailure,
    Note,
    Transition,
)
from optrack.model.metrics import Sample
from optrack.model.run import ProcessId, Run
from optrack.store import rows
from optrack.store.parts import LOADERS, WHOLE, Part, full_id, rows_in, samples_by_event, samples_of
from optrack.store.schema import Source, database_path, refusal, standing


class Reader:
    """The database of a project, open for reading; it never blocks a writer and holds nothing between calls.

    Safe to use from several threads, one call at a time.
    """

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self._source = source
        self._recipes: dict[str, Mapping[str, Any]] = {}
        self._states: rows.KnownStates = {}
        self._items: dict[str, tuple[int, tuple[ItemState, ...]]] = {}

    @classmethod
    def open(cls, url: str | Path) -> Reader:
        """Open the database; raises StoreError where there is none, or its schema isn't this version's.

        `schema.standing` tells beforehand: what is missing, empty or older is put right by `Store.open`.
        """
        path = database_path(url)
        state = standing(path)
        if state != "current":
            raise refusal(path, state)
        return cls(Source(path))

    def close(self) -> None:
        """Close the connection."""
        self._source.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def require_in_place(self) -> None:
        """Raise StoreError where the database's name stands for another file now, or for none."""
        self._source.require_in_place()

    def version(self) -> int:
        """Return a number that changes once anybody has written since the last call; costs microseconds."""
        with self._source.reading() as connection:
            return self._source.version(connection)

    def stamp(self, plan: str) -> str | None:
        """Return the digest of what the last sync of the plan read; None if it was never synced."""
        found = self._all("SELECT stamp FROM plan WHERE name = ?", plan)
        return str(found[0]["stamp"]) if found else None

    def items(self, plan: str) -> tuple[ItemState, ...]:
        """Return where the items of the plan stand, in plan order, archived ones last.

        They are read again only once anybody has written.
        """
        with self._source.reading() as connection:
            version = self._source.version(connection)
            if self._items.get(plan, (None,))[0] == version:
                return self._items[plan][1]
            notes: dict[int, tuple[Note, ...]] = {}
            for row in connection.execute("SELECT * FROM note_record WHERE plan = ? ORDER BY seq", (plan,)):
                notes[row["item_key"]] = (*notes.get(row["item_key"], ()), rows.value(Note, row))
            query = "SELECT * FROM item_state WHERE plan = ? ORDER BY archived, added, rank, key"
            states = rows.item_states(connection.execute(query, (plan,)).fetchall(), notes, self._states)
            self._items[plan] = version, states
            return states

    def stale(self, plan: str) -> tuple[str, ...]:
        """Return the ids of the items whose judgement rests on a recipe edited since, in plan order."""
        query = "SELECT id FROM item_state WHERE plan = ? AND stale = 1 ORDER BY rank"
        return tuple(row["id"] for row in self._all(query, plan))

    def called_now(self, plan: str, former: str) -> str | None:
        """Return the present id of the item that was once called `former`; None if there is none."""
        found = self._all(
            "SELECT i.id FROM item i JOIN former_name f ON f.item_key = i.key WHERE i.plan = ? AND f.id = ?",
            plan,
            former,
        )
        return str(found[0]["id"]) if found else None

    def runs(
        self,
        plan: str | None = None,
        item: str | None = None,
        limit: int | None = None,
        *,
        with_: Collection[Part] = (),
    ) -> tuple[Run, ...]:
        """Return runs, newest first, with these parts of each: one query for each part, however many runs."""
        where, values = _where({"plan": plan, "id": item})
        if item is not None:
            where = f"WHERE item_key {'IN' if plan is None else '='} (SELECT key FROM item {where})"
        most = "" if limit is None else f"LIMIT {limit:d}"
        return self._runs(f"{where} ORDER BY seq DESC, id DESC {most}", *values, with_=with_)

    def runs_by_id(self, ids: Iterable[str], *, with_: Collection[Part] = WHOLE) -> dict[str, Run]:
        """Return those of the runs, named by their full ids, that there are, with these parts of each."""
        wanted = list(dict.fromkeys(ids))
        with self._source.reading() as connection:
            found = rows_in(connection, "SELECT * FROM run_record WHERE id IN ({})", wanted)
            return {run.id: run for run in self._with_parts(connection, found, with_)}

    def samples(self, runs: Iterable[str], metric: str | None = None) -> dict[str, tuple[Sample, ...]]:
        """Return the samples of each of the runs, of one metric or of all; none for a run without."""
        wanted = list(dict.fromkeys(runs))
        with self._source.reading() as connection:
            return dict.fromkeys(wanted, ()) | samples_of(connection, wanted, metric)

    def beside(self, run: str) -> str | None:
        """Return the id of the baseline's run measured beside this one, None if there is none."""
        return self.paired([run]).get(run)

    def paired(self, runs: Iterable[str]) -> dict[str, str]:
        """Return, for those of the runs that a baseline's run was measured beside, that run's id."""
        query = "SELECT id, paired_run FROM run WHERE paired_run IN ({}) ORDER BY seq"
        with self._source.reading() as connection:
            return {
                row["paired_run"]: row["id"] for row in rows_in(connection, query, list(dict.fromkeys(runs)))
            }

    def launch_counts(self, plan: str) -> Mapping[str, int]:
        """Return how many launches gave samples for each item of the plan, over all its runs."""
        query = (
            "SELECT i.id AS item, sum(r.launches) AS launches FROM run r JOIN item i ON i.key = r.item_key "
            "WHERE r.plan = ? AND r.launches > 0 GROUP BY i.id"
        )
        return {row["item"]: row["launches"] for row in self._all(query, plan)}

    def open_runs(self) -> tuple[Run, ...]:
        """Return the runs without an outcome, oldest first."""
        return self._runs("WHERE outcome IS NULL ORDER BY seq, id")

    def run(self, run: str, *, with_: Collection[Part] = WHOLE) -> Run:
        """Return a run by its id, by the beginning of it, or by any part of it that no other run has.

        Raises UsageError for an unknown one, naming the nearest, and for one that several runs answer to.
        """
        with self._source.reading() as connection:
            name = full_id(connection, run)
            found = connection.execute("SELECT * FROM run_record WHERE id = ?", (name,)).fetchall()
            return self._with_parts(connection, found, with_)[0]

    def has_ended(self, run: str, *, events: int = 0) -> bool:
        """Whether the run with this id is there, has ended, and has at least so many events."""
        query = (
            "SELECT (SELECT count(*) FROM event WHERE run = r.id) AS events FROM run r "
            "WHERE r.id = ? AND r.outcome IS NOT NULL"
        )
        found = self._all(query, run)
        return bool(found) and found[0]["events"] >= events

    def processes(self, run: str) -> tuple[tuple[ProcessId, str], ...]:
        """Return the recorded processes of the run with their roles, the latest that each had."""
        query = "SELECT * FROM event WHERE run = ? AND kind = 'process_started' ORDER BY seq"
        found = (rows.event(row) for row in self._all(query, run))
        return tuple({e.process: e.role for e in found if isinstance(e, ProcessStarted)}.items())

    def entries(self, run: str, after: int = 0) -> tuple[Entry, ...]:
        """Return what the run's followers are told, with numbers above `after`, in order: its own events, and what
        the baseline's run beside it measures."""
        query = (
            "SELECT e.*, CASE WHEN e.kind = 'run_ended' THEN r.failure END AS failure "
            "FROM event e JOIN run r ON r.id = e.run "
            "WHERE e.run IN (SELECT id FROM run WHERE id = ? UNION SELECT id FROM run WHERE paired_run = ?) "
            f"AND e.seq > ? AND (e.run = ? AND e.kind IN {FOLLOWED} OR e.run <> ? AND e.kind IN {FOLLOWED_BESIDE}) "
            "ORDER BY e.seq"
        )
        with self._source.reading() as connection:
            found = connection.execute(query, (run, run, after, run, run)).fetchall()
            measured = [row["seq"] for row in found if row["kind"] == "repetition_measured"]
            samples = samples_by_event(connection, {row["run"] for row in found}, measured)
            return tuple(rows.entry(row, samples.get(row["seq"], ())) for row in found)

    def transitions(self, plan: str, item: str | None = None, after: int = 0) -> tuple[Transition, ...]:
        """Return the recorded transitions with numbers above `after`, oldest first."""
        where, values = _where({"plan": plan, "item": item})
        query = f"SELECT * FROM transition_record {where} AND seq > ? ORDER BY seq"
        return self._values(Transition, query, *values, after)

    def judgements(self, plan: str, item: str | None = None) -> tuple[Judged, ...]:
        """Return all recorded judgements, oldest first."""
        where, values = _where({"plan": plan, "item": item})
        return self._values(
            Judged, f"SELECT *, data AS judgement FROM judgement_record {where} ORDER BY seq", *values
        )

    def acceptances(self, plan: str, item: str | None = None) -> tuple[Acceptance, ...]:
        """Return the acceptances in force: all of the plan, or those that hold for one item's comparisons."""
        query = "SELECT * FROM acceptance_record WHERE plan = ? ORDER BY seq"
        found = self._values(Acceptance, query, plan)
        return tuple(a for a in found if item is None or a.item is None or a.item == item)

    def adoptions(self, plan: str) -> tuple[Adoption, ...]:
        """Return the plan's lineage of bases: the adoptions in force, the latest last."""
        query = "SELECT * FROM adoption_record WHERE plan = ? AND undone_at IS NULL ORDER BY seq"
        return self._values(Adoption, query, plan)

    def adoption_history(self, plan: str) -> tuple[Adoption, ...]:
        """Return every adoption that was ever made in the plan, undone ones too, in their order."""
        query = "SELECT * FROM adoption_record WHERE plan = ? ORDER BY seq"
        return self._values(Adoption, query, plan)

    def rejections(self, plan: str) -> Mapping[str, str]:
        """Return the runs that somebody found can't be compared with, each with the latest reason given."""
        query = (
            "SELECT e.* FROM event e JOIN run r ON r.id = e.run "
            "WHERE r.plan = ? AND e.kind = 'run_rejected' ORDER BY e.seq"
        )
        events = ((row["run"], rows.event(row)) for row in self._all(query, plan))
        return {run: event.why for run, event in events if isinstance(event, RunRejected)}

    def failures(self, plan: str | None = None) -> tuple[KnownFailure, ...]:
        """Return the failures that runs met, by fingerprint, the latest first."""
        where, values = _where({"plan": plan}, "fingerprint IS NOT NULL AND outcome <> 'interrupted'")
        return rows.by_fingerprint(self._all(f"SELECT * FROM run_record {where} ORDER BY seq, id", *values))

    def _runs(self, rest: str, *values: object, with_: Collection[Part] = ()) -> tuple[Run, ...]:
        with self._source.reading() as connection:
            found = connection.execute(f"SELECT * FROM run_record {rest}", values).fetchall()
            return self._with_parts(connection, found, with_)

    def _with_parts(
        self, connection: sqlite3.Connection, found: Sequence[sqlite3.Row], with_: Collection[Part]
    ) -> tuple[Run, ...]:
        self._read_recipes(connection, {row["recipe"] for row in found})
        ids = [row["id"] for row in found]
        parts = {name: LOADERS[name](connection, ids) for name in with_} if ids else {}
        return tuple(
            rows.run(
                row,
                self._recipes[row["recipe"]],
                **{name: values[row["id"]] for name, values in parts.items() if row["id"] in values},
            )
            for row in found
        )

    def _read_recipes(self, connection: sqlite3.Connection, digests: set[str]) -> None:
        missing = sorted(digests - self._recipes.keys())
        for row in rows_in(connection, "SELECT digest, data FROM content WHERE digest IN ({})", missing):
            self._recipes[row["digest"]] = json.loads(row["data"])

    def _values(self, kind: type[rows.V], query: str, *values: object) -> tuple[rows.V, ...]:
        return tuple(rows.value(kind, row) for row in self._all(query, *values))

    def _all(self, query: str, *values: object) -> list[sqlite3.Row]:
        with self._source.reading() as connection:
            return connection.execute(query, values).fetchall()


def _where(wanted: Mapping[str, str | None], *also: str) -> tuple[str, list[str]]:
    given = {column: value for column, value in wanted.items() if value is not None}
    conditions = [*(f"{column} = ?" for column in given), *also]
    return f"WHERE {' AND '.join(conditions)}" if conditions else "", list(given.values())

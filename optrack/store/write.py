"""The one way into the record: takes values of the model, and loses nothing to a lock or a kill."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from secrets import token_bytes
from typing import Self, TypeVar

from sqlmodel import Session

from optrack.errors import OptrackError, StoreError
from optrack.model.events import Event, PartsCaptured, RunClaimed, RunEnded
from optrack.model.item import Acceptance, Adoption, Note, Transition
from optrack.model.plan import Item, Plan, Status
from optrack.model.run import Run
from optrack.model.secrets.gate import Gate
from optrack.plan.sync import Synced, stamp_of
from optrack.store import facts, items, plans, spool
from optrack.store.database import BusyError, Database, NoRoomError, write_error
from optrack.store.read import Reader
from optrack.store.schema import database_path, lost_error
from optrack.store.spool import PendingWrite, pending

T = TypeVar("T")

_PATIENCE_S = 60.0
_PATIENCE_OF_A_RUN_S = 15.0
_PATIENCE_WITH_A_SPOOL_S = 0.1
_PENDING: tuple[Status, ...] = ("pending",)


class Store:
    """The database of a project, open for writing.

    Of a run nothing but facts is written, by `record`. They go to a spool in the run's folder too, until the
    database is known to hold the whole run; `import_spool` takes in later, once, what it couldn't take. Everything
    else raises StoreError then. Reading goes through `reader`. Every text that comes in has its secrets masked by
    `gate`.
    """

    def __init__(
        self,
        database: Database,
        reader: Reader,
        runs_dir: Path,
        *,
        patience_s: float,
        gate: Gate | None = None,
    ) -> None:
        self.reader = reader
        self.gate = gate or Gate(lambda: token_bytes(32))
        self._database = database
        self._runs_dir = runs_dir
        self._patience_s = patience_s
        self._claimed: dict[str, int] = {}
        self._waiting: dict[str, list[PendingWrite]] = {}

    @classmethod
    def open(
        cls,
        url: str | Path,
        *,
        runs_dir: Path | None = None,
        patience_s: float = _PATIENCE_S,
        gate: Gate | None = None,
    ) -> Store:
        """Open the database that a path or SQLAlchemy URL names, creating folder and schema where missing.

        `runs_dir` holds the folders of the runs; without it, it is `runs` beside the database. Raises
        StoreError, with a hint, for a read-only place, a file that is no database or not optrack's, a newer
        schema, a lock that outlasts `patience_s`.
        """
        path = database_path(url)
        database = Database.open(path, patience_s=patience_s)
        reader, runs = Reader.open(path), runs_dir or path.parent / "runs"
        return cls(database, reader, runs, patience_s=patience_s, gate=gate)

    def close(self) -> None:
        """Close all connections."""
        self.reader.close()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def sync(
        self,
        plan: Plan,
        *,
        who: str,
        at: datetime,
        digests: Mapping[str, str] | None = None,
        stamp: str | None = None,
    ) -> Synced:
        """Bring the plan's items up to date with its text and return what changed.

        `digests` has the digest of each item's resolved recipe now; an unchanged `stamp` costs one query.
        Raises PlanError for ids that are used twice.
        """
        recipes = digests or {}
        stamp = stamp or stamp_of(plan, recipes)
        if self.reader.stamp(plan.name) == stamp:
            return Synced(plan=plan.name)
        before = set(self.reader.stale(plan.name))
        clean = self.gate.value(plan)
        synced = self._write(lambda s: plans.sync_plan(s, clean, recipes, stamp, who=who, at=at))
        after = self.reader.stale(plan.name)
        return synced.model_copy(update={"stale": tuple(item for item in after if item not in before)})

    def add_item(self, plan: str, item: Item, *, who: str, at: datetime) -> None:
        """Add an item that the plan's text doesn't have; it stays after the others until the text has it."""
        self._write(lambda s: plans.add_item(s, plan, self.gate.value(item), who=who, at=at))

    def claim(self, run: Run, *, from_statuses: Collection[Status] = _PENDING) -> bool:
        """Take the run's item and insert the run, in one step that exactly one of several callers wins.

        It fails (False) where the item stands elsewhere than `from_statuses` or has a live run. A run that is
        `beside` another takes no item.
        """
        run = self.gate.value(run)
        write = pending(run.id, RunClaimed(run=run))

        def claim(session: Session) -> bool:
            return items.claim_item(session, run, from_statuses) and facts.add_event(session, write) > 0

        is_claimed = self._write(claim)
        if is_claimed:
            self._claimed[run.id] = 1
            with suppress(OSError):
                spool.append(self._runs_dir / run.id, write)
        return is_claimed

    def transition(
        self,
        plan: str,
        item: str,
        after: Status,
        *,
        who: str,
        why: str,
        at: datetime,
        run: str | None = None,
    ) -> Transition:
        """Move the item and record who did and why; raises UsageError naming the moves that are allowed."""
        reason = self.gate.text(why)
        return self._write(
            lambda s: items.move_item(
                s, items.item_row(s, plan, item), after, who=who, why=reason, at=at, run=run
            )
        )

    def record(self, run: str, event: Event, at: datetime | None = None) -> int:
        """Record a fact of a run, which happened now unless `at` says when, and return its number.

        It is 0 where the fact waits in the spool, and for the end of a run that was closed before. The end of a
        run moves its item, all or nothing. Raises UsageError for an unknown run, StoreError where neither the
        database nor the spool can be written.
        """
        write = pending(run, self._clean(event), at)
        number = self._record(write)
        if number != 0 and run in self._claimed:
            self._claimed[run] += 1
        if number and isinstance(event, RunEnded) and run in self._claimed and self.holds(run):
            spool.remove(self._runs_dir / run)
            self._claimed.pop(run)
        return number or 0

    def holds(self, run: str) -> bool:
        """Whether the database that stands there now has the run with its end, and all that this store recorded."""
        if run in self._waiting or not self._database.is_in_place():
            return False
        try:
            with Reader.open(self._database.path) as reader:
                return reader.has_ended(run, events=self._claimed.get(run, 0))
        except OptrackError:
            return False

    def accept(
        self, plan: str, field: str, *, who: str, why: str, at: datetime, item: str | None = None
    ) -> Acceptance:
        """Accept differences in `field` as harmless, for one item's comparisons or the whole plan's."""
        reason = self.gate.text(why)
        return self._write(
            lambda s: items.add_acceptance(s, plan, field, item=item, who=who, why=reason, at=at)
        )

    def adopt(
        self, plan: str, item: str, *, who: str, why: str, at: datetime, run: str | None = None
    ) -> Adoption:
        """Make the item's configuration the base of what follows."""
        reason = self.gate.text(why)
        return self._write(lambda s: items.add_adoption(s, plan, item, run=run, who=who, why=reason, at=at))

    def undo_adopt(self, plan: str, *, who: str, at: datetime) -> str:
        """Undo the latest adoption and return its item; raises UsageError where there is none."""
        return self._write(lambda s: items.undo_adoption(s, plan, who=who, at=at))

    def note(self, plan: str, item: str, text: str, *, who: str, at: datetime) -> Note:
        """Attach a remark to an item."""
        return self._write(lambda s: items.add_note(s, plan, item, self.gate.text(text), who=who, at=at))

    def import_spool(self, run_dir: Path) -> int:
        """Take in what the run put in its folder's spool, each fact once; returns how many there were."""
        writes = list(spool.pending_writes(run_dir))
        if not writes:
            return 0
        count = self._write(lambda s: facts.add_pending(s, writes))
        if self.reader.has_ended(writes[0].run):
            spool.put_away(run_dir)
        return count

    def _write(self, work: Callable[[Session], T]) -> T:
        if not self._database.is_in_place():
            raise lost_error(self._database.path)
        try:
            return self._database.write(work, durable=True, patience_s=self._patience_s)
        except (BusyError, NoRoomError) as error:
            raise write_error(self._database.path, error) from error

    def _clean(self, event: Event) -> Event:
        """Return a fact without secrets; captured parts have theirs masked but for known values."""
        if isinstance(event, PartsCaptured):
            return PartsCaptured(parts={name: self.gate.known(text) for name, text in event.parts.items()})
        return self.gate.value(event)

    def _record(self, write: PendingWrite) -> int | None:
        """Write a fact to its run's spool and the database; return its number, None where only the spool has it.

        A database that was deleted or moved away is still written to as it was opened: what reads through this
        store sees the whole run. A run that this store hasn't claimed has a spool only from a refusal on.
        """
        run_dir, is_ours = self._runs_dir / write.run, write.run in self._claimed
        unwritten = self._append(run_dir, write) if is_ours else None
        waiting = self._waiting.get(write.run, [])
        patience_s = _PATIENCE_WITH_A_SPOOL_S if waiting else min(self._patience_s, _PATIENCE_OF_A_RUN_S)

        def add(session: Session) -> int:
            facts.add_pending(session, waiting)
            return facts.add_event(session, write)

        try:
            number = self._database.write(add, durable=write.event.DURABLE, patience_s=patience_s)
        except (BusyError, NoRoomError, StoreError) as error:
            if isinstance(error, StoreError) and not is_ours:
                raise
            try:
                if unwritten is not None:
                    raise unwritten
                spool.sync(run_dir) if is_ours else spool.append(run_dir, write, durable=True)
            except OSError as second:
                raise StoreError(
                    f"neither {self._database.path} nor {run_dir / spool.SPOOL_NAME} can be written: {second}",
                    hint="free some disk space",
                ) from error
            self._waiting[write.run] = [*waiting, write]
            return None
        if waiting:
            del self._waiting[write.run]
        return number

    def _append(self, run_dir: Path, write: PendingWrite) -> OSError | None:
        """Write a fact to the spool before the database gets it; return why that can't be done."""
        try:
            spool.append(run_dir, write)
        except OSError as error:
            return error
        return None

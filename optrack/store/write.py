"""The record's write side: takes core values, keeps them in SQLite, and loses nothing to a lock or a kill."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from secrets import token_bytes
from typing import Self, TypeVar

from sqlmodel import Session

from optrack.errors import OptrackError, StoreError
from optrack.model.events import Event
from optrack.model.gate import Gate
from optrack.model.item import Acceptance, Adoption, Against, ItemState, Note, Transition
from optrack.model.judgement import Judgement
from optrack.model.metrics import Sample
from optrack.model.plan import Item, Plan, Status
from optrack.model.run import Failure, Outcome, ProcessId, Run, Stage
from optrack.model.snapshot import Snapshot
from optrack.plan.sync import Synced, stamp_of
from optrack.store import applying, claims, evidence, judgements, plans
from optrack.store import spool as side
from optrack.store.database import BusyError, Database, NoRoomError, write_error
from optrack.store.read import Reader
from optrack.store.schema import database_path, lost_error

T = TypeVar("T")

_PATIENCE_S = 60.0
_PATIENCE_OF_A_RUN_S = 15.0
_PATIENCE_WITH_A_SIDE_JOURNAL_S = 0.1
_PENDING: tuple[Status, ...] = ("pending",)


class Store:
    """The database of a project, open for writing.

    What a run has to say (events, samples, its end, …) goes to a side journal in the run's folder too, until the
    database is known to hold the whole run; `import_side` takes in later, once, what it couldn't take. Everything
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
        self._waiting: dict[str, list[side.Line]] = {}

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

    def items(self, plan: str) -> tuple[ItemState, ...]:
        """Return where the items of the plan stand, in plan order, archived ones last."""
        return self.reader.items(plan)

    def claim(self, run: Run, *, from_statuses: Collection[Status] = _PENDING) -> bool:
        """Take the run's item and insert the run, in one step that exactly one of several callers wins.

        It fails (False) where the item stands elsewhere than `from_statuses` or has a live run. A run that is
        `beside` another takes no item.
        """
        run = self.gate.value(run)
        line = side.line_of(side.ClaimKept(run=run.id, claim=run))
        is_claimed = self._write(lambda s: claims.claim_item(s, run, from_statuses))
        if is_claimed:
            self._claimed[run.id] = 0
            with suppress(OSError):
                side.keep(self._runs_dir / run.id, line)
        return is_claimed

    def set_runner(self, run: str, runner: ProcessId) -> None:
        """Record which process runs the run, once it is known."""
        self._write(lambda s: claims.set_runner(s, run, runner))

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
            lambda s: claims.move_item(
                s, claims.item_row(s, plan, item), after, who=who, why=reason, at=at, run=run
            )
        )

    def record_process(self, run: str, process: ProcessId, role: str) -> None:
        """Record a process of the run, so that a later command can find what it left."""
        self._keep(side.ProcessKept(run=run, process=process, role=role), durable=True)

    def processes(self, run: str) -> tuple[tuple[ProcessId, str], ...]:
        """Return the processes of the run with their roles."""
        return self.reader.processes(run)

    def record_stage(self, run: str, stage: Stage, seconds: float, *, launch: int = 0) -> None:
        """Record how long a stage of a launch took."""
        self._keep(side.StageKept(run=run, stage=stage, seconds=seconds, launch=launch))

    def add_samples(self, run: str, samples: Sequence[Sample]) -> None:
        """Record samples; NaN and infinities stay what they are."""
        self._keep(side.SamplesKept(run=run, samples=tuple(samples)))
        if run in self._claimed:
            self._claimed[run] += len(samples)

    def put_snapshot(self, run: str, snapshot: Snapshot) -> None:
        """Record the captured parts of the run's snapshot; a part given again replaces the earlier one."""
        self._keep(side.PartsKept(run=run, parts=evidence.parts_of(snapshot)))

    def add_artifact(self, run: str, path: str) -> None:
        """Record a file that the run left."""
        self._keep(side.ArtifactKept(run=run, path=path))

    def note_run(self, run: str, text: str) -> None:
        """Record a sentence about the run that its readers should know."""
        self._keep(side.NoteKept(run=run, text=text))

    def append(self, run: str, event: Event, at: datetime) -> int:
        """Append an event to the journal and return its number: 0 if it went to the side journal."""
        return int(self._keep(side.EventKept(run=run, event=event, at=at)) or 0)

    def finish(
        self,
        run: str,
        *,
        outcome: Outcome,
        stage: Stage,
        failure: Failure | None = None,
        at: datetime,
        item_after: Status | None,
        why: str,
        verdict: str | None = None,
        seconds: float | None = None,
    ) -> bool:
        """Close the run, move its item and journal `RunEnded`, all or nothing; False if it was closed before.

        `seconds` is what it took by a monotonic clock.
        The item moves (to `item_after`, recorded with `why`) only if it is still in progress.
        """
        end = side.EndKept(
            run=run,
            outcome=outcome,
            stage=stage,
            failure=failure,
            at=at,
            item_after=item_after,
            why=why,
            verdict=verdict,
            seconds=seconds,
        )
        is_closed = bool(self._keep(end, durable=True))
        if is_closed and run in self._claimed and self.holds(run):
            side.remove(self._runs_dir / run)
            self._claimed.pop(run)
            with suppress(BusyError, NoRoomError, StoreError):
                forget = partial(applying.forget_lines, run=run)
                self._database.write(forget, durable=False, patience_s=_PATIENCE_WITH_A_SIDE_JOURNAL_S)
        return is_closed

    def holds(self, run: str) -> bool:
        """Whether the database that stands there now has the run that this store wrote, with its end and samples."""
        if run in self._waiting or not self._database.is_in_place():
            return False
        try:
            with Reader.open(self._database.path) as reader:
                found = reader.run(run)
        except OptrackError:
            return False
        return found.outcome is not None and len(found.samples) == self._claimed.get(run, len(found.samples))

    def put_judgement(
        self, judgement: Judgement, plan: str, item: str, at: datetime, *, against: Against = "baseline"
    ) -> None:
        """Record the judgement of its candidate's run; it is then the one in force for the item."""
        self._keep(
            side.JudgementKept(
                run=judgement.candidate, judgement=judgement, plan=plan, item=item, at=at, against=against
            ),
            durable=True,
        )

    def accept(
        self, plan: str, field: str, *, who: str, why: str, at: datetime, item: str | None = None
    ) -> Acceptance:
        """Accept differences in `field` as harmless, for one item's comparisons or the whole plan's."""
        reason = self.gate.text(why)
        return self._write(
            lambda s: judgements.add_acceptance(s, plan, field, item=item, who=who, why=reason, at=at)
        )

    def withdraw(self, plan: str, field: str, *, at: datetime, item: str | None = None) -> int:
        """Withdraw what was accepted for `field`; returns how many acceptances that were."""
        return self._write(lambda s: judgements.withdraw_acceptance(s, plan, field, item=item, at=at))

    def adopt(
        self, plan: str, item: str, *, who: str, why: str, at: datetime, run: str | None = None
    ) -> Adoption:
        """Make the item's configuration the base of what follows."""
        reason = self.gate.text(why)
        return self._write(
            lambda s: judgements.add_adoption(s, plan, item, run=run, who=who, why=reason, at=at)
        )

    def undo_adopt(self, plan: str, *, who: str, at: datetime) -> str:
        """Undo the latest adoption and return its item; raises UsageError where there is none."""
        return self._write(lambda s: judgements.undo_adoption(s, plan, who=who, at=at))

    def note(self, plan: str, item: str, text: str, *, who: str, at: datetime) -> Note:
        """Attach a remark to an item."""
        return self._write(lambda s: judgements.add_note(s, plan, item, self.gate.text(text), who=who, at=at))

    def open_runs(self) -> tuple[Run, ...]:
        """Return the runs without an outcome, oldest first: to be checked for dead runners."""
        return self.reader.open_runs()

    def import_side(self, run_dir: Path) -> int:
        """Take in what the run put in its folder's side journal, each line once; returns how many lines."""
        lines = list(side.kept_lines(run_dir))
        if not lines:
            return 0
        count = self._write(lambda s: applying.apply_lines(s, lines))
        if any(run.id == lines[0].what.run and run.outcome for run in self.reader.runs()):
            side.put_away(run_dir)
        return count

    def _write(self, work: Callable[[Session], T]) -> T:
        if not self._database.is_in_place():
            raise lost_error(self._database.path)
        try:
            return self._database.write(work, durable=True, patience_s=self._patience_s)
        except (BusyError, NoRoomError) as error:
            raise write_error(self._database.path, error) from error

    def _clean(self, what: side.Kept) -> side.Kept:
        """Return a record of a run without secrets; captured parts have theirs masked but for known values."""
        if isinstance(what, side.PartsKept):
            parts = {name: self.gate.known(text) for name, text in what.parts.items()}
            return what if parts == what.parts else what.model_copy(update={"parts": parts})
        return self.gate.value(what)

    def _keep(self, what: side.Kept, *, durable: bool = False) -> applying.Result:
        """Write a record of a run to its side journal and the database; the first alone where that refuses.

        A database that was deleted or moved away is still written to as it was opened: what reads through this
        store sees the whole run. A run that this store hasn't claimed has a side journal only from then on.
        """
        what = self._clean(what)
        run_dir, line = self._runs_dir / what.run, side.line_of(what)
        is_ours = what.run in self._claimed
        unwritten = self._ahead(run_dir, line) if is_ours else None
        waiting = self._waiting.get(what.run, [])
        patience_s = (
            _PATIENCE_WITH_A_SIDE_JOURNAL_S if waiting else min(self._patience_s, _PATIENCE_OF_A_RUN_S)
        )

        def write(session: Session) -> applying.Result:
            applying.apply_lines(session, waiting)
            return applying.apply_once(session, line) if is_ours else applying.apply(session, what)

        try:
            result = self._database.write(write, durable=durable, patience_s=patience_s)
        except (BusyError, NoRoomError, StoreError) as error:
            if isinstance(error, StoreError) and not is_ours:
                raise
            try:
                if unwritten is not None:
                    raise unwritten
                side.sync(run_dir) if is_ours else side.keep(run_dir, line, durable=True)
            except OSError as second:
                raise StoreError(
                    f"neither {self._database.path} nor {run_dir / side.SIDE_NAME} can be written: {second}",
                    hint="free some disk space",
                ) from error
            self._waiting[what.run] = [*waiting, line]
            return None
        self._waiting.pop(what.run, None)
        return result

    def _ahead(self, run_dir: Path, line: side.Line) -> OSError | None:
        """Write a line to the side journal before the database gets it; return why that can't be done."""
        try:
            side.keep(run_dir, line)
        except OSError as error:
            return error
        return None

"""The campaign of a project for whoever asks (command line, screens, agents): choose, start, follow, stop, mark.

Reading goes through the thin `Reader`; the `Store`, which takes most of a second to import, is opened by
the first thing that writes.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from optrack.campaign.finding import nearest, require_reason, taken
from optrack.campaign.plan_files import find_plan, read_plan
from optrack.campaign.renewal import with_fresh_baseline
from optrack.campaign.spawn import await_runner, is_running, request_stop, spawn_runner
from optrack.core.choose import Choice, Reason, choose, improved_ids
from optrack.core.events import Entry, RunEnded
from optrack.core.judgement import Judgement
from optrack.core.plan import Item, Plan
from optrack.core.plan_secrets import masked_plan
from optrack.core.resolve import Resolved, resolve
from optrack.core.run import Run
from optrack.core.standing import rollup
from optrack.core.state import ItemState, Note, Transition, judgement_of
from optrack.core.status import Status
from optrack.core.sync import stamp_of
from optrack.errors import NothingToRunError, PlanError, UsageError
from optrack.settings import Settings, project_salt
from optrack.steps.record.reader import Reader
from optrack.steps.record.schema import database_path, standing

if TYPE_CHECKING:
    from optrack.core.export import Log
    from optrack.steps.record.store import Store

_POLL_S = 0.1
_SILENT_POLLS = 20


class Campaign:
    """One plan of a project, and what is recorded of it."""

    def __init__(self, settings: Settings, plan_file: Path | None = None) -> None:
        self.settings = settings
        self._plan_file = plan_file
        self._resolved_for: tuple[Plan, frozenset[str]] | None = None
        self._known_digests: dict[str, str] = {}

    @cached_property
    def plan(self) -> Plan:
        """The plan of the file with the items that were added beside its text."""
        self.sync()
        written = {item.id for item in self.written.items}
        states = self.reader.items(self.written.name)
        added = [state.item for state in states if not state.archived and state.item.id not in written]
        return (
            self.written.model_copy(update={"items": (*self.written.items, *added)})
            if added
            else self.written
        )

    @cached_property
    def written(self) -> Plan:
        """The plan as it stands in its file; PlanError lists everything that is wrong with it."""
        plan = read_plan(find_plan(self.settings, self._plan_file))
        errors = tuple(p.located(plan.path) for p in plan.problems if p.severity == "error")
        if errors:
            count = "an error" if len(errors) == 1 else f"{len(errors)} errors"
            raise PlanError(f"the plan has {count}", where=plan.path, problems=errors)
        return plan

    @cached_property
    def store(self) -> Store:
        """The write side of the database, which is created and migrated if need be."""
        from optrack.steps.record.store import Store

        return Store.open(self.settings.database, runs_dir=self.settings.runs)

    @cached_property
    def reader(self) -> Reader:
        """The read side of the database."""
        if standing(database_path(self.settings.database)) in ("missing", "empty", "older"):
            return self.store.reader
        return Reader.open(self.settings.database)

    # -- what stands where -----------------------------------------------------------------------------

    def sync(self) -> None:
        """Take the plan's present text over into the database, unless it is there already."""
        written, digests = self.written, self._digests(self.improved())
        if self.reader.stamp(written.name) != stamp_of(written, digests):
            masked = masked_plan(written, project_salt(self.settings.state))
            stamp = stamp_of(written, digests)
            self.store.sync(masked, who=self.settings.actor, at=now(), digests=digests, stamp=stamp)

    def _digests(self, improved: frozenset[str]) -> dict[str, str]:
        """Return the digest of each item's recipe as the plan's text has it."""
        if self._resolved_for != (self.written, improved):
            self._known_digests = {}
            for item in self.written.items:
                with contextlib.suppress(PlanError):
                    self._known_digests[item.id] = resolve(self.written, item, improved).digest
            self._resolved_for = (self.written, improved)
        return self._known_digests

    def states(self) -> tuple[ItemState, ...]:
        """Return where every item stands, after the plan's edits were taken over."""
        self.sync()
        return self.reader.items(self.plan.name)

    def state(self, item_id: str) -> ItemState:
        """Return where one item stands, archived ones included; raises UsageError with the nearest id."""
        states = self.states()
        planned = self.plan.item(item_id)
        wanted = planned.id if planned else item_id
        found = next((state for state in states if state.item.id == wanted), None)
        if found is None:
            raise UsageError(
                f"no item {item_id!r} in the plan {self.plan.name!r}",
                hint=nearest(item_id, [state.item.id for state in states], "items"),
            )
        return found

    def item(self, item_id: str) -> Item:
        """Return the plan's item with this id; raises UsageError with the nearest id."""
        found = self.plan.item(item_id)
        if found is None:
            called = self.reader.called_now(self.plan.name, item_id)
            known = [item.id for item in self.plan.items]
            raise UsageError(
                f"no item {item_id!r} in the plan {self.plan.name!r}",
                hint=f"it is called {called} now" if called else nearest(item_id, known, "items"),
            )
        return found

    def improved(self) -> frozenset[str]:
        """Return the ids of the items whose verdict in force is an improvement."""
        return frozenset(improved_ids(self.reader.items(self.written.name)))

    def resolved(self, item: Item) -> Resolved:
        """Return the item's resolved recipe; raises PlanError where it can't be resolved."""
        return resolve(self.plan, item, self.improved(), adopted=self.adopted())

    def adopted(self) -> tuple[Item, ...]:
        """Return the items whose treatments were made part of the base, in the order of their adoption."""
        found = (self.plan.item(adoption.item) for adoption in self.reader.adoptions(self.plan.name))
        return tuple(item for item in found if item is not None)

    def resolved_or_none(self, item: Item) -> Resolved | None:
        """Return the item's resolved recipe, or None where it has none or it can't be resolved yet."""
        return self.resolutions([item]).get(item.id)

    def resolutions(self, items: Sequence[Item]) -> dict[str, Resolved]:
        """Return the resolved recipes of items by id, without those that have none or can't be resolved yet."""
        improved, adopted = self.improved(), self.adopted()
        found: dict[str, Resolved] = {}
        for item in items:
            with contextlib.suppress(PlanError):
                found[item.id] = resolve(self.plan, item, improved, adopted=adopted)
        return found

    def choice(self, *, by: str = "rank", without: Collection[str] = ()) -> Choice:
        """Return the item to run next, leaving out those in `without`, and why each earlier one isn't it."""
        found = choose(self.plan, self.states(), by="value" if by == "value" else "rank", without=without)
        return with_fresh_baseline(self, found, without)

    # -- runs --------------------------------------------------------------------------------------------

    def start_next(
        self,
        *,
        by: str = "rank",
        wait: bool = False,
        without: Collection[str] = (),
        sequential: bool = False,
        resume: bool = False,
        say: Callable[[str], object] = lambda text: None,
    ) -> str:
        """Start the runner on the next item and return the run's id.

        An item that somebody else takes in the same moment is passed over. `resume` goes on with what an
        interrupted run of the item has measured; `say` hears what is waited for. Raises NothingToRunError with
        the reasons when nothing is left, HostUnfitError when the host can't be measured on.
        """
        taken = set(without)
        while True:
            choice = self.choice(by=by, without=taken)
            self._cancel(choice.skipped)
            if choice.item is None:
                raise NothingToRunError(choice.summary, hint="`optrack next --explain` says more")
            again = self.state(choice.item).status == "completed"
            run = self._spawn(
                choice.item, wait=wait, again=again, sequential=sequential, resume=resume, say=say
            )
            if run is not None:
                return run
            taken.add(choice.item)

    def _cancel(self, skipped: Sequence[Reason]) -> None:
        """Cancel the items whose `skip if` holds, so that what waits for them goes on."""
        for reason in skipped:
            if self.state(reason.item).status == "pending":
                self.store.transition(
                    self.plan.name, reason.item, "cancelled", who="optrack", why=reason.text, at=now()
                )

    def start(
        self,
        item_id: str,
        *,
        wait: bool = False,
        resume: bool = False,
        say: Callable[[str], object] = lambda text: None,
    ) -> str:
        """Start the runner on this item, whatever its rank, and return the run's id; see `start_next`."""
        item = self.item(item_id)
        self.resolved(item)
        self.sync()
        run = self._spawn(item.id, wait=wait, again=True, sequential=False, resume=resume, say=say)
        if run is None:
            raise taken(item.id, self.reader.open_runs())
        return run

    def _spawn(
        self,
        item_id: str,
        *,
        wait: bool,
        again: bool,
        sequential: bool,
        resume: bool,
        say: Callable[[str], object],
    ) -> str | None:
        asked = {"wait": wait, "again": again, "sequential": sequential, "resume": resume}
        options = [f"--{name}" for name, is_asked in asked.items() if is_asked]
        return spawn_runner(self.settings, Path(self.plan.path), item_id, options, say=say)

    def follow(self, run_id: str, after: int = 0) -> Iterator[Entry | None]:
        """Yield the run's journal from `after` until it has ended; None whenever nothing new has come.

        A runner that dies without a word is found here: its run is closed and the rest of the journal told.
        """
        silent = 0
        while True:
            entries = self.reader.entries(run_id, after)
            for entry in entries:
                after, silent = entry.seq, 0
                yield entry
                if isinstance(entry.event, RunEnded):
                    await_runner(self.reader.run(run_id))
                    return
            if not entries:
                silent += 1
                yield None
                if silent % _SILENT_POLLS == 0 and not is_running(self.reader.run(run_id)):
                    self.recover()
                time.sleep(_POLL_S)

    def stop(self, run_id: str, *, force: bool = False) -> None:
        """Ask the runner of this run to stop; raises UsageError if the run isn't going on."""
        run = self.reader.run(run_id)
        if run.outcome is not None:
            raise UsageError(f"run {run.id} has ended already: {run.outcome}")
        owner = self.reader.run(run.beside) if run.beside else run
        if not request_stop(owner, force=force):
            self.recover()

    def recover(self) -> tuple[str, ...]:
        """Close the runs whose runner has died, end what it left behind, and say so, one line each."""
        host = self.settings.host
        if all(run.host != host or is_running(run) for run in self.reader.open_runs()):
            return ()
        from optrack.campaign.recovery import recover

        return recover(self.store, self.settings.runs, host)

    def judgement_of(self, run: Run) -> Judgement | None:
        """Return the recorded judgement of this very run, or None."""
        return judgement_of(self.reader.judgements(run.plan, run.item), run.id)

    def against_original(self, judgement: Judgement | None, item: str) -> Judgement | None:
        """Return what a judgement in force means against the original; None where that is its baseline."""
        found = self.reader.judgements(self.plan.name, item) if judgement else ()
        return judgement_of(found, judgement.candidate, "original") if judgement else None

    def log(self) -> Log:
        """Return all that the progress log is made of, with every secret masked."""
        from optrack.campaign.telling import log_of

        return log_of(self)

    # -- decisions -----------------------------------------------------------------------------------------

    def mark(self, item_id: str, after: Status, *, why: str) -> Transition:
        """Move an item to another status by hand, which is recorded as such."""
        item = self.state(item_id).item.id
        require_reason(why)
        return self.store.transition(self.plan.name, item, after, who=self.settings.actor, why=why, at=now())

    def note(self, item_id: str, text: str) -> tuple[str, Note]:
        """Attach a remark to an item; return the item's id and the remark."""
        if not text.strip():
            raise UsageError("the note is empty", hint="say something in it")
        item = self.state(item_id).item.id
        return item, self.store.note(self.plan.name, item, text.strip(), who=self.settings.actor, at=now())

    def add(self, items: Sequence[Item]) -> None:
        """Add items beside the plan's text, to the database alone."""
        for item in items:
            self.store.add_item(self.written.name, item, who=self.settings.actor, at=now())
        self.__dict__.pop("plan", None)

    def roll_up(self) -> None:
        """Complete the items whose experiments are all done."""
        for item in rollup(self.plan, self.states()):
            why = "every experiment under it is done"
            self.store.transition(self.plan.name, item, "completed", who="optrack", why=why, at=now())


def now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)

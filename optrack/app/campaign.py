"""The campaign of a project for whoever asks (command line, screens, agents): choose, start, follow, stop, mark."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from optrack.app.finding import require_no_secrets, require_reason, taken
from optrack.app.project import Standing, now
from optrack.app.spawn import await_runner, is_running, request_stop, spawn_runner, unrecorded
from optrack.errors import NothingToRunError, StoreError, UsageError
from optrack.host.proc import is_alive
from optrack.model.events import Entry, RunEnded, StopRequested
from optrack.model.item import Note, Transition, judgement_of
from optrack.model.judgement import Judgement
from optrack.model.plan import Item, Status
from optrack.model.run import Run
from optrack.plan.schedule import Reason, reopened, rollup
from optrack.store.spool import journals

if TYPE_CHECKING:
    from optrack.render.log import Log

_POLL_S = 0.1
_SILENT_POLLS = 20


class Campaign(Standing):
    """One plan of a project, what is recorded of it, and what can be done with it."""

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
            if not sequential:
                self._require_code(self.item(choice.item))
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
        self._require_code(item)
        self.sync()
        run = self._spawn(item.id, wait=wait, again=True, sequential=False, resume=resume, say=say)
        if run is None:
            raise taken(item.id, self.reader.open_runs())
        return run

    def _require_code(self, item: Item) -> None:
        """Raise PlanError for an item whose recipe doesn't resolve or names code that isn't there."""
        from optrack.app.code_problems import require_code

        recipe = self.resolved(item).recipe
        if recipe.repo or recipe.patch:
            require_code(recipe, self.settings.project, f"{self.plan.path}:{item.line}")

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
        run = self.reader.run(run_id)
        while True:
            try:
                self.reader.require_in_place()
                entries = self.reader.entries(run_id, after)
            except StoreError as error:
                yield from self._outlasted(run)
                raise unrecorded(error, run, self.settings.runs) from error
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

    def _outlasted(self, run: Run) -> Iterator[None]:
        """Yield None until the run's runner has ended."""
        while run.runner is not None and is_alive(run.runner):
            yield None
            time.sleep(_POLL_S)

    def stop(self, run_id: str, *, force: bool = False) -> None:
        """Ask the runner of this run to stop; raises UsageError if the run isn't going on."""
        run = self.reader.run(run_id)
        if run.outcome is not None:
            raise UsageError(f"run {run.id} has ended already: {run.outcome}")
        owner = self.reader.run(run.beside) if run.beside else run
        if not request_stop(owner, force=force):
            self.recover()
        elif self.reader.run(owner.id).outcome is None:
            with suppress(StoreError):
                self.store.append(owner.id, StopRequested(actor=self.settings.actor, force=force), now())

    def recover(self) -> tuple[str, ...]:
        """Close the runs whose runner has died, end what it left behind, and say so, one line each."""
        host = self.settings.host
        going = self.reader.open_runs()
        apart = [
            run for run in journals(self.settings.runs) if run not in {r.id for r in going if is_running(r)}
        ]
        if not apart and all(run.host != host or is_running(run) for run in going):
            return ()
        from optrack.app.recovery import recover

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
        from optrack.app.telling import log_of

        return log_of(self)

    # -- decisions -----------------------------------------------------------------------------------------

    def mark(self, item_id: str, after: Status, *, why: str) -> Transition:
        """Move an item to another status by hand, which is recorded as such."""
        item = self.state(item_id).item.id
        require_reason(why)
        moved = self.store.transition(self.plan.name, item, after, who=self.settings.actor, why=why, at=now())
        self.roll_up()
        return moved

    def note(self, item_id: str, text: str) -> tuple[str, Note]:
        """Attach a remark to an item; return the item's id and the remark."""
        if not text.strip():
            raise UsageError("the note is empty", hint="say something in it")
        item = self.state(item_id).item.id
        return item, self.store.note(self.plan.name, item, text.strip(), who=self.settings.actor, at=now())

    def add(self, items: Sequence[Item]) -> None:
        """Add items beside the plan's text, to the database alone; raises UsageError for one with a secret."""
        require_no_secrets(items, self.gate)
        for item in items:
            self.store.add_item(self.written.name, item, who=self.settings.actor, at=now())
        self.__dict__.pop("plan", None)

    def roll_up(self) -> None:
        """Complete the items whose experiments are all done; open those again that were completed by this and
        have an open one since."""
        name = self.plan.name
        for item in reopened(self.plan, self.states()):
            if any(move.who == "optrack" for move in self.reader.transitions(name, item)[-1:]):
                why = "an experiment under it is open again"
                self.store.transition(name, item, "pending", who="optrack", why=why, at=now())
        for item in rollup(self.plan, self.states()):
            why = "every experiment under it is done"
            self.store.transition(name, item, "completed", who="optrack", why=why, at=now())

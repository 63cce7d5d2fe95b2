"""What stands where in a project's plan: its file, its record, what is next."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from optrack.app.finding import nearest
from optrack.app.renewal import with_fresh_baseline
from optrack.errors import OptrackError, PlanError, UsageError
from optrack.host.regular import read_regular, reason
from optrack.model.gate import Gate, known_secrets
from optrack.model.item import ItemState
from optrack.model.plan import Item, Plan
from optrack.plan.read import parse_plan
from optrack.plan.resolve import Resolved, resolve
from optrack.plan.schedule import Choice, choose, improved_ids
from optrack.plan.sync import stamp_of
from optrack.settings import Settings, private_state, project_salt
from optrack.store.read import Reader
from optrack.store.schema import database_path, standing

if TYPE_CHECKING:
    from optrack.store.write import Store


def find_plan(settings: Settings, asked: Path | None) -> Path:
    """Return the plan file that was asked for, or chosen with `optrack use`, or is the only one in `plans/`."""
    if asked is not None:
        return asked
    chosen = settings.state / "plan"
    if settings.plan is not None:
        return settings.plan
    if chosen.is_file():
        return settings.project / chosen.read_text(encoding="utf-8").strip()
    there = sorted(settings.plans.glob("*.md")) if settings.plans.is_dir() else []
    if len(there) == 1:
        return there[0]
    if not there:
        raise UsageError(
            f"there is no plan in {settings.plans}",
            hint="`optrack plan new plans/NAME.md` writes one; `--plan FILE` names one elsewhere",
        )
    names = ", ".join(path.stem for path in there)
    raise UsageError(
        f"there are {len(there)} plans: {names}", hint="`optrack use NAME` chooses one, or give `--plan FILE`"
    )


def choose_plan(settings: Settings, path: Path) -> None:
    """Remember a plan as the one to work on in this project."""
    resolved = path.resolve()
    known = resolved.relative_to(settings.project) if resolved.is_relative_to(settings.project) else resolved
    try:
        private_state(settings.state)
        (settings.state / "plan").write_text(f"{known}\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the choice can't be kept in {settings.state}: {reason(error)}") from error


def read_plan(path: Path) -> Plan:
    """Return the plan in this file, its problems included; raises PlanError if it can't be read at all."""
    try:
        data = read_regular(path)
    except FileNotFoundError as error:
        raise PlanError(
            "there is no such plan", where=str(path), hint="check the path given with --plan"
        ) from error
    except OSError as error:
        raise PlanError(f"the plan can't be read: {reason(error)}", where=str(path)) from error
    return parse_plan(data, name=path.stem, path=str(path))


_POLL_S = 0.1
_SILENT_POLLS = 20


class Standing:
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
        if any(problem.severity == "error" for problem in plan.problems):
            from optrack.app.plan_problems import plan_problems

            problems = plan_problems(plan, self.settings.python)
            errors = tuple(p.located(plan.path) for p in problems if p.severity == "error")
            count = "an error" if len(errors) == 1 else f"{len(errors)} errors"
            raise PlanError(f"the plan has {count}", where=plan.path, problems=errors)
        return plan

    @cached_property
    def store(self) -> Store:
        """The write side of the database, which is created and migrated if need be."""
        from optrack.store.write import Store

        own = Path(self.settings.database).is_relative_to(self.settings.state)
        if own or self.settings.state.is_dir():
            with contextlib.suppress(OSError):
                private_state(self.settings.state)
        return Store.open(self.settings.database, runs_dir=self.settings.runs, gate=self.gate)

    @cached_property
    def gate(self) -> Gate:
        """What masks the secrets in all that the record takes and that leaves the process."""
        return Gate(self._salt, self._known_secrets)

    def _salt(self) -> bytes:
        return project_salt(self._scratch_folder if self.scratch is not None else self.settings.state)

    def _known_secrets(self) -> frozenset[str]:
        try:
            plan = self.written
        except (OptrackError, OSError):
            plan = None
        return known_secrets(os.environ, plan)

    @cached_property
    def reader(self) -> Reader:
        """The read side of the database."""
        if self.scratch is not None:
            return self.scratch.reader
        if standing(database_path(self.settings.database)) in ("missing", "empty", "older"):
            return self.store.reader
        return Reader.open(self.settings.database)

    @cached_property
    def scratch(self) -> Store | None:
        """Where a project that can't be written has no records yet, an empty record to read; else None."""
        state = self.settings.state
        folder = state if state.exists() else state.parent
        database = database_path(self.settings.database)
        if database != (state / "optrack.db").resolve() or os.access(folder, os.W_OK) or database.exists():
            return None
        from optrack.store.write import Store

        return Store.open(self._scratch_folder / "optrack.db", runs_dir=self._scratch_folder / "runs")

    @cached_property
    def _scratch_folder(self) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="optrack-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def at(self, written: Plan, plan: Plan) -> Self:
        """Return a campaign on the same record that stays at this plan: it reads no file and takes nothing over."""
        fixed = type(self)(self.settings, self._plan_file)
        fixed.__dict__ |= {"written": written, "plan": plan, "reader": self.reader, "gate": self.gate}
        return fixed

    def close(self) -> None:
        """Close the connections to the record."""
        for part in ("store", "reader"):
            if part in self.__dict__:
                self.__dict__.pop(part).close()

    # -- what stands where -----------------------------------------------------------------------------

    def sync(self) -> None:
        """Take the plan's present text over into the database, unless it is there already."""
        written, digests = self.written, self._digests(self.improved())
        if self.reader.stamp(written.name) != stamp_of(written, digests):
            store = self.scratch or self.store
            stamp, store.gate = stamp_of(written, digests), self.gate
            store.sync(written, who=self.settings.actor, at=now(), digests=digests, stamp=stamp)

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


def now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)

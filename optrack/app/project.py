"""A project: its settings, the plan that is worked on, and its database."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import tempfile
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from optrack.app.campaign import Campaign
from optrack.errors import OptrackError, PlanError, UsageError
from optrack.host.regular import read_regular, reason
from optrack.model.plan import Plan
from optrack.model.secrets.gate import Gate, known_secrets
from optrack.plan.read import parse_plan
from optrack.plan.resolve import resolve
from optrack.plan.schedule import improved_ids
from optrack.plan.sync import stamp_of
from optrack.settings import Settings, database_salt, private_state, salt_file
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


def choose_plan(settings: Settings, name: str) -> tuple[Path, bool]:
    """Remember a plan (a name from the plans folder, or a file) as the one to work on in this project.

    Returns its path, and whether it was chosen already.
    """
    named = settings.plans / f"{name}.md"
    path = named if named.is_file() else Path(name)
    if not path.is_file():
        there = ", ".join(sorted(p.stem for p in settings.plans.glob("*.md"))) or "none"
        raise UsageError(f"there is no plan {name!r}", hint=f"plans here: {there}")
    chosen = settings.state / "plan"
    before = chosen.read_text(encoding="utf-8").strip() if chosen.is_file() else ""
    resolved = path.resolve()
    known = resolved.relative_to(settings.project) if resolved.is_relative_to(settings.project) else resolved
    try:
        private_state(settings.state)
        chosen.write_text(f"{known}\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the choice can't be kept in {settings.state}: {reason(error)}") from error
    return path, before == str(known)


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


class Project:
    """The plan of a project as its file reads, and the database: what campaigns are read from.

    What is read of the plan's file stays as it was read; `reread` gives a project that reads it again.
    """

    def __init__(self, settings: Settings, plan_file: Path | None = None) -> None:
        self.settings = settings
        self.plan_file = plan_file
        self._reader: Reader | None = None
        self._store: Store | None = None

    def reread(self) -> Project:
        """Return the same project on the same database, with the plan's file to be read anew."""
        fresh = Project(self.settings, self.plan_file)
        fresh._reader, fresh._store = self._reader, self._store
        return fresh

    def close(self) -> None:
        """Close the connections to the database."""
        for part in (self._store, self._reader):
            if part is not None:
                part.close()

    def campaign(self) -> Campaign:
        """Return the plan and where its items stand now, after the plan's edits were taken over."""
        written = self.written
        states = self.reader.items(written.name)
        digests = self._digests(frozenset(improved_ids(states)))
        stamp = stamp_of(written, digests)
        if self.reader.stamp(written.name) != stamp:
            store = self.scratch or self.store
            store.gate = self.gate
            store.sync(written, who=self.settings.actor, at=now(), digests=digests, stamp=stamp)
            states = self.reader.items(written.name)
        return Campaign(self.settings, self.reader, self.gate, written, states)

    def recorded(self) -> Campaign:
        """Return the plan and where its items stand as recorded, without taking the plan's edits over."""
        states = self.reader.items(self.written.name)
        return Campaign(self.settings, self.reader, self.gate, self.written, states)

    @cached_property
    def written(self) -> Plan:
        """The plan as it stands in its file; PlanError lists everything that is wrong with it."""
        plan = read_plan(find_plan(self.settings, self.plan_file))
        if any(problem.severity == "error" for problem in plan.problems):
            from optrack.app.plan_problems import plan_problems

            problems = plan_problems(plan, self.settings.python)
            errors = tuple(p.located(plan.path) for p in problems if p.severity == "error")
            count = "an error" if len(errors) == 1 else f"{len(errors)} errors"
            raise PlanError(f"the plan has {count}", where=plan.path, problems=errors)
        return plan

    @property
    def store(self) -> Store:
        """The write side of the database, which is created and migrated if need be."""
        if self._store is None:
            from optrack.store.write import Store

            own = Path(self.settings.database).is_relative_to(self.settings.state)
            if own or self.settings.state.is_dir():
                with contextlib.suppress(OSError):
                    private_state(self.settings.state)
            self._store = Store.open(self.settings.database, runs_dir=self.settings.runs, gate=self.gate)
        return self._store

    @property
    def reader(self) -> Reader:
        """The read side of the database."""
        if self._reader is None:
            if self.scratch is not None:
                self._reader = self.scratch.reader
            elif standing(database_path(self.settings.database)) in ("missing", "empty", "older"):
                self._reader = self.store.reader
            else:
                self._reader = Reader.open(self.settings.database)
        return self._reader

    @cached_property
    def gate(self) -> Gate:
        """What masks the secrets in all that the record takes and that leaves the process."""
        return Gate(self._salt, self._known_secrets)

    def _salt(self) -> bytes:
        if self.scratch is not None:
            return database_salt(self._scratch_folder / "salt", self._scratch_folder)
        return database_salt(salt_file(self.settings), self.settings.state)

    def _known_secrets(self) -> frozenset[str]:
        try:
            plan = self.written
        except (OptrackError, OSError):
            plan = None
        return known_secrets(os.environ, plan)

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

    def _digests(self, improved: frozenset[str]) -> dict[str, str]:
        """Return the digest of each item's recipe as the plan's text has it."""
        known: dict[str, str] = {}
        for item in self.written.items:
            with contextlib.suppress(PlanError):
                known[item.id] = resolve(self.written, item, improved).digest
        return known


def now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)

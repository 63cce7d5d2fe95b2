"""A campaign: a plan and where its items stand, as the database was at one moment."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from optrack.errors import PlanError, UsageError
from optrack.model.item import ItemState, judgement_of
from optrack.model.plan import Item, Plan
from optrack.model.text import did_you_mean
from optrack.plan.resolve import Resolved, resolve
from optrack.plan.schedule import blocked_by, improved_ids
from optrack.store.parts import WHOLE

if TYPE_CHECKING:
    from optrack.model.judgement import Judgement
    from optrack.model.run import Run
    from optrack.model.secrets.gate import Gate
    from optrack.settings import Settings
    from optrack.store.read import Reader


class Campaign:
    """One plan of a project and what was recorded of it; it stays as it is when the record goes on.

    `states` are the items in plan order, archived ones last. What isn't held here (runs, judgements, events) is
    read from the database when it is asked for.
    """

    def __init__(
        self, settings: Settings, reader: Reader, gate: Gate, written: Plan, states: tuple[ItemState, ...]
    ) -> None:
        self.settings = settings
        self.reader = reader
        self.gate = gate
        self.written = written
        self.states = states

    @cached_property
    def plan(self) -> Plan:
        """The plan of the file with the items that were added in the database only."""
        ids = {item.id for item in self.written.items}
        added = [state.item for state in self.states if not state.archived and state.item.id not in ids]
        items = (*self.written.items, *added)
        return self.written.model_copy(update={"items": items}) if added else self.written

    @cached_property
    def by_id(self) -> Mapping[str, ItemState]:
        """Where each item stands, by its id."""
        return {state.item.id: state for state in self.states}

    def item(self, item_id: str) -> Item:
        """Return the plan's item with this id; raises UsageError with the nearest id."""
        found = self.plan.item(item_id)
        if found is None:
            called = self.reader.called_now(self.plan.name, item_id)
            hint = did_you_mean(item_id, [item.id for item in self.plan.items], "items")
            raise UsageError(
                f"no item {item_id!r} in the plan {self.plan.name!r}",
                hint=f"it is called {called} now" if called else hint,
            )
        return found

    def state(self, item_id: str) -> ItemState:
        """Return where one item stands, archived ones included; raises UsageError with the nearest id."""
        found = self.find_state(item_id)
        if found is None:
            raise UsageError(
                f"no item {item_id!r} in the plan {self.plan.name!r}",
                hint=did_you_mean(item_id, list(self.by_id), "items"),
            )
        return found

    def find_state(self, item_id: str) -> ItemState | None:
        """Return where the item with this id stands, or None."""
        planned = self.plan.item(item_id)
        return self.by_id.get(planned.id if planned else item_id)

    def blocked_by(self, item: Item) -> tuple[str, ...]:
        """Return the needs of an item that are unmet."""
        return blocked_by(item, self.by_id)

    # -- recipes -------------------------------------------------------------------------------------------

    @cached_property
    def improved(self) -> frozenset[str]:
        """The ids of the items whose verdict in force is an improvement."""
        return frozenset(improved_ids(self.states))

    @cached_property
    def adopted(self) -> tuple[Item, ...]:
        """The items whose treatments were made part of the base, in the order of their adoption."""
        found = (self.plan.item(adoption.item) for adoption in self.reader.adoptions(self.plan.name))
        return tuple(item for item in found if item is not None)

    def resolved(self, item: Item) -> Resolved:
        """Return the item's resolved recipe; raises PlanError where it can't be resolved."""
        return resolve(self.plan, item, self.improved, adopted=self.adopted)

    def resolved_or_none(self, item: Item) -> Resolved | None:
        """Return the item's resolved recipe, or None where it has none or it can't be resolved yet."""
        return self.resolutions([item]).get(item.id)

    def resolutions(self, items: Sequence[Item]) -> dict[str, Resolved]:
        """Return the resolved recipes of items by id, without those that have none or can't be resolved yet."""
        found: dict[str, Resolved] = {}
        for item in items:
            with contextlib.suppress(PlanError):
                found[item.id] = self.resolved(item)
        return found

    # -- runs ----------------------------------------------------------------------------------------------

    def find_run(self, name: str) -> Run:
        """Return the whole run that an item's or a run's id means; raises UsageError if it has none."""
        item = self.plan.item(name)
        if item is None:
            return self.reader.run(name)
        runs = self.reader.runs(self.plan.name, item.id)
        if not runs:
            raise UsageError(f"item {item.id} has no run yet", hint=f"`optrack run {item.id}` makes one")
        own = [run for run in runs if run.beside is None]
        succeeded = [run for run in own if run.outcome == "succeeded"]
        return self.reader.run((succeeded or own or list(runs))[0].id)

    def runs_of(self, item_id: str | None = None, limit: int | None = None) -> tuple[Run, ...]:
        """Return the whole runs of an item, or of the plan, oldest first; of `limit` the latest."""
        return tuple(reversed(self.reader.runs(self.plan.name, item_id, limit, with_=WHOLE)))

    def baselines_beside(self, runs: Sequence[Run]) -> dict[str, Run]:
        """Return the baseline's whole run that was measured beside each of these runs, by the run's id."""
        beside = self.reader.paired(run.id for run in runs)
        beside |= {run.id: run.session.baseline for run in runs if run.session.baseline}
        found = self.reader.runs_by_id(beside.values())
        return {run: found[other] for run, other in beside.items()}

    def judgement_of(self, run: Run) -> Judgement | None:
        """Return the recorded judgement of this very run, or None."""
        return judgement_of(self.reader.judgements(run.plan, run.item), run.id)

    def against_original(self, judgement: Judgement | None, item: str) -> Judgement | None:
        """Return what a judgement in force means against the original; None where that is its baseline."""
        found = self.reader.judgements(self.plan.name, item) if judgement else ()
        return judgement_of(found, judgement.candidate, "original") if judgement else None

"""What a report is made of: a plan, where its items stand, their runs, and what was decided."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

from optrack.judge.lineage import Registry, registry_of
from optrack.judge.spread import Sensitivity
from optrack.model.item import Acceptance, Adoption, ItemState, Judged, Transition, judgement_of
from optrack.model.judgement import Judgement
from optrack.model.metrics import Metric
from optrack.model.plan import Plan
from optrack.model.run import Run, primary_metric
from optrack.model.value import Frozen
from optrack.plan.schedule import Choice


class Log(Frozen):
    """All that a progress log is made of: the plan, where its items stand, and their whole runs, oldest first.

    `factors` has each item's treatment: leaf -> (baseline's value, item's). `choice` is what would run next.
    `adoptions` has those that were undone too; `rejections` the baseline's runs that can't be compared with, with why.
    `detailed` are the ids of the items that get a section of their own (None: all that have something to tell).
    `sensitivity` is what the host can show.
    """

    plan: Plan
    states: tuple[ItemState, ...]
    runs: tuple[Run, ...]
    transitions: tuple[Transition, ...] = ()
    recipes: Mapping[str, Mapping[str, Any]] = {}
    factors: Mapping[str, Mapping[str, tuple[Any, Any]]] = {}
    judgements: tuple[Judged, ...] = ()
    acceptances: tuple[Acceptance, ...] = ()
    adoptions: tuple[Adoption, ...] = ()
    rejections: Mapping[str, str] = {}
    choice: Choice | None = None
    detailed: frozenset[str] | None = None
    sensitivity: Sensitivity | None = None

    @cached_property
    def _by_item(self) -> Mapping[str, tuple[Run, ...]]:
        found: dict[str, list[Run]] = {}
        for run in self.runs:
            if run.beside is None:
                found.setdefault(run.item, []).append(run)
        return {item: tuple(runs) for item, runs in found.items()}

    @cached_property
    def _by_id(self) -> Mapping[str, Run]:
        return {run.id: run for run in self.runs}

    @cached_property
    def _beside(self) -> Mapping[str, Run]:
        shared = {run.id: run.session.baseline for run in self.runs if run.session.baseline}
        found = {run: self._by_id[other] for run, other in shared.items() if other in self._by_id}
        return {run.beside: run for run in self.runs if run.beside} | found

    @cached_property
    def _known(self) -> Mapping[str, ItemState]:
        return {state.item.id: state for state in self.states}

    @cached_property
    def metric(self) -> Metric:
        """The primary metric: as the plan says, else as the samples do, else as its name implies."""
        return primary_metric(self.plan, self.runs)

    def changed(self, **fields: Any) -> Log:
        """Return the log with these fields in place of its own."""
        return Log(**({name: getattr(self, name) for name in Log.model_fields} | fields))

    def runs_of(self, item: str) -> tuple[Run, ...]:
        """Return the runs that were made for an item itself, not those measured beside another."""
        return self._by_item.get(item, ())

    def run(self, run_id: str | None) -> Run | None:
        """Return the run with this id, or None."""
        return self._by_id.get(run_id or "")

    def beside(self, run_id: str) -> Run | None:
        """Return the baseline's run that was measured beside this one, or None."""
        return self._beside.get(run_id)

    def state(self, item: str) -> ItemState | None:
        """Return where an item stands, or None for one that isn't in the log."""
        return self._known.get(item)

    def by_hand(self, item: str) -> tuple[Transition, ...]:
        """Return the moves of an item that somebody made by hand."""
        return tuple(t for t in self.transitions if t.item == item and t.by_hand)

    @property
    def states_with_details(self) -> list[ItemState]:
        """The items that get a section of their own."""
        return [state for state in self.states if self.is_detailed(state)]

    def is_detailed(self, state: ItemState) -> bool:
        """Whether an item gets a section of its own."""
        if self.detailed is not None:
            return state.item.id in self.detailed
        return bool(
            self.runs_of(state.item.id) or state.judgement or state.notes or self.by_hand(state.item.id)
        )

    def judged(self, run: Run) -> Judgement | None:
        """Return the latest judgement of exactly this run, or None."""
        state = self.state(run.item)
        if state is not None and state.judgement is not None and state.judgement.candidate == run.id:
            return state.judgement
        return judgement_of(self.judgements, run.id)

    def against_original(self, judgement: Judgement | None) -> Judgement | None:
        """Return what a judgement means against the original; None where that is its baseline."""
        return judgement_of(self.judgements, judgement.candidate, "original") if judgement else None

    @cached_property
    def registry(self) -> Registry:
        """The bases of the plan with their measurements, and what was adopted on what."""
        return registry_of(
            [run for run in self.runs if run.item == self.plan.baseline],
            self.adoptions,
            self.judgements,
            metric=self.metric,
            min_effect=self.plan.min_effect,
            rejections=self.rejections,
        )


def selected(log: Log, *, items: Collection[str] = (), since: datetime | None = None) -> Log:
    """Return the log narrowed: to some items (and the baseline's runs), and in detail to what happened since."""
    narrowed = log
    if items:
        wanted = set(items)
        states = tuple(state for state in log.states if state.item.id in wanted)
        needed = wanted | {log.plan.baseline}
        narrowed = log.changed(
            states=states,
            runs=tuple(run for run in log.runs if run.item in needed),
            transitions=tuple(t for t in log.transitions if t.item in wanted),
            detailed=frozenset(wanted),
        )
    if since is not None:
        touched = {
            run.item for run in log.runs if (run.ended_at or run.started_at) >= since and not run.beside
        }
        touched |= {t.item for t in log.transitions if t.at >= since}
        touched |= {s.item.id for s in log.states if any(note.at >= since for note in s.notes)}
        touched |= {j.item for j in log.judgements if j.at >= since}
        if narrowed.detailed is not None:
            touched &= narrowed.detailed
        narrowed = narrowed.changed(detailed=frozenset(touched))
    return narrowed

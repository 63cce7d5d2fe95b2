"""From the record to a judgement: what is compared with what, by which rules; and keeping it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from optrack.app.baseline_refresh import facts_of, measurement
from optrack.app.plan_history import PlanHistory
from optrack.judge.applied import doubts_of
from optrack.judge.audit import ComparisonInput, conclude, lost_since, rejected_baseline
from optrack.judge.baselines import ageing, ageing_differences, unseen_code
from optrack.judge.difference import comparison, differences, settled
from optrack.judge.evidence import Rules, rules_of
from optrack.judge.imported import is_imported
from optrack.judge.lineage import AdoptionStep, against_original, in_force_at
from optrack.judge.remarks import with_remarks
from optrack.judge.sequential import next_step
from optrack.judge.sides import in_turn, side_of
from optrack.judge.unseen import of_a_failed_start
from optrack.judge.work import work_differences
from optrack.model.events import RunJudged, SessionPlanned
from optrack.model.item import Acceptance, Adoption, ItemState, judgement_of
from optrack.model.judgement import Difference, Judgement
from optrack.model.plan import Plan
from optrack.model.recipe import recipe_from
from optrack.model.run import Run, primary_metric
from optrack.model.snapshot import Snapshot
from optrack.model.treatment import treatment
from optrack.store.read import Reader

if TYPE_CHECKING:
    from optrack.store.write import Store


class Evaluator:
    """Judges the recorded runs of one plan; everything it needs it reads from the record. For `hindsight` see
    `PlanHistory`."""

    def __init__(self, reader: Reader, plan: Plan, *, hindsight: bool = False) -> None:
        self._reader = reader
        self._plan = plan
        self._history = PlanHistory(reader, plan, hindsight=hindsight)
        self._runs: dict[str, Run] = {}
        self._states: tuple[ItemState, ...] | None = None

    def load(self, runs: Iterable[str]) -> None:
        """Read these runs whole, those that weren't read yet, in a few queries."""
        self._runs |= self._reader.runs_by_id(run for run in runs if run not in self._runs)

    def run(self, run: str) -> Run:
        """Return a whole run that has ended, by its full id."""
        self.load([run])
        return self._runs[run]

    def judge(self, candidate: Run, baseline: Run | None = None) -> Judgement:
        """Return the judgement of a whole run, against the given baseline's run or the one it belongs to."""
        baseline = baseline or self.baseline_for(candidate)
        return with_remarks(conclude(self.comparison_input(candidate, baseline)), candidate, baseline)

    def settled(self, candidate: Run, baseline: Run) -> bool:
        """Whether a sequential session of these two runs, as far as they have come, needs no more launches."""
        given = self.comparison_input(candidate, baseline)
        return (
            given.baseline is not None
            and next_step(given.candidate, given.baseline, given.rules) == "settled"
        )

    def comparison_input(self, candidate: Run, baseline: Run | None = None) -> ComparisonInput:
        """Return everything that the judgement of a run rests on."""
        baseline = baseline or self.baseline_for(candidate)
        base = baseline.recipe if baseline else self._base_recipe(candidate)
        factors = treatment(candidate.recipe, base) if base else {}
        accepted = [a.field for a in self._acceptances if a.item in (None, candidate.item)]
        found = (
            differences(
                candidate.snapshot or Snapshot(),
                baseline.snapshot or Snapshot(),
                declared=factors,
                accepted=accepted,
            )
            if baseline
            else ()
        )
        failed_start = candidate.outcome in ("failed", "timed_out") and candidate.stage in ("launch", "ready")
        if failed_start and baseline is not None:
            snapshots = candidate.snapshot or Snapshot(), baseline.snapshot or Snapshot()
            found = settled(of_a_failed_start(found, *snapshots, factors), accepted)
        if baseline is not None and candidate.outcome not in ("failed", "timed_out"):
            metric = primary_metric(self._plan, [candidate, baseline])
            work = work_differences(candidate, baseline, metric, self._plan.metric.unit or "")
            found = (*found, *settled(work, accepted))
        interleaved = baseline is not None and in_turn(candidate, baseline)
        if baseline is not None and not interleaved:
            measured = measurement(baseline, self._plan.metric.name)
            aged = ageing(measured, candidate.started_at, facts_of(candidate))
            found = (*found, *ageing_differences(measured, aged))
            found = settled((*found, *self._unlike_later(candidate, baseline, found)), accepted)
        if baseline is not None:
            found = settled((*found, *unseen_code([candidate.snapshot, baseline.snapshot])), accepted)
            why = self._rejected.get(baseline.id)
            found = (*found, *([rejected_baseline(baseline.id, why)] if why else []))
        after = None
        if baseline is not None and not interleaved:
            after = self._after(candidate, baseline, accepted)
        return ComparisonInput(
            item=candidate.item,
            stored=Judgement(
                verdict=None, baseline=None, candidate=candidate.id, metric=self._plan.metric.name
            ),
            candidate=side_of(candidate, is_in_turn=interleaved),
            baseline=side_of(baseline, is_in_turn=interleaved) if baseline else None,
            after=side_of(after) if after else None,
            rules=self.rules(candidate, baseline, interleaved=interleaved),
            differences=found,
            comparison=comparison(found) if baseline else "unknown",
            factors=factors,
            not_applied=doubts_of(candidate, baseline, factors),
            seen_alone=self._seen_alone(candidate.item),
        )

    def against_original(self, judgement: Judgement, candidate: Run) -> Judgement | None:
        """Return what a judgement means against the original configuration; None where that was its baseline.

        What was adopted when the baseline's run was made is the chain that leads back.
        """
        history = self._reader.adoption_history(self._plan.name)
        if not history:
            return None
        judgements = self._reader.judgements(self._plan.name)
        chain = [
            self._link(adoption, judgement_of(judgements, adoption.run), history)
            for adoption in in_force_at(history, self._begun(judgement, candidate))
        ]
        if not chain:
            return None
        baseline = self.run(judgement.baseline) if judgement.baseline else None
        return against_original(judgement, chain, self.rules(candidate, baseline, interleaved=True))

    def _begun(self, judgement: Judgement, candidate: Run) -> datetime:
        return self.run(judgement.baseline).started_at if judgement.baseline else candidate.started_at

    def _link(
        self, adoption: Adoption, judgement: Judgement | None, history: Sequence[Adoption]
    ) -> AdoptionStep:
        on: tuple[Adoption, ...] = ()
        if judgement is not None and adoption.run is not None:
            on = in_force_at(history, self._begun(judgement, self.run(adoption.run)))
        return AdoptionStep(item=adoption.item, judgement=judgement, on=tuple(other.item for other in on))

    def record(self, store: Store, judgement: Judgement, run: Run, at: datetime) -> None:
        """Record the judgement of a run, and beside it the one against the original configuration."""
        store.record(run.id, RunJudged(judgement=judgement), at)
        self._states = None
        self.record_against_original(store, judgement, run, at)

    def record_against_original(self, store: Store, judgement: Judgement, run: Run, at: datetime) -> None:
        """Record what a judgement means against the original, where it stands on an adopted base."""
        original = self.against_original(judgement, run)
        if original is not None:
            store.record(run.id, RunJudged(judgement=original, against="original"), at)

    def rules(self, candidate: Run, baseline: Run | None, *, interleaved: bool) -> Rules:
        """Return the rules that a run is judged by: the plan's, how the run's recipe measures, and what was laid
        down before its first launch."""
        session, states = candidate.session, self._standing()
        metric = primary_metric(self._plan, [candidate, *([baseline] if baseline else [])])
        rules = rules_of(
            recipe_from(candidate.recipe),
            metric,
            min_effect=self._plan.min_effect,
            interleaved=interleaved,
            family=session.family or self._history.family(states),
            history=self._history.spread(candidate, metric.name),
            is_shared=bool(session.companions),
        )
        guarded = {check.metric or name for name, check in rules.guards.items() if check.worse is not None}
        spreads = {name: self._history.spread(candidate, name) for name in guarded}
        return rules.model_copy(
            update={
                "guard_history": {name: spread for name, spread in spreads.items() if spread is not None},
                "first_look": session.first_look or rules.first_look,
                "max_launches": session.max_launches or rules.max_launches,
                "credited": session.credited
                if session.family
                else self._history.credited(candidate.item, states),
            }
        )

    def planned(
        self, candidate: Run, *, seed: int, interleaved: bool, baseline: str | None, companions: Sequence[str]
    ) -> SessionPlanned:
        """Return what is laid down of a run before its first launch."""
        session = candidate.session.model_copy(update={"companions": tuple(companions)})
        rules = self.rules(candidate.model_copy(update={"session": session}), None, interleaved=interleaved)
        return SessionPlanned(
            seed=seed,
            max_launches=rules.max_launches,
            first_look=rules.first_look or 1,
            family=rules.family,
            credited=rules.credited,
            baseline=baseline,
            companions=tuple(companions),
        )

    def baseline_for(self, candidate: Run) -> Run | None:
        """Return the whole run to judge against: the one measured beside the candidate, else the latest
        earlier one of the baseline that succeeded and that nobody rejected, an imported one only where none was
        measured, else None."""
        beside = candidate.session.baseline or self._reader.beside(candidate.id)
        if beside is not None:
            return self._reader.run(beside)
        earlier = [
            run.id
            for run in self._baseline_runs
            if run.outcome == "succeeded" and run.id < candidate.id and run.id not in self._rejected
        ]
        latest = sorted(earlier, reverse=True)
        measured = next((run for run in latest if not is_imported(self.run(run))), None)
        return self.run(measured or latest[0]) if latest else None

    def _unlike_later(
        self, candidate: Run, baseline: Run, found: Sequence[Difference]
    ) -> tuple[Difference, ...]:
        """What the next run of the same baseline shows: that something was lost while it wasn't looked at."""
        if all(difference.cls != "unknown" for difference in found):
            return ()
        following = self._following(candidate, baseline)
        return lost_since(found, _between(following, baseline), following.id) if following else ()

    def _following(self, candidate: Run, baseline: Run) -> Run | None:
        """The next run of the same baseline after a candidate."""
        later = [
            run.id
            for run in self._baseline_runs
            if run.id > candidate.id
            and run.outcome == "succeeded"
            and run.id not in self._rejected
            and not treatment(run.recipe, baseline.recipe)
        ]
        return self.run(min(later)) if later else None

    def _after(self, candidate: Run, baseline: Run, accepted: Sequence[str]) -> Run | None:
        """The next run of the same baseline, if it shows the baseline as it was before the candidate."""
        following = self._following(candidate, baseline)
        if following is None or comparison(settled(_between(following, baseline), accepted)) == "unfair":
            return None
        measured = measurement(baseline, self._plan.metric.name)
        return None if ageing(measured, following.started_at, facts_of(following)) else following

    @cached_property
    def _rejected(self) -> Mapping[str, str]:
        """The runs that can't be compared with, and why."""
        return self._reader.rejections(self._plan.name)

    @cached_property
    def _acceptances(self) -> Sequence[Acceptance]:
        return self._reader.acceptances(self._plan.name)

    @cached_property
    def _baseline_runs(self) -> Sequence[Run]:
        """The baseline's runs, newest first, without what they measured and captured."""
        return self._reader.runs(self._plan.name, self._plan.baseline)

    def _base_recipe(self, candidate: Run) -> Mapping[str, Any]:
        """The recipe of the baseline's latest run, which a run that failed before it had one was to differ from."""
        if candidate.outcome not in ("failed", "timed_out") or candidate.item == self._plan.baseline:
            return {}
        return self._baseline_runs[0].recipe if self._baseline_runs else {}

    def _standing(self) -> tuple[ItemState, ...]:
        if self._states is None:
            self._states = self._reader.items(self._plan.name)
        return self._states

    def _seen_alone(self, item: str) -> tuple[frozenset[str], ...]:
        """The treatments of the other items that have a fair verdict."""
        return tuple(
            frozenset(state.judgement.attribution.factors)
            for state in self._standing()
            if state.item.id != item and not state.stale
            if state.judgement is not None and state.judgement.is_decided
        )


def _between(following: Run, baseline: Run) -> tuple[Difference, ...]:
    return differences(following.snapshot or Snapshot(), baseline.snapshot or Snapshot(), declared={})

"""What the earlier runs of a plan say of a new one: how far launches spread, and how many comparisons there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from optrack.judge.baselines import history_of
from optrack.judge.evidence import Evidence, History, evidence_of
from optrack.judge.sides import side_of
from optrack.model.item import ItemState
from optrack.model.plan import Plan
from optrack.model.run import Run
from optrack.plan.schedule import comparisons, improved_ids
from optrack.store.read import Reader

_LATEST_RUNS = 100


class PlanHistory:
    """The latest runs of one plan, of the baseline and of the candidates.

    The spread between launches is taken from the runs before the one that is judged; in `hindsight` from all
    others, later ones too: they know the machine's noise better, and nothing of the effect.
    """

    def __init__(self, reader: Reader, plan: Plan, *, hindsight: bool = False) -> None:
        self._reader = reader
        self._plan = plan
        self._hindsight = hindsight
        self._measured: dict[str, Sequence[tuple[Run, Evidence]]] = {}

    def spread(self, candidate: Run, metric: str) -> History | None:
        """Return the spread of a metric between launches in the other sessions of the plan, and in those of the
        other items that were measured in the same rounds."""
        groups: dict[str, list[Evidence]] = {}
        for run, evidence in self._of(metric):
            own = run.id == candidate.id or run.beside == candidate.id or run.id == candidate.session.baseline
            beside = run.id in candidate.session.companions
            earlier = run.outcome == "succeeded" and (self._hindsight or run.id < candidate.id)
            if not own and (beside or earlier):
                groups.setdefault(run.recipe_digest, []).insert(0, evidence)
        return history_of(groups)

    def latest_spread(self, metric: str, ending: str | None = None) -> History | None:
        """Return the spread of a metric between launches in all of the plan's latest runs that succeeded, with the
        one that is just `ending`."""
        groups: dict[str, list[Evidence]] = {}
        for run, evidence in self._of(metric):
            if run.outcome == "succeeded" or run.id == ending:
                groups.setdefault(run.recipe_digest, []).insert(0, evidence)
        return history_of(groups)

    def family(self, states: Sequence[ItemState]) -> int:
        """Return how many comparisons share the plan's error now: never fewer than an earlier run was told."""
        judged = Counter(
            item
            for item, _ in {
                (judged.item, judged.judgement.candidate)
                for judged in self._reader.judgements(self._plan.name)
                if judged.against == "baseline" and judged.judgement.effect is not None
            }
        )
        told = [run.session.family or 0 for run in self._runs]
        return max(1, comparisons(self._plan, states, judged), *told)

    def credited(self, item: str, states: Sequence[ItemState]) -> int:
        """Return how many other items are improvements in a fair comparison."""
        return len(improved_ids(states) - {item})

    @cached_property
    def _runs(self) -> Sequence[Run]:
        return self._reader.runs(self._plan.name, limit=_LATEST_RUNS, with_=["session"])

    def _of(self, metric: str) -> Sequence[tuple[Run, Evidence]]:
        if metric not in self._measured:
            samples = self._reader.samples([run.id for run in self._runs], metric)
            measured = (run.model_copy(update={"samples": samples[run.id]}) for run in self._runs)
            self._measured[metric] = [(run, evidence_of(side_of(run), metric)) for run in measured]
        return self._measured[metric]

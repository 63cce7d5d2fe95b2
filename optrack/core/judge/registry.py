"""The registry of a plan's bases: their measurements over time, how they drifted, and what was adopted on what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from statistics import fmean

from optrack.core.canonical import recipe_digest
from optrack.core.frozen import Frozen
from optrack.core.judge.baselines import Measurement, drift
from optrack.core.judge.lineage import in_force_at
from optrack.core.judgement import Judgement
from optrack.core.metrics import Metric, series_of
from optrack.core.recipes.recipe import HOW_MEASURED
from optrack.core.run import Run
from optrack.core.state import Adoption, Judged, judgement_of


class Measured(Frozen):
    """One measurement of a base; `mean` is None where the run gave no number. `beside` is the run that it was
    measured with in turn, `rejected` why it proved unfit to compare with."""

    run: str
    at: datetime
    mean: float | None
    beside: str | None = None
    rejected: str | None = None


class Base(Frozen):
    """A configuration that items were compared with: what was adopted into it, its measurements, its drift."""

    adopted: tuple[str, ...]
    measurements: tuple[Measured, ...]
    drift: str | None = None


class Rest(Frozen):
    """An adoption and the judgement that it rests on now; `stands` tells whether that is still an improvement
    in a fair comparison."""

    adoption: Adoption
    judgement: Judgement | None = None
    stands: bool = False


class Registry(Frozen):
    """All bases of a plan, the original first, and all adoptions, undone ones too."""

    bases: tuple[Base, ...] = ()
    adoptions: tuple[Rest, ...] = ()

    @property
    def fallen(self) -> tuple[str, ...]:
        """The items in force as part of the base whose evidence no longer stands."""
        return tuple(r.adoption.item for r in self.adoptions if r.adoption.undone_at is None and not r.stands)


def registry_of(
    runs: Sequence[Run],
    adoptions: Sequence[Adoption],
    judgements: Sequence[Judged],
    *,
    metric: Metric,
    min_effect: float,
    rejections: Mapping[str, str] | None = None,
) -> Registry:
    """Return the registry from the baseline's whole runs and what was adopted, undone adoptions included.

    Runs of one configuration are measurements of one base, even where another was in force in between.
    """
    rejected = rejections or {}
    groups: dict[str, list[Run]] = {}
    for run in sorted(runs, key=lambda run: run.id):
        if run.outcome == "succeeded":
            groups.setdefault(_configuration(run), []).append(run)
    bases = tuple(_base(group, adoptions, metric, min_effect, rejected) for group in groups.values())
    return Registry(bases=bases, adoptions=tuple(_rest(adoption, judgements) for adoption in adoptions))


def _configuration(run: Run) -> str:
    return recipe_digest({key: value for key, value in run.recipe.items() if key not in HOW_MEASURED})


def _base(
    runs: Sequence[Run],
    adoptions: Sequence[Adoption],
    metric: Metric,
    min_effect: float,
    rejected: Mapping[str, str],
) -> Base:
    found = [
        Measured(
            run=run.id,
            at=run.started_at,
            mean=_mean(run, metric.name),
            beside=run.beside,
            rejected=rejected.get(run.id),
        )
        for run in runs
    ]
    kept = [
        Measurement(run=m.run, baseline=runs[0].item, at=m.at, mean=m.mean)
        for m in found
        if m.mean is not None and m.rejected is None
    ]
    return Base(
        adopted=tuple(adoption.item for adoption in in_force_at(adoptions, runs[0].started_at)),
        measurements=tuple(found),
        drift=drift(kept, metric.unit, min_effect),
    )


def _mean(run: Run, metric: str) -> float | None:
    series = series_of(run.samples, metric)
    return fmean(series.values) if series else None


def _rest(adoption: Adoption, judgements: Sequence[Judged]) -> Rest:
    found = judgement_of(judgements, adoption.run) if adoption.run else None
    stands = found is not None and found.verdict == "improvement" and found.comparison == "fair"
    return Rest(adoption=adoption, judgement=found, stands=stands)

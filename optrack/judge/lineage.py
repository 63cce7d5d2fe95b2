"""An adopted base's history: its measurements, what was adopted, and verdicts against the original."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from statistics import fmean, variance
from typing import Any

from optrack.judge.baselines import BaselineMeasurement, compounded, drift
from optrack.judge.evidence import Rules, evidence_of
from optrack.judge.guards import after_guards
from optrack.judge.sides import side_of
from optrack.judge.verdict import verdict_of
from optrack.model.item import Adoption, Judged, judgement_of
from optrack.model.judgement import Attribution, Comparison, Effect, Judgement, Verdict
from optrack.model.metrics import Metric, series_of
from optrack.model.run import Run
from optrack.model.treatment import HOW_MEASURED
from optrack.model.value import Frozen, recipe_digest
from optrack.model.wording import interval, listed, percent


class AdoptionStep(Frozen):
    """An adopted item in the chain from the original to a base: the judgement it was adopted on, if there is one.

    `on` are the items whose treatments were part of the base that it was itself measured on.
    """

    item: str
    judgement: Judgement | None = None
    on: tuple[str, ...] = ()


def in_force_at(adoptions: Sequence[Adoption], at: datetime) -> tuple[Adoption, ...]:
    """Return the adoptions that were in force at a time, in their order, whatever was undone since."""
    return tuple(
        adoption
        for adoption in adoptions
        if adoption.at <= at and (adoption.undone_at is None or adoption.undone_at > at)
    )


def against_original(own: Judgement, chain: Sequence[AdoptionStep], rules: Rules) -> Judgement:
    """Return the judgement of the candidate against the original, through the effects of what was adopted.

    `own` is its judgement against its base. Each effect was measured against the base of its time, so they
    multiply. Without a number for every step, or where one no longer stands, there is no verdict.
    """
    missing = [step.item for step in chain if step.judgement is None or step.judgement.effect is None]
    fallen = [step.item for step in chain if step.judgement and step.judgement.comparison == "unfair"]
    judged = [step.judgement for step in chain if step.judgement is not None]
    if own.verdict in (None, "failed"):
        return _concluded(own, judged, own.verdict, own.reasons[:1])
    if fallen:
        why = f"The evidence on which {listed(fallen)} was adopted no longer stands, so nothing rests on it."
        return _concluded(own, judged, None, [why])
    if missing:
        why = (
            f"{listed(missing)} was adopted without a measured effect, so none against the original is known."
        )
        return _concluded(own, judged, None, [why])
    if own.effect is None:
        return _concluded(own, judged, "inconclusive", own.reasons[:1])
    effects = [judgement.effect for judgement in (*judged, own) if judgement.effect is not None]
    effect = compounded(effects)
    assert effect is not None and rules.metric.better is not None
    verdict = verdict_of(effect, rules.metric.better, rules.min_effect)
    said = [_text(own, own.effect, chain, effect)]
    if verdict == "improvement":
        verdict = "inconclusive"
        said.append(
            "Effects that were adopted for being improvements overstate what they come to together: measured once "
            "against the original, the whole would be known."
        )
    verdict, ahead = after_guards(verdict, own.guards)
    return _concluded(own, judged, verdict, [*ahead, *said, *_assumed(chain)], effect)


def both_effects(own: Judgement, original: Judgement | None) -> str:
    """Return the two effects of an item on an adopted base, `+12.0% over the adopted base, +31.0% over the
    original`; nothing where there is no adopted base or no number."""
    if original is None or own.effect is None:
        return ""
    over = f"{percent(own.effect.relative)} over the adopted base"
    if original.effect is None:
        return f"{over}, unknown over the original"
    return f"{over}, {percent(original.effect.relative)} over the original"


def _concluded(
    own: Judgement,
    chain: Sequence[Judgement],
    verdict: Verdict | None,
    reasons: Sequence[str],
    effect: Effect | None = None,
) -> Judgement:
    factors = tuple(dict.fromkeys(name for j in (*chain, own) for name in j.attribution.factors))
    return own.model_copy(
        update={
            "verdict": verdict,
            "baseline": chain[0].baseline if chain else None,
            "effect": effect,
            "comparison": _weakest([*chain, own]),
            "differences": (),
            "attribution": Attribution(
                status="confounded" if len(factors) > 1 else "single", factors=factors
            ),
            "reasons": tuple(reasons),
            "launches": min((j.launches for j in (*chain, own)), default=0),
            "launches_needed": None,
            "derived": {},
        }
    )


def _weakest(chain: Sequence[Judgement]) -> Comparison:
    seen = {judgement.comparison for judgement in chain}
    return "unfair" if "unfair" in seen else "unknown" if "unknown" in seen else "fair"


def _text(own: Judgement, alone: Effect, chain: Sequence[AdoptionStep], effect: Effect) -> str:
    steps = [
        f"{step.item} {percent(step.judgement.effect.relative)}"
        for step in chain
        if step.judgement and step.judgement.effect
    ]
    return (
        f"{own.metric} {interval(effect)} over the original: {percent(alone.relative)} over the base of its time, "
        f"on top of what was adopted ({listed(steps)}). Effects measured one after the other multiply."
    )


def _assumed(chain: Sequence[AdoptionStep]) -> list[str]:
    """Say of each adopted item that was measured on another base than the one it was adopted onto."""
    said = []
    for position, step in enumerate(chain):
        below = tuple(earlier.item for earlier in chain[:position])
        if set(step.on) != set(below):
            others = listed([item for item in below if item not in step.on]) or "what was adopted then"
            said.append(
                f"{step.item} was measured without {others}: that its effect is the same with it is assumed."
            )
    return said


class BaselineConfig(Frozen):
    """A configuration that items were compared with: what was adopted into it, its measurements, its drift."""

    adopted: tuple[str, ...]
    measurements: tuple[BaselineMeasurement, ...]
    drift: str | None = None


class AdoptionEvidence(Frozen):
    """An adoption and the judgement that it rests on now; `stands` tells whether that is still an improvement
    in a fair comparison."""

    adoption: Adoption
    judgement: Judgement | None = None
    stands: bool = False


class Registry(Frozen):
    """All bases of a plan, the original first, and all adoptions, undone ones too."""

    bases: tuple[BaselineConfig, ...] = ()
    adoptions: tuple[AdoptionEvidence, ...] = ()

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
    bases = tuple(_configured(group, adoptions, metric, min_effect, rejected) for group in groups.values())
    return Registry(bases=bases, adoptions=tuple(_evidence(adoption, judgements) for adoption in adoptions))


def _configuration(run: Run) -> str:
    return recipe_digest({key: value for key, value in run.recipe.items() if key not in HOW_MEASURED})


def _configured(
    runs: Sequence[Run],
    adoptions: Sequence[Adoption],
    metric: Metric,
    min_effect: float,
    rejected: Mapping[str, str],
) -> BaselineConfig:
    measurements = tuple(
        BaselineMeasurement(
            run=run.id,
            at=run.started_at,
            mean=_mean(run, metric.name),
            **_error(run, metric.name),
            beside=run.beside,
            rejected=rejected.get(run.id),
        )
        for run in runs
    )
    return BaselineConfig(
        adopted=tuple(adoption.item for adoption in in_force_at(adoptions, runs[0].started_at)),
        measurements=measurements,
        drift=drift(measurements, metric.unit, min_effect),
    )


def _mean(run: Run, metric: str) -> float | None:
    series = series_of(run.samples, metric)
    return fmean(series.values) if series else None


def _error(run: Run, metric: str) -> dict[str, Any]:
    """Return the standard error of the mean's logarithm and its degrees of freedom; nothing for a single launch."""
    evidence = evidence_of(side_of(run), metric)
    levels = [launch.level for launch in evidence.launches] if evidence.positive else []
    if len(levels) < 2:
        return {}
    return {"error": math.sqrt(variance(levels) / len(levels)), "freedom": len(levels) - 1}


def _evidence(adoption: Adoption, judgements: Sequence[Judged]) -> AdoptionEvidence:
    found = judgement_of(judgements, adoption.run) if adoption.run else None
    stands = found is not None and found.verdict == "improvement" and found.comparison == "fair"
    return AdoptionEvidence(adoption=adoption, judgement=found, stands=stands)

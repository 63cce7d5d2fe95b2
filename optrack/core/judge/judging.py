"""The judgement of a candidate against a baseline: fair first, then attributable, then enough evidence."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from optrack.core.judge.attribution import attribute
from optrack.core.judge.evidence import Evidence, Rules, Side, evidence_of
from optrack.core.judge.interval import Estimate, estimate
from optrack.core.judge.reasons import (
    evidence_reasons,
    failure_reasons,
    method_reasons,
    shortage_reasons,
    unfair_reasons,
    unknown_reasons,
    verdict_reasons,
)
from optrack.core.judge.verdict import launches_needed, verdict_of
from optrack.core.judgement import Attribution, Comparison, Difference, Judgement, Verdict


def judge(
    candidate: Side,
    baseline: Side | None,
    rules: Rules,
    *,
    differences: Sequence[Difference] = (),
    comparison: Comparison,
    factors: Mapping[str, tuple[Any, Any]],
    not_applied: Sequence[str] = (),
    seen_alone: Collection[Collection[str]] = (),
) -> Judgement:
    """Return the judgement of `candidate` against `baseline`, with its reasons as sentences.

    `factors` is what the recipes declare to differ (leaf -> baseline's value, candidate's); `not_applied`
    names those that the processes don't show; `seen_alone` the treatments already judged fairly against this
    baseline. A run that failed is `failed`. An unfair comparison, a treatment that wasn't applied, an
    interrupted run or a missing baseline gives no verdict (None).
    """
    attribution, credit = attribute(factors, named=_factor_name(candidate), seen_alone=seen_alone)
    known = _Known(candidate, baseline, rules, tuple(differences), comparison, attribution)
    barred = _barred(known, not_applied)
    if barred is not None:
        return barred
    assert baseline is not None
    return _by_evidence(known, baseline, credit, treated=bool(factors) or _declared(differences))


class _Known:
    """What every outcome of a judgement has in common."""

    def __init__(
        self,
        candidate: Side,
        baseline: Side | None,
        rules: Rules,
        differences: tuple[Difference, ...],
        comparison: Comparison,
        attribution: Attribution,
    ) -> None:
        self.candidate = candidate
        self.baseline = baseline
        self.rules = rules
        self.differences = differences
        self.comparison = comparison
        self.attribution = attribution

    def concluded(self, verdict: Verdict | None, reasons: Sequence[str], **more: Any) -> Judgement:
        return Judgement(
            verdict=verdict,
            baseline=self.baseline.run if self.baseline else None,
            candidate=self.candidate.run,
            metric=self.rules.metric.name,
            comparison=self.comparison,
            differences=self.differences,
            attribution=self.attribution,
            reasons=tuple(reasons),
            **more,
        )


def _factor_name(candidate: Side) -> str | None:
    name = candidate.recipe.get("factor")
    return name if isinstance(name, str) else None


def _declared(differences: Sequence[Difference]) -> bool:
    return any(difference.cls == "declared" for difference in differences)


def _barred(known: _Known, not_applied: Sequence[str]) -> Judgement | None:
    """Return the judgement of what can't be judged by numbers; None if numbers may speak."""
    candidate, baseline = known.candidate, known.baseline
    if candidate.outcome in ("failed", "timed_out"):
        return known.concluded("failed", failure_reasons(candidate, baseline, known.differences))
    if candidate.outcome != "succeeded":
        ended = "was interrupted" if candidate.outcome == "interrupted" else "hasn't ended"
        return known.concluded(None, [f"The run {ended}, so it shows nothing of {candidate.item}."])
    if baseline is None:
        return known.concluded(None, ["There is no baseline run to compare with."])
    if baseline.outcome != "succeeded":
        return known.concluded(
            None,
            [
                f"The baseline's run {baseline.run} didn't succeed, so there is nothing to compare with.",
                *failure_reasons(baseline, None, ()),
            ],
        )
    if not_applied:
        return known.concluded(
            None,
            [
                f"{factor} is in the recipe, but the launched processes don't show it: the treatment was not "
                "applied, so the run measured something else."
                for factor in not_applied
            ],
        )
    if known.comparison == "unfair":
        return known.concluded(None, unfair_reasons(known.differences))
    return None


def _by_evidence(known: _Known, baseline: Side, credit: Sequence[str], *, treated: bool) -> Judgement:
    rules = known.rules
    ours, theirs = (evidence_of(side, rules.metric.name) for side in (known.candidate, baseline))
    marked = unknown_reasons(known.differences) if known.comparison == "unknown" else []
    if ours.invalid and not ours.launches:
        return known.concluded("failed", [*marked, *evidence_reasons(ours, theirs, rules.metric)])
    found = estimate(ours, theirs, interleaved=rules.interleaved, history=rules.history)
    if found is None or rules.metric.better is None:
        return known.concluded(
            "inconclusive",
            [*marked, *shortage_reasons(ours, theirs, rules), *evidence_reasons(ours, theirs, rules.metric)],
            launches_needed=_first_shortage(ours, theirs),
        )
    tail = (1 - rules.confidence) / 2
    effect = found.effect(rules.confidence)
    verdict = verdict_of(effect, rules.metric.better, rules.min_effect)
    needed = launches_needed(found, rules.min_effect, tail) if verdict == "inconclusive" else None
    said = verdict_reasons(verdict, effect, rules, needed, found.launches)
    if not treated and verdict in ("improvement", "regression"):
        verdict, said = "inconclusive", _untreated(effect_text=said[0])
    return known.concluded(
        verdict,
        [
            *said,
            *marked,
            *method_reasons(found, rules),
            *credit,
            *evidence_reasons(ours, theirs, rules.metric),
        ],
        effect=effect,
        launches_needed=needed,
    )


def _untreated(effect_text: str) -> list[str]:
    return [
        "The recipe is the baseline's own, so a difference between the two runs is noise or something "
        "that wasn't captured, and no verdict can rest on it.",
        effect_text,
    ]


def _first_shortage(ours: Evidence, theirs: Evidence) -> int | None:
    return 3 if ours.positive and theirs.positive else None


__all__ = ["Estimate", "judge"]

"""The judgement of a candidate against a baseline: fair first, then attributable, then enough evidence."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optrack.judge.attribution import attribute
from optrack.judge.evidence import Rules, Side, evidence_of, unlike_losses
from optrack.judge.guards import after_guards, judge_guards
from optrack.judge.interval import estimate_of
from optrack.judge.reasons import (
    HOST_CAUSES,
    evidence_reasons,
    failure_reasons,
    method_reasons,
    shortage_reasons,
    unfair_reasons,
    unknown_reasons,
    verdict_reasons,
)
from optrack.judge.sample_shape import observations
from optrack.judge.verdict import conclude, first_look, launches_needed
from optrack.model.judgement import Attribution, Comparison, Difference, Judgement, Verdict


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
    after: Side | None = None,
) -> Judgement:
    """Return the judgement of `candidate` against `baseline`, with its reasons as sentences.

    `factors` is what the recipes declare to differ (leaf -> baseline's value, candidate's); `not_applied`
    says in sentences which of it the processes don't show; `seen_alone` has the treatments already judged
    fairly against this baseline; `after` is the baseline's next run, which block order needs. A run that failed
    is `failed`, unless the host was the cause. An unfair comparison, a treatment that wasn't applied, an
    interrupted run or a missing baseline gives no verdict (None).
    """
    attribution, credit = attribute(factors, named=_factor_name(candidate), seen_alone=seen_alone)
    known = _Known(candidate, baseline, rules, tuple(differences), comparison, attribution)
    barred = _barred(known, not_applied)
    if barred is not None:
        return barred
    assert baseline is not None
    return _by_evidence(known, baseline, after, credit, treated=bool(factors) or _declared(differences))


@dataclass(frozen=True)
class _Known:
    """What every outcome of a judgement has in common."""

    candidate: Side
    baseline: Side | None
    rules: Rules
    differences: tuple[Difference, ...]
    comparison: Comparison
    attribution: Attribution

    def concluded(self, verdict: Verdict | None, reasons: Sequence[str], **more: Any) -> Judgement:
        return Judgement(
            verdict=verdict,
            baseline=self.baseline.run if self.baseline else None,
            candidate=self.candidate.run,
            metric=self.rules.metric.name,
            comparison=self.comparison,
            differences=self.differences,
            attribution=self.attribution,
            reasons=tuple(dict.fromkeys(reasons)),
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
        by_host = candidate.failure is not None and candidate.failure.kind in HOST_CAUSES
        reasons = failure_reasons(candidate, baseline, known.differences)
        return known.concluded(None if by_host else "failed", reasons)
    if candidate.outcome != "succeeded":
        ended = "was interrupted" if candidate.outcome == "interrupted" else "hasn't ended"
        why = f": {candidate.failure.message}" if candidate.failure else "."
        return known.concluded(None, [f"The run {ended} and shows nothing of {candidate.item}{why}"])
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
        head = "The treatment was not applied, so the run measured something else and no verdict is given."
        return known.concluded(None, [head, *not_applied])
    if known.comparison == "unfair":
        return known.concluded(None, unfair_reasons(known.differences))
    return None


def _by_evidence(
    known: _Known, baseline: Side, after: Side | None, credit: Sequence[str], *, treated: bool
) -> Judgement:
    rules = known.rules
    ours, theirs = (evidence_of(side, rules.metric.name) for side in (known.candidate, baseline))
    seen = [
        *evidence_reasons(ours, theirs, rules.metric),
        *observations(ours, theirs, rules.metric.unit),
    ]
    marked = unknown_reasons(known.differences) if known.comparison == "unknown" else []
    if ours.invalid and not ours.launches:
        return known.concluded("failed", [*shortage_reasons(ours, theirs, rules), *marked, *seen])
    guards = judge_guards(known.candidate, baseline, rules, after)
    guarded = [guard.text for guard in guards]
    found = estimate_of(known.candidate, baseline, rules.metric.name, rules, rules.history, after)
    better = rules.metric.better
    conclusion = conclude(found, rules, better) if found is not None and better is not None else None
    if found is None or conclusion is None:
        verdict, ahead = after_guards("inconclusive", guards)
        return known.concluded(
            verdict,
            [*ahead, *shortage_reasons(ours, theirs, rules), *marked, *guarded, *credit, *seen],
            launches_needed=first_look(rules) if ours.positive and theirs.positive and better else None,
            guards=guards,
        )
    losses = unlike_losses(ours, theirs, rules.interleaved)
    is_open = conclusion.verdict == "inconclusive" and found.is_bracketed and losses is None
    needed = launches_needed(found, rules) if is_open else None
    reasons = verdict_reasons(conclusion, found, rules, needed)
    verdict = conclusion.verdict
    if losses is not None and verdict != "inconclusive":
        verdict, reasons = "inconclusive", [losses.text, reasons[0]]
    if not treated and verdict in ("improvement", "regression"):
        verdict, reasons = "inconclusive", [_UNTREATED, reasons[0]]
    verdict, ahead = after_guards(verdict, guards)
    return known.concluded(
        verdict,
        [*ahead, *reasons, *marked, *guarded, *method_reasons(found, rules), *credit, *seen],
        effect=conclusion.effect,
        launches_needed=needed,
        launches=found.launches,
        method=found.method,
        guards=guards,
    )


_UNTREATED = (
    "The recipe is the baseline's own, so a difference between the two runs is noise or something that "
    "wasn't captured, and no verdict can rest on it."
)

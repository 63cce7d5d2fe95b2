"""Judging everything again: which stored conclusions no longer stand, and why."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from optrack.judge.evidence import Rules, Side
from optrack.judge.judging import judge
from optrack.model.judgement import Comparison, Difference, Judgement
from optrack.model.value import Frozen


class ComparisonInput(Frozen):
    """A stored conclusion with everything that it rested on, so that it can be drawn again.

    `differences` and `comparison` are what the snapshots give under the field table of now.
    """

    item: str
    stored: Judgement
    candidate: Side
    baseline: Side | None
    rules: Rules
    after: Side | None = None
    differences: tuple[Difference, ...] = ()
    comparison: Comparison = "unknown"
    factors: Mapping[str, tuple[Any, Any]] = Field(default_factory=dict)
    not_applied: tuple[str, ...] = ()
    seen_alone: tuple[frozenset[str], ...] = ()


def conclude(given: ComparisonInput) -> Judgement:
    """Return the judgement that rests on these."""
    return judge(
        given.candidate,
        given.baseline,
        given.rules,
        differences=given.differences,
        comparison=given.comparison,
        factors=given.factors,
        not_applied=given.not_applied,
        seen_alone=given.seen_alone,
        after=given.after,
    )


class VerdictChange(Frozen):
    """A conclusion that changed: before, after, why in a sentence, and whether the item should be run again."""

    item: str
    run: str
    before: Judgement
    after: Judgement
    why: str
    offer_again: bool


def audit(
    inputs: Sequence[ComparisonInput],
    unfair_baselines: Mapping[str, str] | None = None,
) -> tuple[VerdictChange, ...]:
    """Return the conclusions that don't stand when every input is judged again.

    `unfair_baselines` maps a baseline's run to why it can't be compared with (a variable was lost, another
    job ran): every verdict that rests on it falls, except that a failure stays a failure. What changed is the
    verdict, the comparison, the attribution, or whether an effect can be told; other numbers are no change.
    """
    bad = unfair_baselines or {}
    changed = []
    for given in inputs:
        after = _again(given, bad)
        before = given.stored
        if _label(before) == _label(after):
            continue
        changed.append(
            VerdictChange(
                item=given.item,
                run=before.candidate,
                before=before,
                after=after,
                why=_why(before, after, bad),
                offer_again=before.verdict is not None and _is_open(before, after),
            )
        )
    return tuple(changed)


def rejected_baseline(run: str, why: str) -> Difference:
    """Return that a baseline's run proved unfit to compare with, as a difference that makes it unfair."""
    return Difference(
        field="baseline.run",
        baseline=run,
        candidate=None,
        cls="unexplained",
        severity="blocking",
        meaning=f"The baseline's run {run} proved unfair: {why}",
    )


def lost_since(
    found: Sequence[Difference], between: Sequence[Difference], following: str
) -> tuple[Difference, ...]:
    """Return what the baseline's next run had otherwise, where nobody saw which of the two the candidate had.

    `found` are the differences of the candidate from its baseline's run, `between` those of the baseline's
    next run, `following`, from the same run. What both sides of a comparison showed alike stays fair,
    whatever changed afterwards.
    """
    unseen = [difference.field for difference in found if difference.cls == "unknown"]
    return tuple(
        Difference(
            field=lost.field,
            baseline=lost.baseline,
            candidate=None,
            cls="unexplained",
            severity="blocking",
            meaning=f"{lost.field} was {_shown(lost.baseline)} in the baseline's run and is "
            f"{_shown(lost.candidate)} in its next one, {following}; what the candidate had wasn't captured.",
        )
        for lost in between
        if lost.cls == "unexplained"
        and lost.severity == "blocking"
        and any(lost.field == field or lost.field.startswith(f"{field}.") for field in unseen)
    )


def _shown(value: Any) -> str:
    return "not set" if value is None else str(value)


def _again(given: ComparisonInput, bad: Mapping[str, str]) -> Judgement:
    differences, comparison = given.differences, given.comparison
    known = any(difference.field == "baseline.run" for difference in differences)
    if given.baseline is not None and given.baseline.run in bad and not known:
        comparison = "unfair"
        differences = (*differences, rejected_baseline(given.baseline.run, bad[given.baseline.run]))
    return conclude(given.model_copy(update={"differences": differences, "comparison": comparison}))


def _is_open(before: Judgement, after: Judgement) -> bool:
    """Whether a conclusion has given way to none: no verdict, or one that can't tell any more."""
    return after.verdict is None or (after.verdict == "inconclusive" and before.verdict != "inconclusive")


def _label(judgement: Judgement) -> tuple[object, ...]:
    told = judgement.effect is not None
    return judgement.verdict, judgement.comparison, judgement.attribution.status, told


def _why(before: Judgement, after: Judgement, bad: Mapping[str, str]) -> str:
    changes = [
        f"{what} {old or 'none'} → {new or 'none'}"
        for what, old, new in (
            ("verdict", before.verdict, after.verdict),
            ("comparison", before.comparison, after.comparison),
            ("attribution", before.attribution.status, after.attribution.status),
            ("effect", before.effect and "told", after.effect and "told"),
        )
        if old != new
    ]
    known = {_words(reason) for reason in before.reasons}
    because = bad.get(after.baseline or "") or next(
        (reason for reason in after.reasons if _words(reason) not in known), "the rules changed"
    )
    return f"Judged again: {', '.join(changes)}. {because[:1].upper()}{because[1:]}"


def _words(reason: str) -> str:
    """Return a reason without its numbers: one in which only they moved isn't what changed a verdict."""
    return re.sub(r"[\d.]+", "#", reason)

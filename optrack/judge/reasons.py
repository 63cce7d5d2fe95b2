"""The sentences of a judgement: what was found, on what evidence, and what stands in the way."""

from __future__ import annotations

from collections.abc import Sequence

from optrack.judge.evidence import Evidence, Rules, Side
from optrack.judge.interval import Estimate
from optrack.judge.multiplicity import family_statement, regression_statement
from optrack.judge.verdict import MOST_LAUNCHES, Conclusion, first_look
from optrack.model.judgement import Difference, Effect
from optrack.model.metrics import Metric
from optrack.model.wording import amount, counted, interval, launches, level, listed, percent

HOST_CAUSES = frozenset({"port_in_use", "gpu_busy", "disk_full"})
"""Kinds of failure that say nothing of an item: it can be run again as it is."""


def failure_reasons(side: Side, baseline: Side | None, differences: Sequence[Difference]) -> list[str]:
    """Return what is known of a failure, and what else than the treatment may have caused it."""
    how = "timed out" if side.outcome == "timed_out" else "failed"
    failure = side.failure
    said = [f"The run {how} in stage {side.stage}" + (f": {failure.message}" if failure else ".")]
    if failure and failure.kind in HOST_CAUSES:
        said.append(
            f"Its cause ({failure.kind.replace('_', ' ')}) lies with the host and says nothing of the item: "
            "run it again once that is put right."
        )
    if failure and baseline and baseline.failure and baseline.failure.fingerprint == failure.fingerprint:
        said.append("The baseline fails in the same way, so the treatment isn't what broke it.")
    blocking = [d for d in differences if d.severity == "blocking" and d.cls != "unknown"]
    if blocking:
        said.append(
            f"The failure may also come from what else differs: {listed([d.field for d in blocking])}."
        )
    return said


def unfair_reasons(differences: Sequence[Difference]) -> list[str]:
    """Return one sentence for each difference that makes the comparison unfair."""
    blocking = [d for d in differences if d.severity == "blocking" and d.cls != "unknown"]
    head = (
        f"The comparison is unfair: {counted(len(blocking), 'difference')} between the two runs "
        f"{'is' if len(blocking) == 1 else 'are'} not part of the treatment, so no verdict is given."
    )
    return [head, *(d.meaning or _bare(d) for d in blocking)]


def unknown_reasons(differences: Sequence[Difference]) -> list[str]:
    """Return the sentence that marks a verdict whose fairness couldn't be established."""
    fields = [d.field for d in differences if d.cls == "unknown"]
    what = (
        f"{listed(fields)} {'was' if len(fields) == 1 else 'were'} not captured on both sides"
        if fields
        else ""
    )
    causes = [
        d.meaning for d in differences if d.cls == "unknown" and d.field.startswith("git.") and d.meaning
    ]
    return [f"Whether the comparison is fair is unknown{': ' + what if what else ''}.", *causes]


def _bare(difference: Difference) -> str:
    was, now = difference.baseline, difference.candidate
    return f"{difference.field} was {was!r} for the baseline and is {now!r} now."


def verdict_reasons(conclusion: Conclusion, found: Estimate, rules: Rules, needed: int | None) -> list[str]:
    """Return what the interval shows, and how many launches would decide where it doesn't."""
    effect, verdict = conclusion.effect, conclusion.verdict
    least = percent(rules.min_effect, signed=False)
    text = f"{rules.metric.name} {interval(effect)}"
    excludes = effect.low > 0 or effect.high < 0
    many = rules.family > 1
    if verdict in ("improvement", "regression"):
        said = [f"{text}: {verdict}, clear of zero and {_reached(effect, least, rules.min_effect)}."]
        if many and verdict == "improvement":
            said.append(family_statement(rules.confidence, rules.family, rules.credited))
        elif many:
            said.append(regression_statement(rules.confidence, rules.family))
        return said
    if verdict == "no_change":
        tail = " A difference is there, but too small to matter." if excludes else ""
        inside = max(-effect.low, effect.high) < rules.min_effect
        how = (
            f"the interval lies within the minimum effect of {least}"
            if inside
            else f"two one-sided tests at {level(1 - rules.confidence)} put it within the minimum effect of {least}"
        )
        return [f"{text}: no change, {how}.{tail}"]
    if conclusion.obstacle == "many comparisons":
        return [
            f"{text}: alone an improvement, but among {rules.family} comparisons it may be chance.",
            family_statement(rules.confidence, rules.family, rules.credited),
            _needed(needed, found),
        ]
    if conclusion.obstacle == "no baseline after":
        return [
            f"{text}: what happened to the host since the baseline was measured can't be told from an effect.",
            "One launch of the baseline again, after this one, would settle that.",
        ]
    if excludes:
        why = f"a difference is there, but whether it reaches the minimum effect of {least} is open"
    else:
        why = f"neither a difference nor its absence (within {least}) is shown"
    return [f"{text}: {why}.", _needed(needed, found)]


def _reached(effect: Effect, least: str, min_effect: float) -> str:
    """Say whether the whole interval reaches the minimum effect, or the estimate alone."""
    nearest = min(abs(effect.low), abs(effect.high))
    if nearest >= min_effect:
        return f"of at least the minimum effect of {least}"
    edge = effect.low if effect.relative > 0 else effect.high
    return (
        f"of at least the minimum effect of {least} by its estimate; the interval begins at {percent(edge)}"
    )


def _needed(needed: int | None, found: Estimate) -> str:
    if needed is None:
        return (
            f"Not even {MOST_LAUNCHES} launches a side would probably decide it: the estimate lies too near "
            "the edge of the minimum effect for this noise."
        )
    more = needed - found.launches
    return f"About {launches(needed)} a side would probably decide, {more} more than now."


def method_reasons(found: Estimate, rules: Rules) -> list[str]:
    """Return how the two sides were compared, and what is known of the spread between launches."""
    if found.method == "paired":
        said = [f"Compared launch by launch over {counted(found.launches, 'interleaved pair')}."]
    elif found.method == "rounds":
        said = [f"Compared over {counted(found.launches, 'round')} with launches of the baseline in each."]
    elif rules.interleaved:
        said = [f"With {launches(found.launches)} a side, the spread between launches doesn't show."]
    elif found.is_bracketed:
        said = [
            "The launches ran in block order: the baseline's level is interpolated between its measurements before "
            "and after, and how far those lie apart is part of the interval."
        ]
    else:
        said = ["The launches ran in block order, where drift looks like an effect."]
    if found.lent and rules.history is not None:
        own = (
            f", beside this run's own of {percent(found.own, signed=False)} "
            f"({counted(round(found.own_freedom), 'degree')} of freedom; {found.lent:.0f} of the plan)"
            if found.own_freedom
            else ", borrowed three times as large in variance, since this run shows none of its own"
        )
        said.append(
            f"The spread between launches ({percent(rules.history.spread, signed=False)}) is known from "
            f"{counted(rules.history.runs, 'earlier run')} of this plan{own}."
        )
    if rules.sequential and found.method in ("paired", "rounds"):
        name = "pair" if found.method == "paired" else "round"
        said.append(
            f"Stopped after {counted(found.launches, name)} of at most {rules.max_launches}; the interval "
            f"allows for having looked after every {name} (error spending, Lan and DeMets 1983)."
        )
    return said


def shortage_reasons(ours: Evidence, theirs: Evidence, rules: Rules) -> list[str]:
    """Return why no interval could be formed."""
    name = rules.metric.name
    if not ours.launches or not theirs.launches:
        side = "candidate" if not ours.launches else "baseline"
        return [f"No valid value of {name} was measured for the {side}."]
    if not (ours.positive and theirs.positive):
        return [f"{name} isn't above zero on both sides, so there is no relative difference to judge."]
    if rules.metric.better is None:
        return [f"{name} has no direction: say in the plan which is better, `higher` or `lower`."]
    made = min(len(ours.launches), len(theirs.launches))
    least = first_look(rules)
    if made > 1:
        return [
            f"{launches(made).capitalize()} a side are fewer than can be judged in this session: "
            f"{launches(least)} are the least."
        ]
    return [
        f"With {launches(made)} a side and no earlier runs of this plan, the spread between launches is "
        "unknown; repetitions within one launch don't show it.",
        f"{launches(max(3, least))} a side, interleaved, would show the spread and decide a large effect.",
    ]


def evidence_reasons(ours: Evidence, theirs: Evidence, metric: Metric) -> list[str]:
    """Return both sides' means, and which repetitions were kept out and why."""
    said = []
    if ours.launches and theirs.launches:
        said.append(
            f"Means: {amount(ours.mean, metric.unit)} against the baseline's "
            f"{amount(theirs.mean, metric.unit)}."
        )
    for name, side in (("candidate", ours), ("baseline", theirs)):
        for why, count in side.invalid.items():
            said.append(
                f"{counted(count, 'repetition')} of the {name} "
                f"{'is' if count == 1 else 'are'} invalid: {why}."
            )
    return said

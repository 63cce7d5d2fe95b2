"""The sentences of a judgement: what was found, on what evidence, and what stands in the way."""

from __future__ import annotations

from collections.abc import Sequence

from optrack.core.judge.evidence import Evidence, Rules, Side
from optrack.core.judge.interval import Estimate
from optrack.core.judge.verdict import MOST_LAUNCHES
from optrack.core.judge.wording import amount, counted, interval, launches, listed, percent
from optrack.core.judgement import Difference, Effect, Verdict
from optrack.core.metrics import Metric

_OUTSIDE = frozenset({"port_in_use", "gpu_busy", "disk_full", "host_unfit"})


def failure_reasons(side: Side, baseline: Side | None, differences: Sequence[Difference]) -> list[str]:
    """Return what is known of a failure, and what else than the treatment may have caused it."""
    how = "timed out" if side.outcome == "timed_out" else "failed"
    failure = side.failure
    said = [f"The run {how} in stage {side.stage}" + (f": {failure.message}" if failure else ".")]
    if failure and failure.kind in _OUTSIDE:
        said.append(
            f"Its cause ({failure.kind.replace('_', ' ')}) lies with the host and not with the treatment: "
            "run the item again once that is put right."
        )
    if failure and baseline and baseline.failure and baseline.failure.fingerprint == failure.fingerprint:
        said.append("The baseline fails in the same way, so the treatment isn't what broke it.")
    blocking = [d for d in differences if d.severity == "blocking"]
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
    return [f"Whether the comparison is fair is unknown{': ' + what if what else ''}."]


def _bare(difference: Difference) -> str:
    was, now = difference.baseline, difference.candidate
    return f"{difference.field} was {was!r} for the baseline and is {now!r} now."


def verdict_reasons(
    verdict: Verdict, effect: Effect, rules: Rules, needed: int | None, used: int
) -> list[str]:
    """Return what the interval shows, and how many launches would decide where it doesn't."""
    metric = rules.metric
    least = percent(rules.min_effect, signed=False)
    text = f"{metric.name} {interval(effect)}"
    if verdict in ("improvement", "regression"):
        better = "better" if verdict == "improvement" else "worse"
        return [f"{text}: {better}, by at least the minimum effect of {least}."]
    if verdict == "no_change":
        real = effect.low > 0 or effect.high < 0
        tail = " A difference is there, but too small to matter." if real else ""
        return [f"{text}: within the minimum effect of {least} either way.{tail}"]
    if effect.low > 0 or effect.high < 0:
        why = f"a difference is there, but whether it reaches the minimum effect of {least} is open"
    else:
        why = f"neither a difference nor its absence (within {least}) is shown"
    return [f"{text}: {why}.", _needed(needed, used)]


def _needed(needed: int | None, used: int) -> str:
    if needed is None:
        return f"No number of launches up to {MOST_LAUNCHES} a side would probably decide it this way."
    return f"About {needed} launches a side would probably decide ({needed - used} more than now)."


def method_reasons(found: Estimate, rules: Rules) -> list[str]:
    """Return how the two sides were compared, and what the order of launches means for it."""
    if found.method == "paired":
        said = [f"Compared pair by pair over {counted(found.launches, 'interleaved pair')} of launches."]
    elif found.method == "block":
        said = [
            f"The launches ran in block order ({launches(found.launches)} a side), where drift looks like "
            f"an effect: the interval is widened by the {percent(found.widened, signed=False)} seen between "
            "launches of one side."
        ]
    else:
        said = [f"With {launches(found.launches)} a side, the spread between launches doesn't show."]
    if found.pooled and rules.history is not None:
        said.append(
            f"The spread between launches ({percent(rules.history.spread, signed=False)}) is taken from "
            f"{counted(rules.history.runs, 'earlier run')} of this plan."
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
        return [f"{name} has no direction: say which is better, `higher` or `lower`, in the plan."]
    return [
        f"With {launches(min(len(ours.launches), len(theirs.launches)))} a side and no earlier runs "
        "of this plan, the spread between launches is unknown; repetitions within one launch don't show it.",
        "3 interleaved launches a side would show the spread.",
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

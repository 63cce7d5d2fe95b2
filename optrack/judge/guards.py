"""Guards: what may not get worse, whatever the speed."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from optrack.judge.evidence import Rules, Side, evidence_of
from optrack.judge.interval import estimate_of
from optrack.judge.verdict import good_side
from optrack.model.judgement import Guard, Verdict
from optrack.model.metrics import Better, Metric, Sample, metric_named
from optrack.model.recipe_parts import Check
from optrack.model.wording import amount, interval, listed, percent


def judge_guards(
    candidate: Side, baseline: Side, rules: Rules, after: Side | None = None
) -> tuple[Guard, ...]:
    """Return how each guard of the two recipes stands.

    The candidate is held to the baseline's checks as well as to its own. `min` and `max` bound the candidate's
    mean, of a command's numbers or of a metric; a bound that the baseline breaks, too, says nothing of the
    candidate (unclear). `worse` is the fraction by which a metric may be worse than the baseline's: kept if
    the interval (one-sided, at the rules' confidence) lies within it, broken if the estimate lies beyond it and the
    interval excludes no change, else unclear.
    """
    required = checks_of(baseline.recipe)
    own = tuple(
        judge_guard(name, check, candidate, baseline, rules)
        for name, check in rules.guards.items()
        if required.get(name) != check
    )
    held = tuple(
        _held(name, check, rules.guards.get(name), candidate, baseline, rules, after)
        for name, check in required.items()
    )
    worst = {guard.name: guard for guard in sorted((*own, *held), key=lambda g: _STATES.index(g.state))}
    return tuple(worst[name] for name in dict.fromkeys((*rules.guards, *required)))


_STATES = ("kept", "unclear", "missing", "broken")
"""The states of a guard, the one that weighs most at the end."""


def checks_of(recipe: Mapping[str, Any]) -> dict[str, Check]:
    """Return the checks of a resolved recipe, by name."""
    return {name: Check.model_validate(check) for name, check in (recipe.get("check") or {}).items()}


def _held(
    name: str,
    check: Check,
    own: Check | None,
    candidate: Side,
    baseline: Side,
    rules: Rules,
    after: Side | None,
) -> Guard:
    """Return how the candidate stands against a check of the baseline's, which its own recipe may not have."""
    if own is not None and own.command == check.command and own.metric == check.metric:
        return judge_guard(name, check, candidate, baseline, rules, after)
    what = "drops the baseline's check" if own is None else "measures otherwise what the baseline checks as"
    guard = judge_guard(name, check, candidate, baseline, rules, after) if check.command is None else None
    if guard is not None and guard.state == "broken":
        return guard
    why = f"The recipe {what} {name}, so it isn't shown to hold."
    return Guard(name=name, state="missing", text=why)


def after_guards(verdict: Verdict, guards: Sequence[Guard]) -> tuple[Verdict, list[str]]:
    """Return the verdict that stands once the guards have spoken, and the sentences that say so.

    A broken guard is a regression whatever the speed; one that can't be judged allows no improvement.
    """
    broken = [guard.name for guard in guards if guard.state == "broken"]
    if broken:
        return "regression", [f"{listed(broken)} is broken, so this is a regression whatever the speed."]
    open_ = [guard.name for guard in guards if guard.state in ("unclear", "missing")]
    if open_ and verdict == "improvement":
        return "inconclusive", [
            f"The speed would be an improvement, but whether {listed(open_)} holds isn't shown."
        ]
    return verdict, []


def broken_checks(candidate: Side, baseline: Side, rules: Rules) -> bool:
    """Whether a bound on a number of the candidate's own is already broken: more launches change nothing."""
    return any(
        _bounds(name, check, candidate, baseline).state == "broken"
        for name, check in rules.guards.items()
        if check.command is not None and candidate.checks.get(name)
    )


def judge_guard(
    name: str, check: Check, candidate: Side, baseline: Side, rules: Rules, after: Side | None = None
) -> Guard:
    """Return how one guard stands."""
    if check.min is not None or check.max is not None:
        bounded = _bounds(name, check, candidate, baseline)
        if bounded.state != "kept" or check.worse is None:
            return bounded
    if check.worse is None:
        return Guard(name=name, state="kept", text=f"{name} has no bound.")
    return _worse(name, check, check.worse, candidate, baseline, rules, after)


def _bounds(name: str, check: Check, candidate: Side, baseline: Side) -> Guard:
    value = _value(name, check, candidate)
    if value is None:
        return Guard(
            name=name, state="missing", text=f"{name} gave no number, so its bound isn't shown to hold."
        )
    unit = _metric_of(candidate, check.metric or name).unit
    for bound, beyond, word in ((check.min, operator.lt, "below"), (check.max, operator.gt, "above")):
        if bound is None or not beyond(value, bound):
            continue
        text = f"{name} is {amount(value, unit)}, {word} the {amount(bound, unit)} that it must keep"
        theirs = _value(name, check, baseline)
        if theirs is not None and beyond(theirs, bound):
            text = f"{text}; the baseline breaks it, too ({amount(theirs, unit)}), so it says nothing of the item"
            return Guard(name=name, state="unclear", text=f"{text}.")
        return Guard(name=name, state="broken", text=f"{text}.")
    return Guard(name=name, state="kept", text=f"{name} is {amount(value, unit)}, within its bounds.")


def _value(name: str, check: Check, side: Side) -> float | None:
    """Return the mean of what a check bounds on one side, None if it gave no number."""
    values = side.checks.get(name) if check.command else None
    if values is None:
        values = tuple(fmean(launch.values) for launch in evidence_of(side, check.metric or name).launches)
    return fmean(values) if values and all(map(math.isfinite, values)) else None


def _worse(
    name: str,
    check: Check,
    allowed: float,
    candidate: Side,
    baseline: Side,
    rules: Rules,
    after: Side | None,
) -> Guard:
    metric = _metric_of(candidate, check.metric or name)
    better: Better | None = metric.better or ("higher" if check.command else None)
    if check.command:
        candidate, baseline = _as_metric(candidate, name), _as_metric(baseline, name)
        after = _as_metric(after, name) if after is not None else None
    ours, theirs = (evidence_of(side, metric.name) for side in (candidate, baseline))
    least = percent(allowed, signed=False)
    if better is None or not ours.launches or not theirs.launches:
        why = "was not measured on both sides" if better else "has no direction"
        return Guard(name=name, state="missing", text=f"{metric.name} {why}, so its guard can't be judged.")
    found = estimate_of(candidate, baseline, metric.name, rules, rules.guard_history.get(metric.name), after)
    if found is None or not found.is_bracketed:
        relative = ours.mean / theirs.mean - 1 if theirs.mean else math.nan
        good = relative if better == "higher" else -relative
        text = f"{metric.name} {percent(relative)}"
        if check.command and good >= 0:
            return Guard(name=name, state="kept", text=f"{text}: not worse than the baseline's.")
        where = f"within {least} worse" if good >= -allowed else f"beyond the {least} allowed"
        return Guard(name=name, state="unclear", text=f"{text}: {where}, on too few launches.")
    effect = found.effect(rules.confidence)
    text = f"{metric.name} {interval(effect)}"
    if good_side(found.effect(2 * rules.confidence - 1), better).low >= -allowed:
        return Guard(name=name, state="kept", text=f"{text}: within the {least} it may get worse.")
    seen = good_side(effect, better)
    if seen.relative < -allowed and seen.high < 0:
        return Guard(name=name, state="broken", text=f"{text}: it may not get worse by more than {least}.")
    return Guard(name=name, state="unclear", text=f"{text}: perhaps beyond the {least} it may get worse.")


def _as_metric(side: Side, name: str) -> Side:
    """Return the side with the numbers of a guard's command as the only samples, each of the launch it belongs to."""
    metric = metric_named(name)
    samples = [
        Sample(metric=metric, value=value, launch=launch, repetition=0)
        for launch, value in enumerate(side.checks.get(name, ()))
    ]
    return side.model_copy(update={"samples": tuple(samples)})


def _metric_of(side: Side, name: str) -> Metric:
    return next((s.metric for s in side.samples if s.metric.name == name), metric_named(name))

"""Guards: what may not get worse, whatever the speed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from optrack.judge.evidence import Evidence, Launch, Rules, Side, evidence_of
from optrack.judge.interval import estimate
from optrack.judge.verdict import good_side
from optrack.model.judgement import Guard, Verdict
from optrack.model.metrics import Better, Metric, metric_named
from optrack.model.recipe_parts import Check
from optrack.model.wording import amount, interval, listed, percent


def judge_guards(candidate: Side, baseline: Side, rules: Rules) -> tuple[Guard, ...]:
    """Return how each guard of the recipe stands.

    `min` and `max` bound the candidate's mean, of a command's numbers or of a metric. `worse` is the
    fraction by which a metric may be worse than the baseline's: broken if the estimate lies beyond it and the
    interval excludes no change, unclear if only the estimate does.
    """
    return tuple(judge_guard(name, check, candidate, baseline, rules) for name, check in rules.guards.items())


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


def broken_checks(candidate: Side, rules: Rules) -> bool:
    """Whether a bound on a number of the candidate's own is already broken: more launches change nothing."""
    return any(
        _bounds(name, check, candidate).state == "broken"
        for name, check in rules.guards.items()
        if check.command is not None and candidate.checks.get(name)
    )


def judge_guard(name: str, check: Check, candidate: Side, baseline: Side, rules: Rules) -> Guard:
    """Return how one guard stands."""
    if check.min is not None or check.max is not None:
        bounded = _bounds(name, check, candidate)
        if bounded.state != "kept" or check.worse is None:
            return bounded
    if check.worse is None:
        return Guard(name=name, state="kept", text=f"{name} has no bound.")
    return _worse(name, check, check.worse, candidate, baseline, rules)


def _bounds(name: str, check: Check, candidate: Side) -> Guard:
    metric = check.metric or name
    values = candidate.checks.get(name) if check.command else None
    if values is None:
        values = tuple(fmean(launch.values) for launch in evidence_of(candidate, metric).launches)
    if not values or not all(math.isfinite(value) for value in values):
        return Guard(
            name=name, state="missing", text=f"{name} gave no number, so its bound isn't shown to hold."
        )
    value = fmean(values)
    unit = _metric_of(candidate, metric).unit
    for bound, beyond, word in (
        (check.min, check.min is not None and value < check.min, "below"),
        (check.max, check.max is not None and value > check.max, "above"),
    ):
        if beyond and bound is not None:
            text = f"{name} is {amount(value, unit)}, {word} the {amount(bound, unit)} that it must keep."
            return Guard(name=name, state="broken", text=text)
    return Guard(name=name, state="kept", text=f"{name} is {amount(value, unit)}, within its bounds.")


def _worse(name: str, check: Check, allowed: float, candidate: Side, baseline: Side, rules: Rules) -> Guard:
    metric = _metric_of(candidate, check.metric or name)
    sides = [evidence_of(side, metric.name) for side in (candidate, baseline)]
    if check.command:
        sides = [_checked(side, name) for side in (candidate, baseline)]
    better: Better | None = metric.better or ("higher" if check.command else None)
    found = estimate(sides[0], sides[1], interleaved=rules.interleaved)
    least = percent(allowed, signed=False)
    if better is None or not all(side.launches for side in sides):
        why = "was not measured on both sides" if better else "has no direction"
        return Guard(name=name, state="missing", text=f"{metric.name} {why}, so its guard can't be judged.")
    if found is None:
        relative = sides[0].mean / sides[1].mean - 1 if sides[1].mean else math.nan
        worse = -relative if better == "higher" else relative
        if worse > allowed or math.isnan(worse):
            text = f"{metric.name} {percent(relative)}: beyond the {least} allowed, on too few launches."
            return Guard(name=name, state="unclear", text=text)
        return Guard(
            name=name, state="kept", text=f"{metric.name} {percent(relative)}: within {least} worse."
        )
    effect = found.effect(rules.confidence)
    good = good_side(effect, better)
    text = f"{metric.name} {interval(effect)}"
    if good.relative >= -allowed:
        unsure = "" if good.low >= -allowed else ", though the interval reaches beyond it"
        return Guard(name=name, state="kept", text=f"{text}: within the {least} it may get worse{unsure}.")
    if good.high < 0:
        return Guard(name=name, state="broken", text=f"{text}: it may not get worse by more than {least}.")
    return Guard(name=name, state="unclear", text=f"{text}: perhaps beyond the {least} it may get worse.")


def _checked(side: Side, name: str) -> Evidence:
    values = [value for value in side.checks.get(name, ()) if math.isfinite(value)]
    return Evidence(
        launches=tuple(
            Launch(number=k, position=side.order[k] if k < len(side.order) else k, values=(value,))
            for k, value in enumerate(values)
        ),
        invalid={},
        positive=all(value > 0 for value in values),
    )


def _metric_of(side: Side, name: str) -> Metric:
    return next((s.metric for s in side.samples if s.metric.name == name), metric_named(name))

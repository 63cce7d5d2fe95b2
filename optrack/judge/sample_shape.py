"""What the samples look like apart from their mean: warm-up, drift, outliers, two modes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median, stdev

from optrack.judge.evidence import Evidence, Launch
from optrack.judge.interval import quantile
from optrack.model.wording import amount, percent

_SURE = 0.0025
"""The error at either end for a statement about the samples' shape."""

_FAR = 5.0
"""Robust standard deviations beyond which a value is called an outlier."""

_LEAST = 0.01
"""A warm-up or drift below this fraction isn't worth a sentence."""


def observations(candidate: Evidence, baseline: Evidence, unit: str) -> list[str]:
    """Return what a reader should know of the samples' shape, one sentence each."""
    if not (candidate.positive and baseline.positive):
        return []
    both = (*candidate.launches, *baseline.launches)
    said = _warm_up(both)
    for name, side in (("candidate", candidate), ("baseline", baseline)):
        said += _outliers(name, side.launches, unit)
    said += _drift(baseline.launches)
    return said + _modes(candidate, baseline)


def _logs(launch: Launch) -> list[float]:
    return [math.log(value) for value in launch.values if value > 0]


def _warm_up(launches: Sequence[Launch]) -> list[str]:
    """Compare each launch's first repetition with its others, by a t test over launches."""
    firsts = [logs[0] - fmean(logs[1:]) for logs in map(_logs, launches) if len(logs) >= 2]
    if len(firsts) < 3:
        return []
    mean, error = fmean(firsts), stdev(firsts) / math.sqrt(len(firsts))
    if abs(mean) < _LEAST or abs(mean) <= quantile(1 - _SURE, len(firsts) - 1) * error:
        return []
    return [
        f"The first repetition of a launch differs from its others by {percent(math.expm1(mean))} on "
        "average: the warm-up isn't over when counting starts."
    ]


def _outliers(name: str, launches: Sequence[Launch], unit: str) -> list[str]:
    """Name repetitions far from their launch's median, by the median absolute deviation over all launches."""
    residuals = [
        (math.log(value) - math.log(median(launch.values)), launch, index)
        for launch in launches
        if len(launch.values) >= 3 and min(launch.values) > 0
        for index, value in enumerate(launch.values)
    ]
    if len(residuals) < 8:
        return []
    scale = 1.4826 * median(abs(residual) for residual, _, _ in residuals)
    return [
        f"Launch {launch.number + 1} of the {name} has an outlier: repetition {index + 1} is "
        f"{amount(launch.values[index], unit)}, {percent(math.expm1(residual))} from its launch's median; "
        "it is counted."
        for residual, launch, index in residuals
        if abs(residual) > max(_FAR * scale, _LEAST)
    ]


def _drift(launches: Sequence[Launch]) -> list[str]:
    """Fit a line through the baseline's launches, and say so if it surely isn't level."""
    if len(launches) < 4:
        return []
    places = [float(launch.position) for launch in launches]
    levels = [launch.level for launch in launches]
    middle, centre = fmean(places), fmean(levels)
    width = sum((place - middle) ** 2 for place in places)
    if width == 0:
        return []
    slope = sum((p - middle) * (y - centre) for p, y in zip(places, levels, strict=True)) / width
    rest = sum((y - centre - slope * (p - middle)) ** 2 for p, y in zip(places, levels, strict=True))
    freedom = len(launches) - 2
    total = slope * (max(places) - min(places))
    error = math.sqrt(rest / freedom / width)
    if abs(total) < _LEAST or abs(slope) <= quantile(1 - _SURE, freedom) * error:
        return []
    return [f"The baseline's own launches drift by {percent(math.expm1(total))} from first to last."]


def _modes(candidate: Evidence, baseline: Evidence) -> list[str]:
    """Look for two separate levels among the launches, and among the repetitions within them."""
    between = [
        launch.level - median(x.level for x in side.launches)
        for side in (candidate, baseline)
        for launch in side.launches
        if len(side.launches) >= 3
    ]
    within = [
        value - median(logs)
        for launch in (*candidate.launches, *baseline.launches)
        for logs in [_logs(launch)]
        if len(logs) >= 3
        for value in logs
    ]
    said = []
    for values, what in ((between, "launches"), (within, "repetitions within a launch")):
        gap = two_modes(values)
        if gap is not None:
            said.append(
                f"The {what} fall into two groups about {percent(gap, signed=False)} apart: something has "
                "two states, and more launches average over them without explaining them."
            )
    return said


def two_modes(values: Sequence[float]) -> float | None:
    """Return the distance of the two groups that `values` fall into, or None if they form one.

    Two groups need at least ten values, a quarter of them in the smaller group, and a distance of the
    groups' means of at least six times the spread within them (Ashman, Bird and Zepf, 1994, call 2 the
    least that can be told apart; normal noise, split at its best, reaches about 3).
    """
    ordered = sorted(values)
    count = len(ordered)
    if count < 10:
        return None
    best = None
    for cut in range(math.ceil(count / 4), count - math.ceil(count / 4) + 1):
        low, high = ordered[:cut], ordered[cut:]
        within = math.sqrt((_squares(low) + _squares(high)) / (count - 2))
        apart = fmean(high) - fmean(low)
        if apart > _LEAST and apart >= 6 * within and (best is None or apart / (within or 1e-12) > best[0]):
            best = (apart / (within or 1e-12), apart)
    return None if best is None else math.expm1(min(best[1], 700.0))


def _squares(values: Sequence[float]) -> float:
    centre = fmean(values)
    return sum((value - centre) ** 2 for value in values)

"""Baselines: when their measurements have aged, how they drift, and what is known of their spread."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import fmean, variance

from pydantic import Field

from optrack.judge.evidence import Evidence, History
from optrack.judge.file_use import used
from optrack.model.judgement import Difference, Effect
from optrack.model.snapshot import Snapshot
from optrack.model.value import Frozen
from optrack.model.wording import amount, fixed, percent

MAX_AGE = timedelta(hours=24)
"""How old a baseline may be before it is measured again."""


_SURELY_MOVED = 0.01
"""The error at which a baseline is said to have moved."""


class BaselineMeasurement(Frozen):
    """One measurement of a baseline: its run, when (UTC), and the metric's mean, None where the run gave no number.

    `error` is the standard error of the mean's logarithm, with its degrees of freedom, as far as its launches
    show it. `beside` is the run that it was measured with in turn, `rejected` why it proved unfit. `facts`
    are what makes a baseline age when they change: `boot`, `driver`, `packages`, `code`, each as text that is equal
    as long as nothing changed.
    """

    run: str
    at: datetime
    mean: float | None
    error: float | None = None
    freedom: int = 0
    beside: str | None = None
    rejected: str | None = None
    facts: Mapping[str, str] = Field(default_factory=dict)


_AGED = {
    "boot": "The host was restarted",
    "driver": "The GPU driver changed",
    "packages": "The installed packages changed",
    "code": "The code changed",
}


def ageing(
    measured: BaselineMeasurement, now: datetime, facts: Mapping[str, str], max_age: timedelta = MAX_AGE
) -> tuple[str, ...]:
    """Return why a baseline's measurement no longer speaks for today, one sentence each; empty while fresh.

    `facts` are those of now; one that either side lacks says nothing.
    """
    said = []
    if now - measured.at > max_age:
        hours = (now - measured.at).total_seconds() / 3600
        said.append(f"The baseline was measured {fixed(hours, 0)} hours ago.")
    for name, before in measured.facts.items():
        after = facts.get(name)
        if after is not None and after != before:
            said.append(f"{_AGED.get(name, f'{name} changed')} since the baseline was measured.")
    return tuple(said)


def ageing_differences(measured: BaselineMeasurement, reasons: Sequence[str]) -> tuple[Difference, ...]:
    """Return a baseline's age as differences that make a comparison with it unfair; a restart of the host is a note,
    since kernel, driver and clocks are compared by themselves."""
    found = []
    for reason in reasons:
        is_restart = reason.startswith(_AGED["boot"])
        again = "" if is_restart else f" It has to be measured again ({measured.run} is stale)."
        found.append(
            Difference(
                field="baseline.boot" if is_restart else "baseline.age",
                baseline=measured.at.isoformat(),
                candidate=None,
                cls="volatile" if is_restart else "unexplained",
                severity="note" if is_restart else "blocking",
                meaning=reason + again,
            )
        )
    return tuple(found)


def unseen_code(snapshots: Sequence[Snapshot | None]) -> tuple[Difference, ...]:
    """Return that the code of two runs can't be compared as a whole, if no repository holds it: a note where the files
    that were in use are known."""
    git = [snapshot.repositories for snapshot in snapshots if snapshot is not None]
    if "repo" in {name for seen in git for name in seen}:
        return ()
    if not git or any("project" not in seen or seen["project"].state != "none" for seen in git):
        return ()
    by_use = all(snapshot is not None and used(snapshot.files) for snapshot in snapshots)
    meaning = "The project folder is in no git repository: "
    meaning += (
        "only files that were seen in use are compared."
        if by_use
        else "code edited between would not be seen."
    )
    return (
        Difference(
            field="git.project",
            baseline=None,
            candidate=None,
            cls="unknown",
            severity="note" if by_use else "blocking",
            meaning=meaning,
        ),
    )


def drift(measurements: Sequence[BaselineMeasurement], unit: str, min_effect: float) -> str | None:
    """Return how the baseline moved between its measurements; None if by less than `min_effect`, or by no more than
    launches of one measurement differ among themselves (F test of the means' variance, 1%)."""
    fit = sorted((m for m in measurements if m.rejected is None), key=lambda m: m.at)
    known = [m for m in fit if m.mean is not None and m.mean > 0]
    means = [m.mean for m in known if m.mean is not None]
    if len(means) < 2 or not _more_than_noise(known):
        return None
    low, high = min(means), max(means)
    moved = high / low - 1
    if moved < min_effect:
        return None
    return (
        f"The baseline moved by {percent(moved, signed=False)} over {len(means)} measurements "
        f"({amount(low, unit)} to {amount(high, unit)}; first to last "
        f"{percent(means[-1] / means[0] - 1)}): effects below that need a baseline measured alongside."
    )


def _more_than_noise(known: Sequence[BaselineMeasurement]) -> bool:
    """Whether means differ by more than their standard errors explain; true where none is known."""
    noise = [(m.error**2, m.freedom) for m in known if m.error is not None and m.freedom > 0]
    freedom = sum(df for _, df in noise)
    error = sum(square * df for square, df in noise) / freedom if freedom else 0.0
    if error <= 0:
        return True
    from scipy.special import fdtrc

    logs = [math.log(m.mean) for m in known if m.mean is not None]
    return float(fdtrc(len(logs) - 1, freedom, variance(logs) / error)) < _SURELY_MOVED


def history_of(runs: Mapping[str, Sequence[Evidence]]) -> History | None:
    """Return the spread of a metric between launches, from earlier runs grouped by recipe.

    From successive launches of the same run, so that drift hardly enters; where no run had several, between
    runs of one recipe with one launch each. None if nothing was ever measured twice.
    """
    steps: list[float] = []
    apart: list[float] = []
    between: list[float] = []
    used = 0
    for group in runs.values():
        usable = [run for run in group if run.launches and run.positive]
        means = [fmean(launch.level for launch in run.launches) for run in usable]
        between += [after - before for before, after in pairwise(means)]
        singles = [run.launches[0].level for run in usable if len(run.launches) == 1]
        apart += [after - before for before, after in pairwise(singles)]
        for run in usable:
            steps += [after.level - before.level for before, after in pairwise(run.launches)]
            used += len(run.launches) > 1
    chosen = steps or apart
    spread = _successive(chosen)
    if not spread:
        return None
    return History(
        spread=spread,
        freedom=max(1, len(chosen) * 2 // 3),
        runs=used if steps else len(apart) + 1,
        between_runs=_successive(between),
        between_freedom=max(1, len(between) * 2 // 3),
    )


def _successive(steps: Sequence[float]) -> float | None:
    """Return the standard deviation from successive differences, each of which has twice its variance.

    It is about as good as the usual estimate with two thirds of their number as degrees of freedom (von
    Neumann, Kent, Bellinson and Hart, 1941).
    """
    return math.sqrt(fmean(step**2 for step in steps) / 2) if steps else None


def compounded(effects: Sequence[Effect]) -> Effect | None:
    """Return the effect against the original of a chain of adopted effects, each against the one before.

    On a log scale the effects add and, being measured apart, so do the squares of their half-widths.
    """
    if not effects:
        return None
    centre = sum(math.log1p(effect.relative) for effect in effects)
    reach = math.sqrt(
        sum(((math.log1p(effect.high) - math.log1p(effect.low)) / 2) ** 2 for effect in effects)
    )
    return Effect(
        relative=math.expm1(centre),
        low=math.expm1(centre - reach),
        high=math.expm1(centre + reach),
        confidence=min(effect.confidence for effect in effects),
    )

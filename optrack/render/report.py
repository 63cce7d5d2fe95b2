"""What a report says of a campaign: who won, what was decided, which launches are the evidence, as plain values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from statistics import fmean, geometric_mean
from typing import NamedTuple

from optrack.judge.calibration import Calibration, calibrate, expectation_of
from optrack.judge.evidence import CONFIDENCE
from optrack.judge.multiplicity import family_statement, regression_statement
from optrack.judge.sides import compared
from optrack.model.item import ItemState
from optrack.model.judgement import Difference, Judgement
from optrack.model.metrics import Metric, Sample
from optrack.model.plan import Quantity
from optrack.model.run import Failure, Run
from optrack.plan.schedule import comparisons
from optrack.render.format import amount, counted, number, percent, quantity, words
from optrack.render.log import Log


def why(log: Log, state: ItemState) -> str:
    """Return why an item has its verdict, in one sentence."""
    judgement = state.judgement
    if judgement is None:
        marks = log.by_hand(state.item.id)
        return f"marked {words(marks[-1].after)} by {marks[-1].who}: {marks[-1].why}" if marks else ""
    run = log.run(judgement.candidate)
    if judgement.verdict == "failed" and run is not None and run.failure is not None:
        return f"failed in stage {run.stage} ({run.failure.kind}): {run.failure.message}"
    return judgement.reasons[0] if judgement.reasons else ""


def is_set_by_hand(log: Log, state: ItemState) -> bool:
    """Whether an item is over because somebody said so, and not because of evidence."""
    over = state.status in ("completed", "cancelled")
    return state.judgement is None and over and bool(log.by_hand(state.item.id))


def facts(state: ItemState) -> list[str]:
    """Return an item's status, what its judgement says of the comparison, and what the plan says of it."""
    item, judgement = state.item, state.judgement
    texts = [words(state.status)]
    if judgement is not None:
        texts += [f"comparison {judgement.comparison}", f"attribution {judgement.attribution.status}"]
    named: tuple[tuple[str, Quantity | None], ...] = (("expected", item.gain), ("effort", item.effort))
    texts += [f"{name} {quantity(value)}" for name, value in named if value]
    texts += [f"risk {item.risk}"] if item.risk else []
    texts += [f"needs {', '.join(item.needs)}"] if item.needs else []
    return texts + [flag for flag in ("archived", "stale", "adopted") if getattr(state, flag)]


# -- where the campaign stands ---------------------------------------------------------------------------


def false_improvements(log: Log) -> str:
    """Return how false improvements among many comparisons are bounded; nothing for a single comparison."""
    family = max(comparisons(log.plan, log.states), *(run.session.family or 0 for run in log.runs), 0)
    if family < 2:
        return ""
    return f"{family_statement(CONFIDENCE, family)} {regression_statement(CONFIDENCE, family)}"


def calibration_of(log: Log) -> Calibration:
    """Return the calibration over all items whose expected gain can be related to the metric and whose effect was
    decided in a fair comparison: what is undecided says nothing of the estimate."""
    pairs = ((s, log.run(s.judgement.baseline) if s.judgement else None) for s in log.states)
    expectations = (expectation_of(state, baseline, log.metric) for state, baseline in pairs)
    return calibrate([expectation for expectation in expectations if expectation is not None])


def baseline_run(log: Log) -> Run | None:
    """Return the latest run of the baseline that succeeded and was measured on its own, else beside another."""
    good = [run for run in log.runs if run.item == log.plan.baseline and run.outcome == "succeeded"]
    alone = [run for run in good if run.beside is None]
    latest = (alone or good)[-1:]
    return latest[0] if latest else None


def best_item(states: Sequence[ItemState], metric: Metric) -> ItemState | None:
    """Return the item with the largest fair improvement in force, the first of equals, or None."""
    sign = -1 if metric.better == "lower" else 1
    gains = {
        sign * state.judgement.effect.relative: state
        for state in reversed(states)
        if state.judgement is not None
        and state.judgement.verdict == "improvement"
        and state.judgement.comparison == "fair"
        and state.judgement.effect is not None
    }
    return gains[max(gains)] if gains else None


def target_bound(log: Log) -> float | None:
    """Return the level that reaches the plan's target; None where the target isn't one of its metric."""
    target, metric = log.plan.target, log.metric
    if target is None or metric.better is None or target.unit.strip() not in ("", metric.unit):
        return None
    return target.low if metric.better == "higher" else target.high


def best_level(log: Log) -> float | None:
    """Return the better level of the baseline and the best item, None where neither was measured."""
    best, base = best_item(log.states, log.metric), baseline_run(log)
    runs: list[tuple[Run | None, Run | None]] = [(base, None)]
    if best and best.judgement:
        runs.append((log.run(best.judgement.candidate), log.run(best.judgement.baseline)))
    pairs = (compared(run, other, log.metric.name) for run, other in runs if run is not None)
    levels = [series.level for series, _ in pairs if series is not None]
    better = max if log.metric.better == "higher" else min
    return better(levels) if levels else None


def done(log: Log) -> str:
    """Return how many items are over and how many runs of which outcome there were."""
    live = [state for state in log.states if not state.archived]
    over = sum(state.status in ("completed", "cancelled") for state in live)
    own = [run for run in log.runs if run.beside is None]
    outcomes = sorted(run.outcome or "running" for run in own)
    counts = ", ".join(f"{outcomes.count(name)} {words(name)}" for name in dict.fromkeys(outcomes))
    beside = len(log.runs) - len(own)
    also = f" and {beside} of the baseline beside them" if beside else ""
    runs = f"{counted(len(own), 'run')}{f' ({counts})' if counts else ''}{also}"
    return f"{over} of {counted(len(live), 'item')}, {runs}"


def last_record(log: Log) -> datetime | None:
    """Return the time of the last thing of each kind in the log: what it tells of is complete up to then."""
    times = [run.ended_at or run.started_at for run in log.runs[-1:]]
    times += [transition.at for transition in log.transitions[-1:]]
    times += [note.at for state in log.states for note in state.notes]
    return max([*times, *(judged.at for judged in log.judgements[-1:])], default=None)


# -- what was decided, what failed -----------------------------------------------------------------------


class Decision(NamedTuple):
    """What somebody decided; `run` is the evidence of an adoption."""

    at: datetime
    item: str
    text: str
    who: str
    why: str
    run: str = ""


def decisions(log: Log) -> list[Decision]:
    """Return the decisions in the order in which they were made."""
    made = [
        Decision(t.at, t.item, f"marked {words(t.after)} by hand", t.who, t.why)
        for t in log.transitions
        if t.by_hand
    ]
    made += [
        Decision(a.at, a.item, "adopted as the new baseline", a.who, a.why, a.run or "")
        for a in log.adoptions
    ]
    made += [
        Decision(a.undone_at, a.item, "adoption undone", a.undone_by or "", "")
        for a in log.adoptions
        if a.undone_at is not None
    ]
    return sorted(made)


class Failures(NamedTuple):
    """The runs that met one failure, and the failure as the last one met it."""

    failure: Failure
    stage: str
    runs: tuple[Run, ...]


def failures(log: Log) -> list[Failures]:
    """Return the failures by fingerprint."""
    groups: dict[str, list[Run]] = {}
    for run in log.runs:
        if run.failure is not None and run.outcome in ("failed", "timed_out"):
            groups.setdefault(run.failure.fingerprint, []).append(run)
    return [Failures(r[-1].failure, r[-1].stage, tuple(r)) for r in groups.values() if r[-1].failure]


def items_of(runs: Sequence[Run]) -> str:
    """Return the items that runs were made for."""
    return ", ".join(dict.fromkeys(run.item for run in runs))


# -- the evidence of a run -------------------------------------------------------------------------------


def opposite(log: Log, run: Run) -> Run | None:
    """Return the baseline's run that a run was judged against, or measured with."""
    judgement = log.judged(run)
    return log.run(judgement.baseline) if judgement else log.beside(run.id)


def main_runs(log: Log, state: ItemState) -> tuple[Run | None, list[Run]]:
    """Return the run that an item's verdict rests on, else its last one, and its other runs, latest first."""
    runs = log.runs_of(state.item.id)
    judged = log.run(state.judgement.candidate) if state.judgement else None
    main = judged if judged is not None and judged.beside is None and runs else runs[-1] if runs else None
    return main, [run for run in reversed(runs) if main is not None and run.id != main.id]


class LaunchRow(NamedTuple):
    """One launch of both sides: every repetition, and the means' change."""

    number: int
    baseline: str
    candidate: str
    mean: str
    change: str


def launch_rows(metric: str, run: Run, other: Run | None) -> list[LaunchRow]:
    """Return a run's launches beside those of the other one; none where the run has no sample of the metric."""
    ours, theirs = _by_launch(run, metric), _by_launch(other, metric)
    rows = []
    for n in sorted(ours.keys() | theirs.keys()) if ours else ():
        a, b = _mean(ours.get(n, ())), _mean(theirs.get(n, ()))
        change = percent(a / b - 1) if a is not None and b else "-"
        mean = "-" if a is None else number(a)
        rows.append(LaunchRow(n + 1, _values(theirs.get(n)), _values(ours.get(n)), mean, change))
    return rows


def _by_launch(run: Run | None, metric: str) -> dict[int, list[Sample]]:
    launches: dict[int, list[Sample]] = {}
    for sample in run.samples if run else ():
        if sample.metric.name == metric:
            launches.setdefault(sample.launch, []).append(sample)
    return launches


def _values(samples: Sequence[Sample] | None) -> str:
    ordered = sorted(samples or (), key=lambda s: s.repetition)
    return ", ".join(number(s.value) + ("" if _is_valid(s) else " (invalid)") for s in ordered) or "-"


def _is_valid(sample: Sample) -> bool:
    return sample.invalid is None and sample.value - sample.value == 0


def _mean(samples: Sequence[Sample]) -> float | None:
    valid = [sample.value for sample in samples if _is_valid(sample)]
    return fmean(valid) if valid else None


class Pairs(NamedTuple):
    """The pairs of an interleaved run that were complete before it failed, and their relative difference."""

    number: int
    relative: float


def complete_pairs(log: Log, run: Run | None) -> Pairs | None:
    """Return what the complete pairs of a failed run showed, which is no verdict; None without any."""
    other = log.beside(run.id) if run else None
    if run is None or other is None:
        return None
    ours, theirs = (_by_launch(side, log.metric.name) for side in (run, other))
    passes = max(map(len, (*ours.values(), *theirs.values())), default=0)
    whole = [n for n in ours.keys() & theirs.keys() if len(ours[n]) == len(theirs[n]) == passes]
    means = [(_mean(ours[n]), _mean(theirs[n])) for n in whole]
    ratios = [a / b for a, b in means if a is not None and b is not None and a > 0 and b > 0]
    return Pairs(len(ratios), geometric_mean(ratios) - 1) if ratios else None


def other_metrics(log: Log, run: Run, other: Run | None) -> Iterator[tuple[str, str, str, str]]:
    """Yield each other metric: name, the baseline's and the run's level, and their change, which nobody judged."""
    metrics = {sample.metric.name: sample.metric for sample in run.samples}
    metrics.pop(log.metric.name, None)
    for name, metric in metrics.items():
        ours, theirs = compared(run, other, name)
        change = "-"
        if ours is not None and theirs is not None and theirs.level and ours.level / theirs.level > 0:
            change = percent(ours.level / theirs.level - 1)
        shown = [amount(series.level, metric.unit) if series else "-" for series in (theirs, ours)]
        yield name, shown[0], shown[1], change


def invalid_passes(run: Run) -> dict[tuple[int, int], str]:
    """Return why passes are no measurement, by launch and repetition, each counted from 1."""
    return {(s.launch + 1, s.repetition + 1): s.invalid for s in run.samples if s.invalid}


def undeclared(judgement: Judgement, severity: str) -> list[Difference]:
    """Return the differences of a severity that the treatment doesn't declare."""
    others = (d for d in judgement.differences if d.cls != "declared")
    return [d for d in others if (d.severity == "blocking") == (severity == "blocking")]

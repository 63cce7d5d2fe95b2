"""The head of a log: the goal, where the campaign stands against it, and what worked and what didn't."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from datetime import datetime

from optrack.judge.evidence import CONFIDENCE
from optrack.judge.lineage import both_effects
from optrack.judge.multiplicity import family_statement
from optrack.model.item import ItemState
from optrack.model.markdown import cell, code
from optrack.model.metrics import series_of
from optrack.model.run import Run
from optrack.model.wording import amount, counted, percent
from optrack.plan.schedule import comparisons
from optrack.render.calibrated import calibration_of
from optrack.render.documents import timestamp
from optrack.render.log import Log
from optrack.render.summary import effect, measured_text, why


def goal(log: Log) -> str:
    """Return the goal and where the campaign stands, as a list."""
    metric = log.metric
    aim = [f"**Goal**: {code(metric.name)}{f' in {cell(metric.unit)}' if metric.unit else ''}"]
    if metric.better:
        aim.append(f"{metric.better} is better")
    if log.plan.target:
        aim.append(f"target {cell(log.plan.target.text)}")
    smallest = percent(log.plan.min_effect, signed=False)
    lines = [", ".join(aim), f"**Smallest effect that counts**: {smallest}", *_method(log)]
    base = baseline_run(log)
    if base is not None:
        lines.append(f"**Baseline**: {cell(measured_text(base, metric.name))}, run {code(base.id)}")
    else:
        lines.append("**Baseline**: not measured yet")
    best = best_item(log)
    lines.append(f"**Best so far**: {_best(log, best)}")
    if log.plan.target:
        lines.append(f"**Target**: {_target(log, best)}")
    lines += [f"**Done**: {_done(log)}", f"**Next**: {_next(log)}"]
    last = last_record(log)
    if last is not None:
        lines.append(f"**Records up to**: {timestamp(last)}")
    return "\n".join(f"- {line}" for line in lines)


def baseline_run(log: Log) -> Run | None:
    """Return the latest run of the baseline that succeeded and was measured on its own, else beside another."""
    good = [run for run in log.runs if run.item == log.plan.baseline and run.outcome == "succeeded"]
    alone = [run for run in good if run.beside is None]
    found = alone or good
    return found[-1] if found else None


def best_item(log: Log) -> ItemState | None:
    """Return the item with the largest fair improvement in force, or None."""
    sign = -1 if log.metric.better == "lower" else 1
    gained = [
        state
        for state in log.states
        if state.judgement is not None
        and state.judgement.verdict == "improvement"
        and state.judgement.comparison == "fair"
        and state.judgement.effect is not None
    ]
    return max(gained, key=lambda state: sign * _relative(state), default=None)


def last_record(log: Log) -> datetime | None:
    """Return the time of the last thing of each kind in the log: what it tells of is complete up to then."""
    times = [run.ended_at or run.started_at for run in log.runs[-1:]]
    times += [transition.at for transition in log.transitions[-1:]]
    times += [note.at for state in log.states for note in state.notes]
    times += [judged.at for judged in log.judgements[-1:]]
    return max(times, default=None)


def results(log: Log) -> str:
    """Return what was gained, what was lost, failed or had no effect, and what is undecided: a list each."""
    groups: dict[str, list[ItemState]] = {"Gained": [], "Lost, failed or without effect": [], "Undecided": []}
    for state in log.states:
        heading = _group(state)
        if heading is not None:
            groups[heading].append(state)
    parts = []
    for heading, states in groups.items():
        if states:
            entries = [_result(log, state) for state in states]
            parts.append("\n".join([f"**{heading}**", "", *entries]))
    return "\n\n".join(parts)


def _group(state: ItemState) -> str | None:
    judgement = state.judgement
    if judgement is None:
        return None
    if judgement.verdict == "improvement":
        return "Gained"
    if judgement.verdict in ("regression", "failed", "no_change"):
        return "Lost, failed or without effect"
    return "Undecided"


def _result(log: Log, state: ItemState) -> str:
    said = why(log, state)
    shown = effect(state.judgement.effect) if state.judgement else ""
    size = f" {shown}." if shown and shown not in said else ""
    stale = " (stale: its recipe was edited since)" if state.stale else ""
    both = both_effects(state.judgement, log.against_original(state.judgement)) if state.judgement else ""
    over = f" {cell(both)}." if both else ""
    return f"- **{cell(state.item.id)}** {cell(state.item.title)}:{size} {cell(said)}{over}{stale}"


def _method(log: Log) -> list[str]:
    """Say how false improvements among many comparisons are bounded, and how the plan's estimates did."""
    family = comparisons(log.plan)
    said = [f"**Many comparisons**: {family_statement(CONFIDENCE, family)}"] if family > 1 else []
    calibrated = calibration_of(log)
    return [*said, *([f"**Estimates**: {cell(calibrated.text)}"] if calibrated.items else [])]


def _relative(state: ItemState) -> float:
    return state.judgement.effect.relative if state.judgement and state.judgement.effect else 0.0


def _best(log: Log, best: ItemState | None) -> str:
    if best is None or best.judgement is None:
        return "no fair improvement yet"
    run = log.run(best.judgement.candidate)
    measured = f"{cell(measured_text(run, log.metric.name))}, " if run else ""
    confounded = ", confounded" if best.judgement.attribution.status == "confounded" else ""
    stale = ", stale: a recipe was edited since" if best.stale else ""
    against = log.run(best.judgement.baseline or "")
    base = f" of {cell(measured_text(against, log.metric.name))} measured with it" if against else ""
    return (
        f"**{cell(best.item.id)}**, {measured}{effect(best.judgement.effect)} over the baseline{base}"
        f"{confounded}{stale}"
    )


def _target(log: Log, best: ItemState | None) -> str:
    target, metric = log.plan.target, log.metric
    assert target is not None
    bound = target.low if metric.better != "lower" else target.high
    if bound is None or metric.better is None or target.unit.strip() not in ("", metric.unit):
        return f"{cell(target.text)}, which can't be compared with {code(metric.name)} as written"
    runs = [log.run(best.judgement.candidate) if best and best.judgement else None, baseline_run(log)]
    middles = [m for run in runs if run is not None and (m := _median(run, metric.name)) is not None]
    if not middles:
        return f"{cell(target.text)}, nothing measured yet"
    value = max(middles) if metric.better == "higher" else min(middles)
    reached = value >= bound if metric.better == "higher" else value <= bound
    word = "reached" if reached else "not reached"
    return (
        f"{cell(target.text)}, **{word}**: {cell(amount(value, metric.unit))} is the best that was measured"
    )


def _median(run: Run, metric: str) -> float | None:
    series = series_of(run.samples, metric)
    return statistics.median(series.values) if series else None


def _done(log: Log) -> str:
    live = [state for state in log.states if not state.archived]
    over = sum(state.status in ("completed", "cancelled") for state in live)
    made: Sequence[Run] = [run for run in log.runs if run.beside is None]
    outcomes: dict[str, int] = {}
    for run in made:
        outcomes[run.outcome or "running"] = outcomes.get(run.outcome or "running", 0) + 1
    words = ", ".join(f"{count} {outcome.replace('_', ' ')}" for outcome, count in sorted(outcomes.items()))
    beside = len(log.runs) - len(made)
    also = f" and {beside} of the baseline beside them" if beside else ""
    runs = f"{counted(len(made), 'run')}{f' ({words})' if words else ''}{also}"
    return f"{over} of {counted(len(live), 'item')}, {runs}"


def _next(log: Log) -> str:
    if log.choice is None:
        return "not worked out"
    if log.choice.item is None:
        return cell(log.choice.summary)
    state = log.state(log.choice.item)
    return f"**{cell(log.choice.item)}**{f' {cell(state.item.title)}' if state else ''}"

"""Recorded runs as the sides of a comparison: which launches were made in turn, and where each stood."""

from __future__ import annotations

from typing import Literal

from optrack.judge.evidence import Side, fault_of
from optrack.model.metrics import CHECK, Series, series_of
from optrack.model.run import Run

Turn = Literal["baseline", "candidate"]


def in_turn(candidate: Run, baseline: Run) -> bool:
    """Whether the launches of two runs were made in turn, in one session."""
    return baseline.beside == candidate.id or baseline.id == candidate.session.baseline


def alternating(pairs: int) -> tuple[Turn, ...]:
    """Return whose turn it was, launch by launch, in records that don't tell the order: C B B C C B B C …"""
    turns: list[Turn] = []
    for pair in range(pairs):
        turns += ["candidate", "baseline"] if pair % 2 == 0 else ["baseline", "candidate"]
    return tuple(turns)


def side_of(run: Run, *, is_in_turn: bool = False) -> Side:
    """Return a recorded run as one side; launches made in turn with their places, those of older records as they
    were made then."""
    begun = run.started_at.timestamp()
    side = Side(
        run=run.id,
        item=run.item,
        samples=run.samples,
        outcome=run.outcome,
        stage=run.stage,
        failure=run.failure,
        recipe=run.recipe,
        at=(begun + (run.ended_at.timestamp() if run.ended_at else begun)) / 2,
        checks=_checks(run),
    )
    if not is_in_turn:
        return side
    count = 1 + max((sample.launch for sample in run.samples), default=-1)
    made = [position for position, turn in enumerate(alternating(count)) if turn == run.role]
    places = run.session.places
    order = (places[k].position if k in places else made[k] for k in range(count))
    rounds = (places[k].round if k in places else k for k in range(count))
    return side.model_copy(update={"order": tuple(order), "rounds": tuple(rounds)})


def _checks(run: Run) -> dict[str, tuple[float, ...]]:
    """Return the numbers that guards' commands printed, by guard."""
    checks: dict[str, list[float]] = {}
    for sample in run.samples:
        if sample.metric.name.startswith(CHECK):
            checks.setdefault(sample.metric.name.removeprefix(CHECK), []).append(sample.value)
    return {name: tuple(values) for name, values in checks.items()}


def compared(candidate: Run, baseline: Run | None, metric: str) -> tuple[Series | None, Series | None]:
    """Return the series whose levels an effect compares: of interleaved runs, the rounds that both sides have."""
    ours = series_of(candidate.samples, metric)
    theirs = series_of(baseline.samples, metric) if baseline else None
    if ours is None or theirs is None or baseline is None or not in_turn(candidate, baseline):
        return ours, theirs
    both = set(_rounds(candidate, metric).values()) & set(_rounds(baseline, metric).values())
    runs = ((run, _rounds(run, metric)) for run in (candidate, baseline))
    ours_paired, theirs_paired = (
        series_of(tuple(s for s in run.samples if rounds.get(s.launch) in both), metric)
        for run, rounds in runs
    )
    return ours_paired or ours, theirs_paired or theirs


def _rounds(run: Run, metric: str) -> dict[int, int]:
    """Return the round of each launch that has a valid value of the metric."""
    named = (s for s in run.samples if s.metric.name == metric)
    valid = {s.launch for s in named if s.invalid is None and fault_of(s.value) is None}
    places = run.session.places
    return {launch: places[launch].round if launch in places else launch for launch in valid}

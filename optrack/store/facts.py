"""Writes the facts of runs: each as an event, and what is asked for often in tables of its own."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import delete, func, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col, or_, select

from optrack.errors import UsageError
from optrack.model.events import (
    PartsCaptured,
    RepetitionMeasured,
    RunClaimed,
    RunEnded,
    RunJudged,
    SamplesAdded,
    StageStarted,
)
from optrack.model.metrics import Sample
from optrack.model.value import as_written, value_text
from optrack.store.contents import put_contents
from optrack.store.items import end_run, run_row, take_in
from optrack.store.rows import as_text, stored
from optrack.store.spool import PendingWrite
from optrack.store.tables import EventRow, JudgementRow, PartRow, RunRow, SampleRow, added, validated


def add_event(session: Session, write: PendingWrite, *, late: bool = False) -> int:
    """Write one fact and return its number; 0 for the end of a run that had ended before.

    `late` is for what comes from a spool: its end corrects a run that was closed as interrupted since. Raises
    UsageError for a run that nobody knows, and for a claim of an item that another run has.
    """
    event = write.event
    if isinstance(event, RunEnded) and not end_run(session, write.run, event, write.at, correct=late):
        return 0
    row = validated(
        EventRow,
        id=write.id,
        run=write.run,
        at=as_text(write.at),
        kind=event.kind,
        data=as_written(event.model_dump(mode="json", exclude=set(event.APART))),
    )
    number = added(session, row).seq or 0
    _project(session, write, number)
    return number


def add_pending(session: Session, writes: Iterable[PendingWrite]) -> int:
    """Write the facts of a spool that weren't written before; returns how many there were.

    One that the database can't take, of a run that it doesn't know, holds up no other.
    """
    count = 0
    for write in writes:
        is_known = session.get(RunRow, write.run) is not None
        by_id = select(EventRow.seq).where(EventRow.id == write.id)
        if is_known == isinstance(write.event, RunClaimed) or session.exec(by_id).first() is not None:
            continue
        with session.begin_nested() as step:
            try:
                if isinstance(write.event, RunClaimed):
                    take_in(session, write.event.run)
                count += 1 if add_event(session, write, late=True) else 0
            except (IntegrityError, UsageError):
                step.rollback()
    return count


def _project(session: Session, write: PendingWrite, number: int) -> None:
    """Keep beside the event what is read of it by other ways than the journal's."""
    match write.event:
        case StageStarted(stage=stage):
            is_open = col(RunRow.outcome).is_(None)
            session.execute(update(RunRow).where(col(RunRow.id) == write.run, is_open).values(stage=stage))
        case RepetitionMeasured(samples=samples) | SamplesAdded(samples=samples):
            _add_samples(session, write.run, number, samples)
        case PartsCaptured(parts=parts):
            _put_parts(session, write.run, parts)
        case RunJudged():
            _add_judgement(session, write, write.event)
        case _:
            pass


def _add_samples(session: Session, run: str, event: int, samples: Sequence[Sample]) -> None:
    session.add_all([_sample_row(run, event, sample) for sample in samples])
    session.flush()
    launches = select(func.count(func.distinct(SampleRow.launch))).where(SampleRow.run == run)
    may_change = or_(col(RunRow.outcome).is_(None), col(RunRow.outcome) == "interrupted")
    session.execute(
        update(RunRow).where(col(RunRow.id) == run, may_change).values(launches=launches.scalar_subquery())
    )


def _sample_row(run: str, event: int, sample: Sample) -> SampleRow:
    """Return a sample's row; NaN and the infinities are kept as what they are, apart from the numbers."""
    finite = math.isfinite(sample.value)
    return validated(
        SampleRow,
        run=run,
        event=event,
        launch=sample.launch,
        repetition=sample.repetition,
        metric=stored(sample.metric.name),
        unit=stored(sample.metric.unit),
        better=sample.metric.better,
        value=sample.value if finite else None,
        special=None if finite else str(sample.value),
        invalid=None if sample.invalid is None else stored(sample.invalid),
    )


def _put_parts(session: Session, run: str, parts: Mapping[str, str]) -> None:
    """Set parts of the run's snapshot; what other runs have too is stored once."""
    if not parts:
        return
    digests = put_contents(session, parts.values())
    session.execute(delete(PartRow).where(col(PartRow.run) == run, col(PartRow.part).in_(list(parts))))
    session.add_all(
        [PartRow(run=run, part=part, digest=name) for part, name in zip(parts, digests, strict=True)]
    )


def _add_judgement(session: Session, write: PendingWrite, event: RunJudged) -> None:
    """File a judgement under the item of its run, whatever an edited plan calls that by now."""
    run = run_row(session, write.run)
    session.add(
        JudgementRow(
            item_key=run.item_key,
            at=as_text(write.at),
            against=event.against,
            candidate=run.id,
            baseline=event.judgement.baseline,
            data=value_text(event.judgement),
        )
    )

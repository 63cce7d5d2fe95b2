"""Writes what a run has to say, whether it comes directly or from its side journal."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import delete, insert
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col

from optrack.errors import UsageError
from optrack.store import claims, evidence, judgements
from optrack.store import contents as journal
from optrack.store.spool import (
    ArtifactKept,
    ClaimKept,
    EndKept,
    EventKept,
    JudgementKept,
    Kept,
    Line,
    NoteKept,
    PartsKept,
    ProcessKept,
    SamplesKept,
    StageKept,
)
from optrack.store.tables import RunRow, SideLineRow

Result = int | bool | None


def apply(session: Session, what: Kept, *, late: bool = False) -> Result:
    """Write one record of a run; an event and a judgement give their number, an end whether it closed it.

    `late` is for what comes from a side journal: its end corrects a run that was closed as interrupted since.
    """
    match what:
        case ClaimKept():
            if not claims.take_in(session, what.claim):
                raise UsageError(f"{what.claim.item} can't be taken up by {what.run} now")
        case EventKept():
            return journal.add_event(session, what.run, what.event, what.at)
        case SamplesKept():
            evidence.add_samples(session, what.run, what.samples)
        case StageKept():
            evidence.add_stage(session, what.run, what.stage, what.seconds, what.launch)
        case PartsKept():
            evidence.put_parts(session, what.run, what.parts)
        case ProcessKept():
            evidence.add_process(session, what.run, what.process, what.role)
        case ArtifactKept():
            evidence.add_artifact(session, what.run, what.path)
        case NoteKept():
            evidence.add_run_note(session, what.run, what.text)
        case JudgementKept():
            return judgements.add_judgement(
                session, what.judgement, what.plan, what.item, what.at, what.against
            )
        case EndKept():
            return claims.end_run(
                session,
                what.run,
                outcome=what.outcome,
                stage=what.stage,
                failure=what.failure,
                at=what.at,
                item_after=what.item_after,
                why=what.why,
                verdict=what.verdict,
                seconds=what.seconds,
                correct=late,
            )
    return None


def apply_once(session: Session, line: Line, *, late: bool = False) -> Result:
    """Write the record of a line, and with it that the line was written."""
    if isinstance(line.what, ClaimKept):
        apply(session, line.what, late=late)
    session.execute(insert(SideLineRow).values(id=line.id, run=line.what.run))
    result = None if isinstance(line.what, ClaimKept) else apply(session, line.what, late=late)
    session.flush()
    return result


def forget_lines(session: Session, run: str) -> None:
    """Forget which lines of a side journal were written, once there is no such journal any more."""
    session.execute(delete(SideLineRow).where(col(SideLineRow.run) == run))


def apply_lines(session: Session, lines: Iterable[Line]) -> int:
    """Write the lines of a side journal that weren't written before; returns how many there were.

    A line that the database can't take, of a run that it doesn't know, holds up no other.
    """
    count = 0
    for line in lines:
        is_known = session.get(RunRow, line.what.run) is not None
        if is_known == isinstance(line.what, ClaimKept) or session.get(SideLineRow, line.id) is not None:
            continue
        with session.begin_nested() as step:
            try:
                apply_once(session, line, late=True)
            except (IntegrityError, UsageError):
                step.rollback()
                continue
        count += 1
    return count

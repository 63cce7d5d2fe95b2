"""The whole line for one item, on one page."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from optrack.app.evaluator import Evaluator, record_judgement
from optrack.host.capture import capture_after
from optrack.host.launch import StageFailed
from optrack.judge.failures import plain_failure
from optrack.judge.reasons import HOST_CAUSES
from optrack.model.events import RunStarted
from optrack.model.judgement import Judgement
from optrack.model.plan import Status
from optrack.model.run import Outcome
from optrack.runner.journal import Journal
from optrack.runner.launch import Launching
from optrack.runner.session import Ending, Session, Side
from optrack.runner.stop_signal import Will

if TYPE_CHECKING:
    from optrack.store.write import Store

SUCCEEDED = Ending("succeeded", "teardown", None)


def run_session(session: Session, store: Store, will: Will) -> Outcome:
    """Measure both sides launch by launch, judge the candidate, record how it ended; return its outcome."""
    journal = Journal(store, session.candidate.run.id)
    with session.parser:
        session.parser.start()
        measure(session, store, journal, will)
    return conclude(session, store)


def measure(session: Session, store: Store, journal: Journal, will: Will) -> None:
    """Go through the launches in order, until one fails or all are done."""
    candidate = session.candidate
    journal.tell(
        RunStarted(
            item=candidate.run.item,
            log_dir=str(candidate.folder),
            launches=session.most_launches,
            repetitions=candidate.recipe.repetitions,
            at_most=session.sequential,
        )
    )
    if session.why_anew is not None:
        journal.note(session.why_anew)
    for side, number in session.schedule():
        if side is not candidate and number == session.first:
            store.claim(side.run)
        side.launches += 1
        try:
            Launching(session, side, number, store, journal, will).run()
        except StageFailed as failed:
            side.ending = Ending(failed.outcome, failed.stage, store.gate.value(failed.failure))
            return
        if is_settled(session, store):
            journal.note(f"settled after {session.kept + candidate.launches} pairs of launches")
            return


def is_settled(session: Session, store: Store) -> bool:
    """Whether a sequential session has come, at the end of a pair, to where more launches decide nothing."""
    ours, theirs = session.candidate, session.baseline
    if theirs is None or not session.sequential or ours.launches != theirs.launches:
        return False
    reader = store.reader
    candidate = reader.run(ours.run.id).model_copy(update={"outcome": "succeeded"})
    baseline = reader.run(theirs.run.id).model_copy(update={"outcome": "succeeded"})
    return Evaluator(reader, session.plan).settled(candidate, baseline)


def conclude(session: Session, store: Store) -> Outcome:
    """Close the session's runs, judge the candidate, and leave its item where that puts it."""
    candidate, baseline = session.candidate, session.baseline
    for side in session.sides:
        if side.snapshot is not None:
            load = side.sampler.summary() if side.sampler is not None else None
            seen = side.snapshot.model_copy(update={"load": load})
            store.put_snapshot(side.run.id, capture_after(seen, salt=session.salt))
    if baseline is not None and baseline.launches:
        close(store, baseline, baseline.ending or _along_with(candidate), None, "measured beside another run")
        if baseline.ending is not None:
            candidate.ending = _broken_off(baseline.ending)
    ending = candidate.ending or SUCCEEDED
    judgement = judge(session, store, ending)
    after, why = standing(session, ending, judgement)
    close(store, candidate, ending, after, why, judgement.verdict if judgement else None)
    return ending.outcome


def judge(session: Session, store: Store, ending: Ending) -> Judgement | None:
    """Return and record the judgement of the candidate; None for the baseline itself, and for a run that was
    interrupted or that the host made fail: it shows nothing, so what was found before stays in force."""
    plan, run = session.plan, store.reader.run(session.candidate.run.id)
    if run.item == plan.baseline or ending.outcome == "interrupted" or is_hosts_fault(ending):
        return None
    ended = run.model_copy(
        update={"outcome": ending.outcome, "stage": ending.stage, "failure": ending.failure}
    )
    evaluator = Evaluator(store.reader, plan)
    judgement = evaluator.judge(ended)
    record_judgement(store, evaluator, judgement, run, datetime.now(UTC))
    return judgement


def is_hosts_fault(ending: Ending) -> bool:
    """Whether a run ended for a cause that says nothing of its item."""
    return ending.failure is not None and ending.failure.kind in HOST_CAUSES


def standing(session: Session, ending: Ending, judgement: Judgement | None) -> tuple[Status, str]:
    """Return where the run leaves its item, and why: a result completes it, a failed experiment included."""
    if ending.outcome == "interrupted":
        return "pending", ending.failure.message if ending.failure else "the run was interrupted"
    if ending.failure is not None and is_hosts_fault(ending):
        return "pending", f"the host, not the item, is at fault: {ending.failure.message}"
    if judgement is None:
        if ending.outcome == "succeeded":
            return "completed", "the baseline was measured"
        return "pending", "the baseline couldn't be measured"
    return "completed", judgement.reasons[0] if judgement.reasons else f"verdict: {judgement.verdict}"


def close(
    store: Store,
    side: Side,
    ending: Ending,
    after: Status | None,
    why: str,
    verdict: str | None = None,
) -> None:
    """Record how a side's run ended, and with it where its item stands."""
    store.finish(
        side.run.id,
        outcome=ending.outcome,
        stage=ending.stage,
        failure=ending.failure,
        at=datetime.now(UTC),
        item_after=after,
        why=why,
        verdict=verdict,
        seconds=round(time.monotonic() - side.begun, 3),
    )


def _along_with(candidate: Side) -> Ending:
    """A baseline whose own launches all went well is interrupted only where the whole session was."""
    ending = candidate.ending
    return ending if ending is not None and ending.outcome == "interrupted" else SUCCEEDED


def _broken_off(baseline: Ending) -> Ending:
    """The candidate's run ends where the baseline beside it fails: nothing can be compared any more."""
    if baseline.outcome == "interrupted":
        return baseline
    what = baseline.failure.message if baseline.failure else baseline.outcome
    failure = plain_failure("baseline_failed", f"the baseline measured beside it failed: {what}")
    return Ending("interrupted", baseline.stage, failure)

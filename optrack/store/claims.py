"""Writes who has which item: claims, transitions, and the end of runs."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import func, insert, update
from sqlmodel import Session, col, select

from optrack.errors import UsageError
from optrack.model.events import RunEnded
from optrack.model.item import Transition
from optrack.model.plan import STATUSES, Status, may_move
from optrack.model.run import Run
from optrack.model.text import nearest
from optrack.model.value import as_written, recipe_digest, value_text
from optrack.store.contents import put_content
from optrack.store.rows import as_text, stored
from optrack.store.tables import ContentRow, FormerNameRow, ItemRow, PlanRow, RunRow, TransitionRow


def item_row(session: Session, plan: str, item: str) -> ItemRow:
    """Return the row of the item with this id, upper and lower case alike where no id matches exactly.

    Raises UsageError for an unknown one, naming the nearest id or what a former one is called now.
    """
    exact = session.exec(select(ItemRow).where(col(ItemRow.plan) == plan, col(ItemRow.id) == item)).first()
    if exact is not None:
        return exact
    rows = session.exec(select(ItemRow).where(col(ItemRow.plan) == plan)).all()
    alike = [row for row in rows if row.id.casefold() == item.casefold()]
    if len(alike) == 1:
        return alike[0]
    former = session.exec(
        select(ItemRow.id)
        .join(FormerNameRow, col(FormerNameRow.item_key) == col(ItemRow.key))
        .where(col(ItemRow.plan) == plan, col(FormerNameRow.id) == item)
    ).first()
    near = nearest(item, [row.id for row in rows], cutoff=0.6)
    hint = f"it is called {former} now" if former else f"did you mean {near}?" if near else None
    if not rows and session.get(PlanRow, plan) is None:
        raise UsageError(f"the database knows no plan called {plan}")
    raise UsageError(f"{plan} has no item {item}", hint=hint)


def claim_item(session: Session, run: Run, from_statuses: Collection[Status]) -> bool:
    """Take the item for this run if it stands in one of `from_statuses` and no run of it is live.

    The run of a baseline measured beside another takes no item: it is only inserted. Returns whether this
    caller has it; the caller's transaction holds the write lock, so exactly one of several has.
    """
    row = item_row(session, run.plan, run.item)
    if run.beside is not None:
        _insert_run(session, run, row.key or 0)
        return True
    live = session.exec(
        select(RunRow.id).where(
            col(RunRow.item_key) == row.key, col(RunRow.outcome).is_(None), col(RunRow.paired_run).is_(None)
        )
    ).first()
    if live is not None or row.archived_at is not None:
        return False
    before = row.status
    taken = session.execute(
        update(ItemRow)
        .where(col(ItemRow.key) == row.key, col(ItemRow.status).in_(list(from_statuses)))
        .values(status="in_progress")
    )
    if taken.rowcount != 1:  # type: ignore[attr-defined]
        return False
    _insert_run(session, run, row.key or 0)
    if before != "in_progress":
        session.add(
            TransitionRow(
                item_key=row.key or 0,
                at=as_text(run.started_at),
                before=before,
                after="in_progress",
                who=stored(run.actor),
                why="taken up by a run",
                run=run.id,
            )
        )
    return True


def take_in(session: Session, run: Run) -> None:
    """Insert a run that took its item up in a database that is gone; UsageError while another run has the item."""
    if run.plan_digest and session.get(ContentRow, run.plan_digest) is None:
        run = run.model_copy(update={"plan_digest": ""})
    if not claim_item(session, run, [status for status in STATUSES if status != "in_progress"]):
        raise UsageError(f"{run.item} can't be taken up by {run.id} now")


def _insert_run(session: Session, run: Run, item_key: int) -> None:
    plan = session.get(PlanRow, run.plan)
    values = {
        "id": run.id,
        "seq": select(func.coalesce(func.max(RunRow.seq), 0) + 1).scalar_subquery(),
        "plan": run.plan,
        "item_key": item_key,
        "host": stored(run.host),
        "started_at": as_text(run.started_at),
        "stage": run.stage,
        "role": run.role,
        "paired_run": run.beside,
        "actor": stored(run.actor),
        "plan_digest": run.plan_digest or (plan.digest if plan else None),
        "recipe": put_content(session, as_written(run.recipe)),
        "recipe_digest": run.recipe_digest or recipe_digest(run.recipe),
    }
    if run.runner is not None:
        values |= _runner_columns(run)
    session.execute(insert(RunRow).values(**values))


def _runner_columns(run: Run) -> dict[str, object]:
    runner = run.runner
    assert runner is not None
    return {
        "runner_pid": runner.pid,
        "runner_start_ticks": runner.start_ticks,
        "runner_boot_id": runner.boot_id,
    }


def move_item(
    session: Session,
    row: ItemRow,
    after: Status,
    *,
    who: str,
    why: str,
    at: datetime,
    run: str | None,
) -> Transition:
    """Record the item's move to `after`; raises UsageError naming the moves that are allowed."""
    before: Status = row.status  # type: ignore[assignment]
    if not may_move(before, after):
        allowed = ", ".join(status for status in STATUSES if may_move(before, status))
        already = "is already" if before == after else f"is {before} and can't become"
        raise UsageError(f"{row.id} {already} {after}", hint=f"from {before} it can become {allowed}")
    row.status = after
    move = TransitionRow(
        item_key=row.key or 0,
        at=as_text(at),
        before=before,
        after=after,
        who=stored(who),
        why=stored(why),
        run=run,
    )
    session.add_all((row, move))
    session.flush()
    return Transition(
        seq=move.seq or 0,
        plan=row.plan,
        item=row.id,
        at=at,
        before=before,
        after=after,
        who=move.who,
        why=move.why,
        run=run,
    )


def end_run(session: Session, run: str, end: RunEnded, at: datetime, *, correct: bool = False) -> bool:
    """Close the run and move its item on; returns False where it was closed before.

    The item moves only if it is still in progress: what somebody decided meanwhile stands. `correct` gives a
    run that was closed as interrupted the outcome that its runner had already put down.
    """
    row = run_row(session, run)
    if row.outcome is not None and not (
        correct and row.outcome == "interrupted" and end.outcome != "interrupted"
    ):
        return False
    corrected = row.outcome is not None
    row.outcome, row.stage, row.ended_at, row.seconds = end.outcome, end.stage, as_text(at), end.seconds
    row.failure = value_text(end.failure) if end.failure else None
    row.fingerprint = end.failure.fingerprint if end.failure else None
    session.add(row)
    session.flush()
    if row.paired_run is None and end.item_after is not None:
        _move_on(session, row, end.item_after, why=end.why, at=at, corrected=corrected)
    return True


def _move_on(
    session: Session, run: RunRow, after: Status, *, why: str, at: datetime, corrected: bool
) -> None:
    item = session.get(ItemRow, run.item_key)
    assert item is not None
    mine = item.status == "in_progress"
    if corrected:
        last = session.exec(
            select(TransitionRow.run)
            .where(col(TransitionRow.item_key) == run.item_key)
            .order_by(col(TransitionRow.seq).desc())
        ).first()
        mine = last == run.id
    if mine and item.status != after:
        move_item(session, item, after, who=run.actor, why=why, at=at, run=run.id)


def run_row(session: Session, run: str) -> RunRow:
    """Return the row of the run with exactly this id; raises UsageError where there is none."""
    row = session.get(RunRow, run)
    if row is None:
        raise UsageError(f"there is no run {run}")
    return row

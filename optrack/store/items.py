"""Writes what becomes of items: claims, transitions, the end of runs, and what people decided of them."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import func, insert
from sqlmodel import Session, col, select

from optrack.errors import UsageError
from optrack.model.events import RunEnded
from optrack.model.item import Acceptance, Adoption, Note, Transition
from optrack.model.plan import STATUSES, Status, may_move
from optrack.model.run import Run
from optrack.model.text import nearest
from optrack.model.value import as_written, recipe_digest, value_text
from optrack.store.contents import put_content
from optrack.store.rows import as_text, stored
from optrack.store.tables import (
    AcceptanceRow,
    AdoptionRow,
    ContentRow,
    FormerNameRow,
    ItemRow,
    NoteRow,
    PlanRow,
    RunRow,
    TransitionRow,
    added,
)


def item_row(session: Session, plan: str, item: str) -> ItemRow:
    """Return the row of the item with this id, upper and lower case alike where no id matches exactly.

    Raises UsageError for an unknown one, naming the nearest id or what a former one is called now.
    """
    of_plan = select(ItemRow).where(col(ItemRow.plan) == plan)
    exact = session.exec(of_plan.where(col(ItemRow.id) == item)).first()
    if exact is not None:
        return exact
    require_plan(session, plan)
    rows = session.exec(of_plan).all()
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
    raise UsageError(f"{plan} has no item {item}", hint=hint)


def require_plan(session: Session, plan: str) -> None:
    """Raise UsageError for a plan that was never synced."""
    if session.get(PlanRow, plan) is None:
        raise UsageError(f"the database knows no plan called {plan}")


def run_row(session: Session, run: str) -> RunRow:
    """Return the row of the run with exactly this id; raises UsageError where there is none."""
    row = session.get(RunRow, run)
    if row is None:
        raise UsageError(f"there is no run {run}")
    return row


def claim_item(session: Session, run: Run, from_statuses: Collection[Status]) -> bool:
    """Take the item for this run if it stands in one of `from_statuses` and no run of it is live.

    The run of a baseline measured beside another takes no item: it is only inserted. Returns whether this
    caller has it; the caller's transaction holds the write lock, so exactly one of several has.
    """
    item = item_row(session, run.plan, run.item)
    if run.beside is not None:
        _insert_run(session, run, item)
        return True
    live = session.exec(
        select(RunRow.id).where(
            col(RunRow.item_key) == item.key, col(RunRow.outcome).is_(None), col(RunRow.paired_run).is_(None)
        )
    ).first()
    if live is not None or item.archived_at is not None or item.status not in from_statuses:
        return False
    _insert_run(session, run, item)
    if item.status != "in_progress":
        _add_transition(
            session,
            item,
            "in_progress",
            who=run.actor,
            why="taken up by a run",
            at=run.started_at,
            run=run.id,
        )
    return True


def take_in(session: Session, run: Run) -> None:
    """Insert a run that took its item up in a database that is gone; UsageError while another run has the item."""
    if run.plan_digest and session.get(ContentRow, run.plan_digest) is None:
        run = run.model_copy(update={"plan_digest": ""})
    if not claim_item(session, run, [status for status in STATUSES if status != "in_progress"]):
        raise UsageError(f"{run.item} can't be taken up by {run.id} now")


def _insert_run(session: Session, run: Run, item: ItemRow) -> None:
    plan = session.get(PlanRow, run.plan)
    values = {
        "id": run.id,
        "seq": select(func.coalesce(func.max(RunRow.seq), 0) + 1).scalar_subquery(),
        "plan": run.plan,
        "item_key": item.key,
        "host": stored(run.host),
        "started_at": as_text(run.started_at),
        "stage": run.stage,
        "role": run.role,
        "paired_run": run.beside,
        "actor": stored(run.actor),
        "plan_digest": run.plan_digest or (plan.digest if plan else None),
        "recipe": put_content(session, as_written(run.recipe)),
        "recipe_digest": run.recipe_digest or recipe_digest(run.recipe),
        **({f"runner_{name}": value for name, value in run.runner} if run.runner is not None else {}),
    }
    session.execute(insert(RunRow).values(**values))


def move_item(
    session: Session, item: ItemRow, after: Status, *, who: str, why: str, at: datetime, run: str | None
) -> Transition:
    """Record the item's move to `after`; raises UsageError naming the moves that are allowed."""
    before: Status = item.status  # type: ignore[assignment]
    if not may_move(before, after):
        allowed = ", ".join(status for status in STATUSES if may_move(before, status))
        already = "is already" if before == after else f"is {before} and can't become"
        raise UsageError(f"{item.id} {already} {after}", hint=f"from {before} it can become {allowed}")
    row = _add_transition(session, item, after, who=who, why=why, at=at, run=run)
    return Transition.model_validate(
        row.model_dump(exclude={"item_key"}) | {"plan": item.plan, "item": item.id}
    )


def _add_transition(
    session: Session, item: ItemRow, after: Status, *, who: str, why: str, at: datetime, run: str | None
) -> TransitionRow:
    before, item.status = item.status, after
    session.add(item)
    row = TransitionRow(
        item_key=item.key or 0,
        at=as_text(at),
        before=before,
        after=after,
        who=stored(who),
        why=stored(why),
        run=run,
    )
    return added(session, row)


def end_run(session: Session, run: str, end: RunEnded, at: datetime, *, correct: bool = False) -> bool:
    """Close the run and move its item on; returns False where it was closed before.

    The item moves only if it is still in progress: what somebody decided meanwhile stands. `correct` gives a
    run that was closed as interrupted the outcome that its runner had already put down.
    """
    row = run_row(session, run)
    corrected = row.outcome is not None
    if corrected and not (correct and row.outcome == "interrupted" and end.outcome != "interrupted"):
        return False
    row.outcome, row.stage, row.ended_at, row.seconds = end.outcome, end.stage, as_text(at), end.seconds
    row.failure = value_text(end.failure) if end.failure else None
    row.fingerprint = end.failure.fingerprint if end.failure else None
    added(session, row)
    item = session.get(ItemRow, row.item_key)
    if row.paired_run is None and item is not None and end.item_after not in (None, item.status):
        is_ours = item.status == "in_progress" if not corrected else _moved_last(session, item) == row.id
        if is_ours and end.item_after is not None:
            move_item(session, item, end.item_after, who=row.actor, why=end.why, at=at, run=row.id)
    return True


def _moved_last(session: Session, item: ItemRow) -> str | None:
    """Return the run that moved the item last."""
    moves = select(TransitionRow.run).where(col(TransitionRow.item_key) == item.key)
    return session.exec(moves.order_by(col(TransitionRow.seq).desc())).first()


def add_acceptance(
    session: Session, plan: str, field: str, *, item: str | None, who: str, why: str, at: datetime
) -> Acceptance:
    """Accept differences in `field`, in the comparisons of one item or of the whole plan."""
    require_plan(session, plan)
    target = item_row(session, plan, item) if item is not None else None
    row = AcceptanceRow(
        plan=plan,
        item_key=target.key if target else None,
        field=stored(field),
        at=as_text(at),
        who=stored(who),
        why=stored(why),
    )
    values = added(session, row).model_dump(exclude={"item_key"})
    return Acceptance.model_validate(values | {"item": target.id if target else None})


def add_adoption(
    session: Session, plan: str, item: str, *, run: str | None, who: str, why: str, at: datetime
) -> Adoption:
    """Make the item's configuration the base of what follows; raises UsageError if it is already."""
    target, in_force = item_row(session, plan, item), _adoptions(session, plan)
    if in_force and in_force[-1].item_key == target.key:
        raise UsageError(f"{target.id} is adopted already")
    row = AdoptionRow(item_key=target.key or 0, run=run, at=as_text(at), who=stored(who), why=stored(why))
    values = added(session, row).model_dump(exclude={"item_key"})
    return Adoption.model_validate(values | {"plan": plan, "item": target.id})


def undo_adoption(session: Session, plan: str, *, who: str, at: datetime) -> str:
    """Undo the latest adoption of the plan, so that the one before is in force; returns its item's id.

    Raises UsageError where nothing is adopted.
    """
    require_plan(session, plan)
    in_force = _adoptions(session, plan)
    if not in_force:
        raise UsageError(f"no item of {plan} is adopted")
    last = in_force[-1]
    last.undone_at, last.undone_by = as_text(at), stored(who)
    session.add(last)
    item = session.get(ItemRow, last.item_key)
    return item.id if item else ""


def _adoptions(session: Session, plan: str) -> list[AdoptionRow]:
    statement = (
        select(AdoptionRow)
        .join(ItemRow, col(ItemRow.key) == col(AdoptionRow.item_key))
        .where(col(ItemRow.plan) == plan, col(AdoptionRow.undone_at).is_(None))
        .order_by(col(AdoptionRow.seq))
    )
    return list(session.exec(statement))


def add_note(session: Session, plan: str, item: str, text: str, *, who: str, at: datetime) -> Note:
    """Attach a remark to the item."""
    target = item_row(session, plan, item)
    row = NoteRow(item_key=target.key or 0, at=as_text(at), who=stored(who), text=stored(text))
    return Note.model_validate(added(session, row).model_dump(include=set(Note.model_fields)))

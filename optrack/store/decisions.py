"""Writes what people decided: accepted differences, adopted items, notes."""

from __future__ import annotations

from datetime import datetime

from sqlmodel import Session, col, select

from optrack.errors import UsageError
from optrack.model.item import Acceptance, Adoption, Note
from optrack.store.claims import item_row
from optrack.store.rows import as_text, stored
from optrack.store.tables import AcceptanceRow, AdoptionRow, ItemRow, NoteRow, PlanRow


def add_acceptance(
    session: Session, plan: str, field: str, *, item: str | None, who: str, why: str, at: datetime
) -> Acceptance:
    """Accept differences in `field`, in the comparisons of one item or of the whole plan."""
    _known_plan(session, plan)
    target = item_row(session, plan, item) if item is not None else None
    row = AcceptanceRow(
        plan=plan,
        item_key=target.key if target else None,
        field=stored(field),
        at=as_text(at),
        who=stored(who),
        why=stored(why),
    )
    session.add(row)
    session.flush()
    return Acceptance(
        seq=row.seq or 0,
        plan=plan,
        field=row.field,
        item=target.id if target else None,
        at=at,
        who=row.who,
        why=row.why,
    )


def add_adoption(
    session: Session, plan: str, item: str, *, run: str | None, who: str, why: str, at: datetime
) -> Adoption:
    """Make the item's configuration the base of what follows; raises UsageError if it is already."""
    target = item_row(session, plan, item)
    in_force = _adoptions(session, plan)
    if in_force and in_force[-1].item_key == target.key:
        raise UsageError(f"{target.id} is adopted already")
    row = AdoptionRow(item_key=target.key or 0, run=run, at=as_text(at), who=stored(who), why=stored(why))
    session.add(row)
    session.flush()
    return Adoption(seq=row.seq or 0, plan=plan, item=target.id, run=run, at=at, who=row.who, why=row.why)


def undo_adoption(session: Session, plan: str, *, who: str, at: datetime) -> str:
    """Undo the latest adoption of the plan, so that the one before is in force; returns its item's id.

    Raises UsageError where nothing is adopted.
    """
    in_force = _adoptions(session, plan)
    if not in_force:
        raise UsageError(f"no item of {plan} is adopted")
    last = in_force[-1]
    last.undone_at, last.undone_by = as_text(at), stored(who)
    session.add(last)
    item = session.get(ItemRow, last.item_key)
    return item.id if item else ""


def _adoptions(session: Session, plan: str) -> list[AdoptionRow]:
    _known_plan(session, plan)
    statement = (
        select(AdoptionRow)
        .join(ItemRow, col(ItemRow.key) == col(AdoptionRow.item_key))
        .where(col(ItemRow.plan) == plan, col(AdoptionRow.undone_at).is_(None))
        .order_by(col(AdoptionRow.seq))
    )
    return list(session.exec(statement))


def add_note(session: Session, plan: str, item: str, text: str, *, who: str, at: datetime) -> Note:
    """Attach a remark to the item."""
    row = NoteRow(
        item_key=item_row(session, plan, item).key or 0, at=as_text(at), who=stored(who), text=stored(text)
    )
    session.add(row)
    return Note(at=at, who=row.who, text=row.text)


def _known_plan(session: Session, plan: str) -> None:
    if session.get(PlanRow, plan) is None:
        raise UsageError(f"the database knows no plan called {plan}")

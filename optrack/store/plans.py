"""Writes plans and their items: what a sync adds, renames, moves and archives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlmodel import Session, col, select

from optrack.errors import UsageError
from optrack.model.item import Transition
from optrack.model.plan import Item, Plan
from optrack.model.value import value_text
from optrack.plan.sync import Known, Matching, Synced, match_items
from optrack.store.contents import put_content
from optrack.store.items import require_plan
from optrack.store.rows import as_text, stored
from optrack.store.tables import FormerNameRow, ItemRow, PlanRow, TransitionRow

_AS_MARKED = "as marked in the plan"


def sync_plan(
    session: Session, plan: Plan, digests: Mapping[str, str], stamp: str, *, who: str, at: datetime
) -> Synced:
    """Bring the items of the plan up to date with its text, and return what changed.

    `digests` has the digest of each item's resolved recipe, by its id.
    """
    before = session.get(PlanRow, plan.name)
    if before is not None and before.stamp == stamp:
        return Synced(plan=plan.name)
    first = before is None
    moment = as_text(at)
    session.merge(
        PlanRow(
            name=plan.name,
            path=stored(plan.path),
            title=stored(plan.title),
            digest=put_content(session, plan.text),
            stamp=stamp,
            synced_at=moment,
        )
    )
    statement = select(ItemRow).where(col(ItemRow.plan) == plan.name).order_by(col(ItemRow.rank))
    rows = {row.key or 0: row for row in session.exec(statement)}
    matching = match_items([_known(row) for row in rows.values()], plan.items)
    gone = tuple(rows[key].id for key in matching.gone)
    _make_way(session, rows, matching, moment)
    pairs = list(zip(matching.keys, plan.items, strict=True))
    fresh = [item for key, item in pairs if key is None]
    edited = [item.id for key, item in pairs if key is not None and _update(rows[key], item, digests)]
    transitions = _add(session, plan.name, fresh, digests, who=who, at=at)
    return Synced(
        plan=plan.name,
        first=first,
        added=tuple(item.id for item in fresh),
        archived=gone,
        revived=matching.revived,
        renamed=matching.renamed,
        moved=matching.moved,
        edited=tuple(edited),
        ambiguous=matching.ambiguous,
        transitions=transitions,
    )


def _known(row: ItemRow) -> Known:
    return Known(
        key=row.key or 0,
        id=row.id,
        title=row.title,
        parent=row.parent,
        rank=row.rank,
        archived=row.archived_at is not None,
        added=row.origin == "added",
    )


def _make_way(session: Session, rows: Mapping[int, ItemRow], matching: Matching, moment: str) -> None:
    """Archive what is gone, and free the labels that others are about to take."""
    for key in matching.gone:
        rows[key].archived_at = moment
    renamed = {change.before_id for change in matching.renamed}
    relabelled = list(matching.displaced)
    relabelled += [(key, f"~{key}") for key in matching.keys if key is not None and rows[key].id in renamed]
    for key, label in relabelled:
        row = rows[key]
        session.add(FormerNameRow(item_key=key, id=row.id, title=row.title, at=moment))
        row.id = label
    session.flush()


def _update(row: ItemRow, item: Item, digests: Mapping[str, str]) -> bool:
    """Have the row as the plan's text has the item; returns whether its recipe was edited."""
    digest, before = digests.get(item.id, row.recipe_digest), row.recipe_digest
    data = value_text(item)
    if data != row.data or digest != before or row.archived_at is not None or row.origin != "plan":
        row.id, row.title, row.rank, row.parent = item.id, stored(item.title), item.rank, item.parent
        row.data, row.recipe_digest, row.origin, row.archived_at = data, digest, "plan", None
    return before is not None and digest != before


def add_item(session: Session, plan: str, item: Item, *, who: str, at: datetime) -> None:
    """Insert an item that the plan's text doesn't have; raises UsageError where its id is taken."""
    require_plan(session, plan)
    taken = select(ItemRow.title).where(col(ItemRow.plan) == plan, col(ItemRow.id) == item.id)
    title = session.exec(taken).first()
    if title is not None:
        raise UsageError(f"{plan} has an item {item.id} already: {title}", hint="give it another id")
    _add(session, plan, [item], {}, who=who, at=at, origin="added")


def _add(
    session: Session,
    plan: str,
    fresh: Sequence[Item],
    digests: Mapping[str, str],
    *,
    who: str,
    at: datetime,
    origin: str = "plan",
) -> tuple[Transition, ...]:
    """Insert new items; a status that the plan gives one (a checked box) is taken over this once."""
    rows = {
        item.id: ItemRow(
            plan=plan,
            id=item.id,
            title=stored(item.title),
            rank=item.rank,
            parent=item.parent,
            status=item.status,
            data=value_text(item),
            recipe_digest=digests.get(item.id),
            origin=origin,
            added_at=as_text(at),
        )
        for item in fresh
    }
    session.add_all(rows.values())
    session.flush()
    moves = {
        item.id: TransitionRow(
            item_key=rows[item.id].key or 0,
            at=as_text(at),
            after=item.status,
            who=stored(who),
            why=_AS_MARKED,
        )
        for item in fresh
        if item.status != "pending"
    }
    session.add_all(moves.values())
    session.flush()
    return tuple(
        Transition.model_validate(row.model_dump(exclude={"item_key"}) | {"plan": plan, "item": item})
        for item, row in moves.items()
    )

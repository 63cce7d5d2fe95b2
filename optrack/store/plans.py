"""Writes plans and their items: what a sync adds, renames, moves and archives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import bindparam, insert, select, update
from sqlmodel import Session, SQLModel

from optrack.errors import UsageError
from optrack.model.item import Transition
from optrack.model.plan import Item, Plan
from optrack.model.value import value_text
from optrack.plan.sync import Known, Matching, Synced, match_items
from optrack.store.contents import put_content
from optrack.store.rows import as_text, stored
from optrack.store.tables import FormerNameRow, PlanRow, TransitionRow

_AS_MARKED = "as marked in the plan"
_ITEMS = SQLModel.metadata.tables["item"]


def sync_plan(
    session: Session, plan: Plan, digests: Mapping[str, str], stamp: str, *, who: str, at: datetime
) -> Synced:
    """Bring the items of the plan up to date with its text, and return what changed."""
    row = session.get(PlanRow, plan.name)
    if row is not None and row.stamp == stamp:
        return Synced(plan=plan.name)
    text_digest = put_content(session, plan.text)
    known, rows = _known(session, plan.name)
    matching = match_items(known, plan.items)
    moment = as_text(at)
    _put_plan(session, plan, text_digest, stamp, moment)
    _make_way(session, known, matching, moment)
    kept = [(key, item) for key, item in zip(matching.keys, plan.items, strict=True) if key is not None]
    fresh = [item for key, item in zip(matching.keys, plan.items, strict=True) if key is None]
    edited = [item for key, item in kept if _edited(rows[key], digests.get(item.id))]
    _update(session, kept, rows, digests)
    transitions = _add(session, plan.name, fresh, digests, who=who, at=at)
    return Synced(
        plan=plan.name,
        first=row is None,
        added=tuple(item.id for item in fresh),
        archived=tuple(rows[key].id for key in matching.gone),
        revived=matching.revived,
        renamed=matching.renamed,
        moved=matching.moved,
        edited=tuple(item.id for item in edited),
        ambiguous=matching.ambiguous,
        transitions=transitions,
    )


class _Row:
    """What the sync must know of a stored item; `outside` if the last text didn't have it."""

    __slots__ = ("data", "id", "outside", "recipe_digest", "title")

    def __init__(
        self, label: str, title: str, data: str, recipe_digest: str | None, *, outside: bool
    ) -> None:
        self.id = label
        self.title = title
        self.data = data
        self.recipe_digest = recipe_digest
        self.outside = outside


def _known(session: Session, plan: str) -> tuple[list[Known], dict[int, _Row]]:
    known: list[Known] = []
    rows: dict[int, _Row] = {}
    statement = select(_ITEMS).where(_ITEMS.c.plan == plan).order_by(_ITEMS.c.rank)
    for row in session.connection().execute(statement):
        archived = row.archived_at is not None
        known.append(
            Known(
                key=row.key,
                id=row.id,
                title=row.title,
                parent=row.parent,
                rank=row.rank,
                archived=archived,
                added=row.origin == "added",
            )
        )
        rows[row.key] = _Row(
            row.id, row.title, row.data, row.recipe_digest, outside=archived or row.origin != "plan"
        )
    return known, rows


def _put_plan(session: Session, plan: Plan, text_digest: str, stamp: str, moment: str) -> None:
    session.merge(
        PlanRow(
            name=plan.name,
            path=stored(plan.path),
            title=stored(plan.title),
            digest=text_digest,
            stamp=stamp,
            synced_at=moment,
        )
    )
    session.flush()


def _make_way(session: Session, known: Sequence[Known], matching: Matching, moment: str) -> None:
    """Archive what is gone, and free the labels that others are about to take."""
    gone = [{"b_key": key} for key in matching.gone]
    if gone:
        statement = update(_ITEMS).where(_ITEMS.c.key == bindparam("b_key"))
        session.connection().execute(statement.values(archived_at=moment), gone)
    names = {entry.key: entry for entry in known}
    relabelled = list(matching.displaced)
    renamed = {change.before_id for change in matching.renamed}
    for key in (key for key in matching.keys if key is not None):
        if names[key].id in renamed:
            relabelled.append((key, f"~{key}"))
    former = [
        {"item_key": key, "id": names[key].id, "title": names[key].title, "at": moment}
        for key, _ in relabelled
    ]
    if former:
        session.execute(insert(FormerNameRow), former)
        statement = update(_ITEMS).where(_ITEMS.c.key == bindparam("b_key"))
        session.connection().execute(
            statement.values(id=bindparam("b_id")),
            [{"b_key": key, "b_id": label} for key, label in relabelled],
        )


def _edited(row: _Row, recipe_digest: str | None) -> bool:
    return recipe_digest is not None and row.recipe_digest is not None and row.recipe_digest != recipe_digest


def _update(
    session: Session, kept: Sequence[tuple[int, Item]], rows: Mapping[int, _Row], digests: Mapping[str, str]
) -> None:
    changed = []
    for key, item in kept:
        data = value_text(item)
        recipe = digests.get(item.id, rows[key].recipe_digest)
        before = rows[key]
        if data != before.data or recipe != before.recipe_digest or before.outside:
            changed.append(
                {
                    "b_key": key,
                    "b_id": item.id,
                    "b_title": stored(item.title),
                    "b_rank": item.rank,
                    "b_parent": item.parent,
                    "b_data": data,
                    "b_recipe": recipe,
                }
            )
    if not changed:
        return
    statement = update(_ITEMS).where(_ITEMS.c.key == bindparam("b_key"))
    session.connection().execute(
        statement.values(
            id=bindparam("b_id"),
            title=bindparam("b_title"),
            rank=bindparam("b_rank"),
            parent=bindparam("b_parent"),
            data=bindparam("b_data"),
            recipe_digest=bindparam("b_recipe"),
            origin="plan",
            archived_at=None,
        ),
        changed,
    )


def add_item(session: Session, plan: str, item: Item, *, who: str, at: datetime) -> None:
    """Insert an item that the plan's text doesn't have; raises UsageError where its id is taken."""
    if session.get(PlanRow, plan) is None:
        raise UsageError(f"the database knows no plan called {plan}")
    taken = select(_ITEMS.c.title).where(_ITEMS.c.plan == plan, _ITEMS.c.id == item.id)
    title = session.connection().execute(taken).scalar()
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
    moment = as_text(at)
    rows = [
        {
            "plan": plan,
            "id": item.id,
            "title": stored(item.title),
            "rank": item.rank,
            "parent": item.parent,
            "status": item.status,
            "data": value_text(item),
            "recipe_digest": digests.get(item.id),
            "origin": origin,
            "added_at": moment,
        }
        for item in fresh
    ]
    if rows:
        session.connection().execute(insert(_ITEMS), rows)
    marked = {item.id: item for item in fresh if item.status != "pending"}
    if not marked:
        return ()
    found = session.connection().execute(select(_ITEMS.c.id, _ITEMS.c.key).where(_ITEMS.c.plan == plan))
    keys: dict[str, int] = {label: key for label, key in found if label in marked}
    moves = [
        TransitionRow(item_key=keys[label], at=moment, after=item.status, who=stored(who), why=_AS_MARKED)
        for label, item in marked.items()
    ]
    session.add_all(moves)
    session.flush()
    return tuple(
        Transition(
            seq=move.seq or 0,
            plan=plan,
            item=item.id,
            at=at,
            before=None,
            after=item.status,
            who=move.who,
            why=move.why,
        )
        for move, item in zip(moves, marked.values(), strict=True)
    )

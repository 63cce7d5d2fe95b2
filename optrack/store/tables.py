"""The tables of the record, one row class each; rows never leave this package.

Every history refers to an item by its own number (`ItemRow.key`), never by its label, so that a renamed item
keeps it. Texts that repeat (plans, recipes, parts of snapshots) are in `content`, once, under their digest.
"""

from __future__ import annotations

from typing import TypeVar

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, text
from sqlmodel import Field, Session, SQLModel

Row = TypeVar("Row", bound=SQLModel)

_OPEN = text("outcome IS NULL")
_ALONE_AND_OPEN = text("outcome IS NULL AND paired_run IS NULL")


class ContentRow(SQLModel, table=True):
    """A text under the SHA-256 of its bytes."""

    __tablename__ = "content"
    digest: str = Field(primary_key=True)
    data: str


class PlanRow(SQLModel, table=True):
    """A plan by its name; `stamp` is the digest of all that the last sync read, `digest` the text's alone."""

    __tablename__ = "plan"
    name: str = Field(primary_key=True)
    path: str
    title: str
    digest: str = Field(foreign_key="content.digest")
    stamp: str
    synced_at: str


class ItemRow(SQLModel, table=True):
    """An item as the plan last had it (`data`, JSON), and where it stands.

    `origin` is `added` for one that was given to the database alone, and `plan` once the text has it too.
    """

    __tablename__ = "item"
    __table_args__ = (UniqueConstraint("plan", "id"),)
    key: int | None = Field(default=None, primary_key=True)
    plan: str = Field(foreign_key="plan.name")
    id: str
    title: str
    rank: int
    parent: str | None = None
    status: str
    data: str
    recipe_digest: str | None = None
    origin: str = "plan"
    added_at: str
    archived_at: str | None = None


class FormerNameRow(SQLModel, table=True):
    """An id and title that an item had until `at`."""

    __tablename__ = "former_name"
    seq: int | None = Field(default=None, primary_key=True)
    item_key: int = Field(foreign_key="item.key", index=True)
    id: str
    title: str
    at: str


class RunRow(SQLModel, table=True):
    """One execution; `live` runs have no outcome, and an item has at most one that isn't paired with another.

    `seq` is the order in which the runs were taken up, whatever the clock said; `seconds` what a run took by a
    clock that nobody sets; `launches` how many of its launches gave samples. `paired_run` is the candidate's run
    that a baseline's run is measured beside.
    """

    __tablename__ = "run"
    __table_args__ = (
        Index("ix_run_item", "item_key", "seq", "id"),
        Index("ix_run_plan", "plan", "seq", "id"),
        Index("ix_run_fingerprint", "fingerprint"),
        Index("ix_run_paired_run", "paired_run"),
        Index(
            "ux_run_live",
            "item_key",
            unique=True,
            sqlite_where=_ALONE_AND_OPEN,
            postgresql_where=_ALONE_AND_OPEN,
        ),
        Index(
            "ix_run_open",
            "id",
            sqlite_where=_OPEN,
            postgresql_where=_OPEN,
        ),
    )
    id: str = Field(primary_key=True)
    seq: int | None = None
    plan: str = Field(foreign_key="plan.name")
    item_key: int = Field(foreign_key="item.key")
    host: str
    started_at: str
    ended_at: str | None = None
    seconds: float | None = None
    launches: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    outcome: str | None = None
    stage: str
    failure: str | None = None
    fingerprint: str | None = None
    role: str
    paired_run: str | None = Field(default=None, foreign_key="run.id")
    actor: str
    plan_digest: str | None = Field(default=None, foreign_key="content.digest")
    recipe: str = Field(foreign_key="content.digest")
    recipe_digest: str
    runner_pid: int | None = None
    runner_start_ticks: int | None = None
    runner_boot_id: str | None = None


class TransitionRow(SQLModel, table=True):
    """A change of an item's status; the database refuses to change or delete one."""

    __tablename__ = "transition"
    seq: int | None = Field(default=None, primary_key=True)
    item_key: int = Field(foreign_key="item.key", index=True)
    at: str
    before: str | None = None
    after: str
    who: str
    why: str
    run: str | None = Field(default=None, foreign_key="run.id")


class EventRow(SQLModel, table=True):
    """A fact of a run (`data`, JSON) but for what is in tables of its own; `id` was given where it happened."""

    __tablename__ = "event"
    __table_args__ = (Index("ix_event_run", "run", "seq"), Index("ix_event_kind", "kind", "run", "seq"))
    seq: int | None = Field(default=None, primary_key=True)
    id: str = Field(unique=True)
    run: str = Field(foreign_key="run.id")
    at: str
    kind: str
    data: str


class SampleRow(SQLModel, table=True):
    """One measured value, and the event that brought it.

    What isn't finite is in `special` (`nan`, `inf`, `-inf`), never in `value`.
    """

    __tablename__ = "sample"
    __table_args__ = (
        CheckConstraint("(value IS NULL) <> (special IS NULL)", name="value_or_special"),
        Index("ix_sample_run", "run", "event"),
    )
    seq: int | None = Field(default=None, primary_key=True)
    run: str = Field(foreign_key="run.id")
    event: int = Field(foreign_key="event.seq")
    launch: int
    repetition: int
    metric: str
    unit: str
    better: str | None = None
    value: float | None = None
    special: str | None = None
    invalid: str | None = None


class PartRow(SQLModel, table=True):
    """A part of a run's snapshot, by the digest of its canonical JSON."""

    __tablename__ = "part"
    run: str = Field(foreign_key="run.id", primary_key=True)
    part: str = Field(primary_key=True)
    digest: str = Field(foreign_key="content.digest", index=True)


class JudgementRow(SQLModel, table=True):
    """A judgement as it was given; the newest `against` the baseline is the one in force."""

    __tablename__ = "judgement"
    __table_args__ = (Index("ix_judgement_item", "item_key", "against", "seq"),)
    seq: int | None = Field(default=None, primary_key=True)
    item_key: int = Field(foreign_key="item.key")
    at: str
    against: str
    candidate: str = Field(foreign_key="run.id")
    baseline: str | None = Field(default=None, foreign_key="run.id")
    data: str


class AcceptanceRow(SQLModel, table=True):
    """A difference that somebody declared harmless; without an item, for the whole plan."""

    __tablename__ = "acceptance"
    seq: int | None = Field(default=None, primary_key=True)
    plan: str = Field(foreign_key="plan.name", index=True)
    item_key: int | None = Field(default=None, foreign_key="item.key")
    field: str
    at: str
    who: str
    why: str


class AdoptionRow(SQLModel, table=True):
    """An item made the base of what follows, until it is undone."""

    __tablename__ = "adoption"
    seq: int | None = Field(default=None, primary_key=True)
    item_key: int = Field(foreign_key="item.key", index=True)
    run: str | None = Field(default=None, foreign_key="run.id")
    at: str
    who: str
    why: str
    undone_at: str | None = None
    undone_by: str | None = None


class NoteRow(SQLModel, table=True):
    """A remark on an item."""

    __tablename__ = "note"
    seq: int | None = Field(default=None, primary_key=True)
    item_key: int = Field(foreign_key="item.key", index=True)
    at: str
    who: str
    text: str


def added(session: Session, row: Row) -> Row:
    """Insert or update a row at once, and return it with the number that it has now."""
    session.add(row)
    session.flush()
    return row


def validated(kind: type[Row], /, **values: object) -> Row:
    """Return a row of these values, each checked against its column's type."""
    return kind.model_validate(values)

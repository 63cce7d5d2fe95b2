"""The whole schema: tables, the rules that the database itself keeps, and the views that are read."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from optrack.store.migrations.first_views import RULES, VIEWS

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _text(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.String(), nullable=nullable)


def _integer(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.Integer(), nullable=nullable)


_OPEN = sa.text("outcome IS NULL")
_ALONE_AND_OPEN = sa.text("outcome IS NULL AND beside IS NULL")


def upgrade() -> None:
    """Create everything."""
    op.create_table("content", _text("digest"), _text("data"), sa.PrimaryKeyConstraint("digest"))
    op.create_table(
        "plan",
        _text("name"),
        _text("path"),
        _text("title"),
        _text("digest"),
        _text("stamp"),
        _text("synced_at"),
        sa.ForeignKeyConstraint(["digest"], ["content.digest"]),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "item",
        _integer("key"),
        _text("plan"),
        _text("id"),
        _text("title"),
        _integer("rank"),
        _text("parent", nullable=True),
        _text("status"),
        _text("data"),
        _text("recipe_digest", nullable=True),
        _text("origin"),
        _text("added_at"),
        _text("archived_at", nullable=True),
        sa.ForeignKeyConstraint(["plan"], ["plan.name"]),
        sa.PrimaryKeyConstraint("key"),
        sa.UniqueConstraint("plan", "id"),
    )
    op.create_table(
        "acceptance",
        _integer("seq"),
        _text("plan"),
        _integer("item_key", nullable=True),
        _text("field"),
        _text("at"),
        _text("who"),
        _text("why"),
        _text("withdrawn_at", nullable=True),
        sa.ForeignKeyConstraint(["item_key"], ["item.key"]),
        sa.ForeignKeyConstraint(["plan"], ["plan.name"]),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index("ix_acceptance_plan", "acceptance", ["plan"])
    op.create_table(
        "former_name",
        _integer("seq"),
        _integer("item_key"),
        _text("id"),
        _text("title"),
        _text("at"),
        sa.ForeignKeyConstraint(["item_key"], ["item.key"]),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index("ix_former_name_item_key", "former_name", ["item_key"])
    op.create_table(
        "note",
        _integer("seq"),
        _integer("item_key"),
        _text("at"),
        _text("who"),
        _text("text"),
        sa.ForeignKeyConstraint(["item_key"], ["item.key"]),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index("ix_note_item_key", "note", ["item_key"])
    op.create_table(
        "run",
        _text("id"),
        _integer("seq", nullable=True),
        _text("plan"),
        _integer("item_key"),
        _text("host"),
        _text("started_at"),
        _text("ended_at", nullable=True),
        sa.Column("seconds", sa.Float(), nullable=True),
        _text("outcome", nullable=True),
        _text("stage"),
        _text("failure", nullable=True),
        _text("fingerprint", nullable=True),
        _text("role"),
        _text("beside", nullable=True),
        _text("actor"),
        _text("plan_digest", nullable=True),
        _text("recipe"),
        _text("recipe_digest"),
        _integer("runner_pid", nullable=True),
        _integer("runner_start_ticks", nullable=True),
        _text("runner_boot_id", nullable=True),
        sa.ForeignKeyConstraint(["beside"], ["run.id"]),
        sa.ForeignKeyConstraint(["item_key"], ["item.key"]),
        sa.ForeignKeyConstraint(["plan"], ["plan.name"]),
        sa.ForeignKeyConstraint(["plan_digest"], ["content.digest"]),
        sa.ForeignKeyConstraint(["recipe"], ["content.digest"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_run_fingerprint", "run", ["fingerprint"])
    op.create_index("ix_run_item", "run", ["item_key", "seq", "id"])
    op.create_index(
        "ix_run_open",
        "run",
        ["id"],
        sqlite_where=sa.text("outcome IS NULL"),
        postgresql_where=sa.text("outcome IS NULL"),
    )
    op.create_index("ix_run_plan", "run", ["plan", "seq", "id"])
    op.create_index(
        "ux_run_live",
        "run",
        ["item_key"],
        unique=True,
        sqlite_where=sa.text("outcome IS NULL AND beside IS NULL"),
        postgresql_where=sa.text("outcome IS NULL AND beside IS NULL"),
    )
    op.create_table(
        "adoption",
        _integer("seq"),
        _integer("item_key"),
        _text("run", nullable=True),
        _text("at"),
        _text("who"),
        _text("why"),
        _text("undone_at", nullable=True),
        _text("undone_by", nullable=True),
        sa.ForeignKeyConstraint(["item_key"], ["item.key"]),
        sa.ForeignKeyConstraint(["run"], ["run.id"]),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index("ix_adoption_item_key", "adoption", ["item_key"])
    op.create_table(
        "artifact",
        _integer("seq"),
        _text("run"),
        _text("path"),
        sa.ForeignKeyConstraint(["run"], ["run.id"]),
        sa.PrimaryKeyConstraint("seq"),
        sa.UniqueConstraint("run", "path"),
    )
    op.create_table(
        "event",
        _integer("seq"),
        _text("run"),
        _text("at"),
        _text("kind"),
        _text("data"),
        sa.ForeignKeyConstraint(["run"], ["run.id"]),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index("ix_event_run", "event", ["run", "seq"])
    op.create_table(
        "judgement",
        _integer("seq"),
        _integer("item_key"),
        _text("at"),
        _text("against"),
        _text("candidate"),
        _text("baseline", nullable=True),
        _text("data"),
        sa.ForeignKeyConstraint(["baseline"], ["run.id"]),
        sa.ForeignKeyConstraint(["candidate"], ["run.id"]),
        sa.ForeignKeyConstraint(["item_key"], ["item.key"]),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index("ix_judgement_item", "judgement", ["item_key", "against", "seq"])
    op.create_table(
        "part",
        _text("run"),
        _text("part"),
        _text("digest"),
        sa.ForeignKeyConstraint(["digest"], ["content.digest"]),
        sa.ForeignKeyConstraint(["run"], ["run.id"]),
        sa.PrimaryKeyConstraint("run", "part"),
    )
    op.create_index("ix_part_digest", "part", ["digest"])
    op.create_table(
        "process",
        _text("run"),
        _integer("pid"),
        _integer("start_ticks"),
        _text("boot_id"),
        _text("role"),
        sa.ForeignKeyConstraint(["run"], ["run.id"]),
        sa.PrimaryKeyConstraint("run", "pid", "start_ticks", "boot_id"),
    )
    op.create_table(
        "run_note",
        _integer("seq"),
        _text("run"),
        _text("text"),
        sa.ForeignKeyConstraint(["run"], ["run.id"]),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index("ix_run_note_run", "run_note", ["run"])
    op.create_table(
        "sample",
        _integer("seq"),
        _text("run"),
        _integer("launch"),
        _integer("repetition"),
        _text("metric"),
        _text("unit"),
        _text("better", nullable=True),
        sa.Column("value", sa.Float(), nullable=True),
        _text("special", nullable=True),
        _text("invalid", nullable=True),
        sa.CheckConstraint("(value IS NULL) <> (special IS NULL)", name="value_or_special"),
        sa.ForeignKeyConstraint(["run"], ["run.id"]),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index("ix_sample_run", "sample", ["run"])
    op.create_table(
        "side_line",
        _text("id"),
        _text("run"),
        sa.ForeignKeyConstraint(["run"], ["run.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "stage",
        _integer("seq"),
        _text("run"),
        _integer("launch"),
        _text("stage"),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["run.id"]),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index("ix_stage_run", "stage", ["run"])
    op.create_table(
        "transition",
        _integer("seq"),
        _integer("item_key"),
        _text("at"),
        _text("before", nullable=True),
        _text("after"),
        _text("who"),
        _text("why"),
        _text("run", nullable=True),
        sa.ForeignKeyConstraint(["item_key"], ["item.key"]),
        sa.ForeignKeyConstraint(["run"], ["run.id"]),
        sa.PrimaryKeyConstraint("seq"),
    )
    op.create_index("ix_transition_item_key", "transition", ["item_key"])
    for statement in (*RULES, *VIEWS):
        op.execute(sa.text(statement))

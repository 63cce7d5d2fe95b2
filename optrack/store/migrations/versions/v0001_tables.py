"""The tables as the rows describe them, what the database keeps by itself, and the views."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel import SQLModel

from optrack.store.migrations.first_views import RULES, VIEWS

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create everything."""
    SQLModel.metadata.create_all(op.get_bind())
    for statement in (*RULES, *VIEWS):
        op.execute(sa.text(statement))

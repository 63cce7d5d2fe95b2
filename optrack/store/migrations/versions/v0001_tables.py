"""The tables as the rows describe them, what the database keeps by itself, and the views."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlmodel import SQLModel

from optrack.store.migrations.ddl import VIEWS, triggers

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create everything."""
    connection = op.get_bind()
    SQLModel.metadata.create_all(connection)
    for statement in (*triggers(connection.dialect.name), *VIEWS):
        op.execute(sa.text(statement))

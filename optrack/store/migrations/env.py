"""Runs the migrations on the connection that `Store.open` hands over, inside its transaction."""

from __future__ import annotations

from alembic import context
from sqlmodel import SQLModel

from optrack.store import tables

connection = context.config.attributes["connection"]
assert tables.RunRow.metadata is SQLModel.metadata
context.configure(connection=connection, target_metadata=SQLModel.metadata, render_as_batch=True)
context.run_migrations()

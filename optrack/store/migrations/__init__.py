"""How the schema came about, one Alembic migration a step; opening a database to write applies them."""

"""How the schema came about, one Alembic migration a step; databases are brought up to date when opened to write."""

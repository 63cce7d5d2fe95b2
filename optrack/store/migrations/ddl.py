"""What the database keeps by itself, in each dialect, and the views through which it is read, in plain SQL."""

from __future__ import annotations

_KEPT = (
    ("transition_is_not_changed", "UPDATE", "transition", "", "a recorded transition is never changed"),
    ("transition_is_not_deleted", "DELETE", "transition", "", "a recorded transition is never deleted"),
    (
        "ended_run_is_not_changed",
        "UPDATE",
        "run",
        "OLD.outcome IS NOT NULL AND OLD.outcome <> 'interrupted'",
        "a run that has ended is never changed",
    ),
    ("run_is_not_deleted", "DELETE", "run", "", "a recorded run is never deleted"),
)
"""Name, change, table, condition and message of what is refused.

A run closed as interrupted may still get the outcome that its runner had put down before it died.
"""


def triggers(dialect: str) -> list[str]:
    """Return the statements that make a database of this dialect (`sqlite`, `postgresql`) refuse such changes."""
    return [
        text for rule in _KEPT for text in (_sqlite(*rule) if dialect == "sqlite" else _postgresql(*rule))
    ]


def _sqlite(name: str, change: str, table: str, condition: str, message: str) -> list[str]:
    when = f"WHEN {condition} " if condition else ""
    return [
        f"CREATE TRIGGER {name} BEFORE {change} ON {table} {when}BEGIN SELECT RAISE(ABORT, '{message}'); END"
    ]


def _postgresql(name: str, change: str, table: str, condition: str, message: str) -> list[str]:
    when = f"WHEN ({condition}) " if condition else ""
    return [
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE integrity_constraint_violation USING MESSAGE = '{message}'; END $$",
        f"CREATE TRIGGER {name} BEFORE {change} ON {table} FOR EACH ROW {when}EXECUTE FUNCTION {name}()",
    ]


VIEWS: tuple[str, ...] = (
    """
    CREATE VIEW item_state AS
    SELECT i.key, i.plan, i.id, i.rank, i.status, i.data, i.recipe_digest,
           CASE WHEN i.archived_at IS NULL THEN 0 ELSE 1 END AS archived,
           CASE WHEN i.origin = 'added' THEN 1 ELSE 0 END AS added,
           (SELECT count(*) FROM run r WHERE r.item_key = i.key) AS runs,
           last.id AS last_run, last.outcome AS last_outcome,
           j.data AS judgement,
           CASE WHEN c.recipe_digest <> '' AND c.recipe_digest <> i.recipe_digest THEN 1
                WHEN b.recipe_digest <> '' AND b.recipe_digest <> bi.recipe_digest THEN 1
                ELSE 0 END AS stale,
           CASE WHEN EXISTS (SELECT 1 FROM adoption a WHERE a.item_key = i.key AND a.undone_at IS NULL)
                THEN 1 ELSE 0 END AS adopted
    FROM item i
    LEFT JOIN run last ON last.id = (
        SELECT r.id FROM run r WHERE r.item_key = i.key ORDER BY r.seq DESC, r.id DESC LIMIT 1
    )
    LEFT JOIN judgement j ON j.seq = (
        SELECT max(n.seq) FROM judgement n WHERE n.item_key = i.key AND n.against = 'baseline'
    )
    LEFT JOIN run c ON c.id = j.candidate
    LEFT JOIN run b ON b.id = j.baseline
    LEFT JOIN item bi ON bi.key = b.item_key
    """,
    """
    CREATE VIEW run_record AS
    SELECT r.*, i.id AS item FROM run r JOIN item i ON i.key = r.item_key
    """,
    """
    CREATE VIEW transition_record AS
    SELECT t.seq, i.plan, i.id AS item, t.at, t.before, t.after, t.who, t.why, t.run
    FROM transition t JOIN item i ON i.key = t.item_key
    """,
    """
    CREATE VIEW judgement_record AS
    SELECT j.seq, i.plan, i.id AS item, j.at, j.against, j.candidate, j.baseline, j.data
    FROM judgement j JOIN item i ON i.key = j.item_key
    """,
    """
    CREATE VIEW acceptance_record AS
    SELECT a.seq, a.plan, a.field, i.id AS item, a.at, a.who, a.why
    FROM acceptance a LEFT JOIN item i ON i.key = a.item_key
    """,
    """
    CREATE VIEW adoption_record AS
    SELECT a.seq, i.plan, i.id AS item, a.run, a.at, a.who, a.why, a.undone_at, a.undone_by
    FROM adoption a JOIN item i ON i.key = a.item_key
    """,
    """
    CREATE VIEW note_record AS
    SELECT n.seq, n.item_key, i.plan, i.id AS item, n.at, n.who, n.text
    FROM note n JOIN item i ON i.key = n.item_key
    """,
)

"""What the first schema keeps by itself, and the views through which it is read, as SQL."""

RULES: tuple[str, ...] = (
    """
    CREATE TRIGGER transition_is_not_changed BEFORE UPDATE ON transition
    BEGIN SELECT RAISE(ABORT, 'a recorded transition is never changed'); END
    """,
    """
    CREATE TRIGGER transition_is_not_deleted BEFORE DELETE ON transition
    BEGIN SELECT RAISE(ABORT, 'a recorded transition is never deleted'); END
    """,
    """
    CREATE TRIGGER ended_run_is_not_changed BEFORE UPDATE ON run
    WHEN OLD.outcome IS NOT NULL AND OLD.outcome <> 'interrupted'
    BEGIN SELECT RAISE(ABORT, 'a run that has ended is never changed'); END
    """,
    """
    CREATE TRIGGER run_is_not_deleted BEFORE DELETE ON run
    BEGIN SELECT RAISE(ABORT, 'a recorded run is never deleted'); END
    """,
)
"""A run closed as interrupted may still get the outcome that its runner had put down before it died."""

VIEWS: tuple[str, ...] = (
    """
    CREATE VIEW plan_state AS
    SELECT p.name, p.path, p.title, p.digest, p.synced_at,
           (SELECT count(*) FROM item i WHERE i.plan = p.name AND i.archived_at IS NULL) AS items,
           (SELECT count(*) FROM item i WHERE i.plan = p.name AND i.archived_at IS NOT NULL) AS archived
    FROM plan p
    """,
    """
    CREATE VIEW judgement_in_force AS
    SELECT j.item_key, j.seq, j.data, c.recipe_digest AS candidate_recipe, b.recipe_digest AS baseline_recipe,
           bi.recipe_digest AS baseline_recipe_now
    FROM judgement j
    JOIN run c ON c.id = j.candidate
    LEFT JOIN run b ON b.id = j.baseline
    LEFT JOIN item bi ON bi.key = b.item_key
    WHERE j.against = 'baseline'
      AND j.seq = (
          SELECT max(n.seq) FROM judgement n WHERE n.item_key = j.item_key AND n.against = 'baseline'
      )
    """,
    """
    CREATE VIEW item_state AS
    SELECT i.key, i.plan, i.id, i.rank, i.status, i.data, i.recipe_digest,
           CASE WHEN i.archived_at IS NULL THEN 0 ELSE 1 END AS archived,
           CASE WHEN i.origin = 'added' THEN 1 ELSE 0 END AS added,
           (SELECT count(*) FROM run r WHERE r.item_key = i.key) AS runs,
           last.id AS last_run, last.outcome AS last_outcome,
           j.data AS judgement,
           CASE WHEN j.candidate_recipe <> '' AND j.candidate_recipe <> i.recipe_digest THEN 1
                WHEN j.baseline_recipe <> '' AND j.baseline_recipe <> j.baseline_recipe_now THEN 1
                ELSE 0 END AS stale,
           CASE WHEN EXISTS (SELECT 1 FROM adoption a WHERE a.item_key = i.key AND a.undone_at IS NULL)
                THEN 1 ELSE 0 END AS adopted
    FROM item i
    LEFT JOIN run last ON last.id = (
        SELECT r.id FROM run r WHERE r.item_key = i.key ORDER BY r.seq DESC, r.id DESC LIMIT 1
    )
    LEFT JOIN judgement_in_force j ON j.item_key = i.key
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
    WHERE a.withdrawn_at IS NULL
    """,
    """
    CREATE VIEW adoption_record AS
    SELECT a.seq, i.plan, i.id AS item, a.run, a.at, a.who, a.why
    FROM adoption a JOIN item i ON i.key = a.item_key
    WHERE a.undone_at IS NULL
    """,
    """
    CREATE VIEW note_record AS
    SELECT n.seq, n.item_key, i.plan, i.id AS item, n.at, n.who, n.text
    FROM note n JOIN item i ON i.key = n.item_key
    """,
)

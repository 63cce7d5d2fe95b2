"""Plans, runs and samples as the tests of the record need them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from optrack.model.judgement import Judgement
from optrack.model.metrics import Sample, metric_named
from optrack.model.plan import Item, Plan, Status
from optrack.model.run import Run, new_run_id
from optrack.model.value import digest

NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def later(seconds: float) -> datetime:
    """Return the time so many seconds past noon."""
    return NOON + timedelta(seconds=seconds)


def an_item(
    label: str, title: str | None = None, *, parent: str | None = None, status: Status = "pending"
) -> Item:
    """Return an item; `a_plan` gives it its rank and line."""
    return Item(id=label, title=title or f"Title of {label}", line=1, rank=0, parent=parent, status=status)


def a_plan(*items: Item, name: str = "fast", text: str | None = None) -> Plan:
    """Return a plan of these items in this order."""
    placed = tuple(
        item.model_copy(update={"rank": rank, "line": 10 * rank + 1}) for rank, item in enumerate(items)
    )
    written = text or "\n".join(f"## {item.id}: {item.title}" for item in placed)
    return Plan(name=name, path=f"plans/{name}.md", title="Fast verify", text=written, items=placed)


def a_run(item: str, seconds: float = 0.0, *, plan: str = "fast", **fields: Any) -> Run:
    """Return a run of the item that starts so many seconds past noon."""
    at = later(seconds)
    recipe: Mapping[str, Any] = fields.pop("recipe", {"env": {"NCCL_PROTO": "LL", "NCCL_ALGO": "Ring"}})
    return Run(
        id=fields.pop("id", None) or new_run_id(at, item),
        plan=plan,
        item=item,
        host="gpu1",
        started_at=at,
        actor=fields.pop("actor", "ann"),
        recipe=recipe,
        **fields,
    )


def a_sample(value: float, *, launch: int = 0, repetition: int = 0, invalid: str | None = None) -> Sample:
    """Return a sample of the output throughput."""
    return Sample(
        metric=metric_named("output_throughput"),
        value=value,
        launch=launch,
        repetition=repetition,
        invalid=invalid,
    )


def a_judgement(candidate: str, baseline: str | None = None, verdict: str = "improvement") -> Judgement:
    """Return a judgement of the run."""
    return Judgement.model_validate(
        {"verdict": verdict, "baseline": baseline, "candidate": candidate, "metric": "output_throughput"}
    )


def fill(database: Path, runs: int) -> list[str]:
    """Put many runs of 1A into the database, each judged, and return their ids."""
    names = [f"20261129T{number:06}-aaaa-1A" for number in range(runs)]
    with closing(sqlite3.connect(database)) as connection, connection:
        key, recipe = connection.execute(
            "SELECT key, ? FROM item WHERE id = '1A'", (digest("{}"),)
        ).fetchone()
        connection.execute("INSERT INTO content (digest, data) VALUES (?, '{}')", (recipe,))
        columns = "id, plan, item_key, host, started_at, stage, role, actor, recipe, recipe_digest, outcome"
        values = "?, 'fast', ?, 'h', ?, 'teardown', 'candidate', 'ann', ?, 'd', 'succeeded'"
        connection.executemany(
            f"INSERT INTO run ({columns}) VALUES ({values})",
            [(name, key, "2026-11-29T12:00:00.000000Z", recipe) for name in names],
        )
        judged = [(key, name, a_judgement(name).model_dump_json()) for name in names]
        connection.executemany(
            "INSERT INTO judgement (item_key, at, against, candidate, data) "
            "VALUES (?, '2026-11-29T12:00:00.000000Z', 'baseline', ?, ?)",
            judged,
        )
    return names

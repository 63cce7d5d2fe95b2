"""Fills a project with as many items and runs as wanted, through the record: `python -m tests.tui.filled FOLDER`.

Every item's run has a baseline's run beside it; all are finished, with samples and stages.
"""

from __future__ import annotations

import argparse
from datetime import UTC, datetime, timedelta
from pathlib import Path

from optrack.app.project import Project
from optrack.model.events import RunEnded, SamplesAdded
from optrack.model.metrics import Sample, metric_named
from optrack.model.plan import Plan, Status
from optrack.model.run import Run, new_run_id
from optrack.model.value import recipe_digest
from optrack.settings import load_settings
from optrack.store.write import Store

_BEGAN = datetime(2026, 3, 1, tzinfo=UTC)
_HEAD = "---\ntitle: A long campaign\n---\n\n```yaml recipe\nlaunch: sleep 60\nbench: 'true'\n```\n\n## Baseline\n"
_ITEM = (
    "\n### {group}.{number}: Try {number} with fewer channels\n\n- **Expected gain**: 1-3%\n"
    "- **Effort**: 20 minutes\n\n```yaml recipe\nenv: {{CHANNELS: {number}}}\n```\n"
)
_GROUP = 20


def plan_text(items: int) -> str:
    """Return a plan with so many items, in groups."""
    parts = [_HEAD]
    for number in range(items):
        group = number // _GROUP + 1
        parts += [f"\n## {group}: Group {group}\n"] if number % _GROUP == 0 else []
        parts.append(_ITEM.format(group=group, number=number % _GROUP + 1))
    return "".join(parts)


def fill(folder: Path, items: int, runs: int) -> None:
    """Write the plan and record the runs, one item after the other and over again."""
    (folder / "plans").mkdir(parents=True)
    (folder / "plans" / "long.md").write_text(plan_text(items), encoding="utf-8")
    (folder / "optrack.toml").write_text("", encoding="utf-8")
    project = Project(load_settings(folder))
    plan = project.campaign().plan
    runnable = [item.id for item in plan.items if item.recipe is not None and item.id != plan.baseline]
    for number in range(runs // 2):
        _session(project.store, plan, runnable[number % len(runnable)], number)


def _session(store: Store, plan: Plan, item: str, number: int) -> None:
    at = _BEGAN + timedelta(seconds=20 * number)
    mine = _run(plan, item, at)
    store.claim(mine, from_statuses=("pending", "completed"))
    other = _run(plan, plan.baseline, at, beside=mine.id)
    store.claim(other)
    for run, level in ((mine, 104.0), (other, 100.0)):
        store.record(
            run.id,
            SamplesAdded(samples=tuple([_sample(level + number % 3, repetition) for repetition in range(3)])),
        )
        after: Status | None = None if run.beside else "completed"
        end = RunEnded(outcome="succeeded", stage="teardown", item_after=after, why="done")
        store.record(run.id, end, at + timedelta(seconds=15))


def _run(plan: Plan, item: str, at: datetime, *, beside: str | None = None) -> Run:
    recipe = {"launch": "sleep 60", "bench": {"command": "true"}}
    return Run(
        id=new_run_id(at, item),
        plan=plan.name,
        item=item,
        host="gpu1",
        started_at=at,
        actor="ann",
        recipe=recipe,
        recipe_digest=recipe_digest(recipe),
        role="baseline" if beside else "candidate",
        beside=beside,
    )


def _sample(value: float, repetition: int) -> Sample:
    return Sample(metric=metric_named("output_throughput"), value=value, launch=0, repetition=repetition)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--items", type=int, default=1000)
    options.add_argument("--runs", type=int, default=0)
    chosen = options.parse_args()
    fill(chosen.folder, chosen.items, chosen.runs)


if __name__ == "__main__":
    main()

"""A project whose database is filled as runs would fill it: gained, failed, undecided, unfair, marked by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from optrack.app import actions
from optrack.app.campaign import Campaign
from optrack.app.evaluator import Evaluator
from optrack.app.project import Project
from optrack.app.report_data import log_data
from optrack.judge.failures import plain_failure
from optrack.model.events import PartsCaptured, RunEnded, RunJudged, SamplesAdded, StageEnded
from optrack.model.metrics import Metric, Sample
from optrack.model.plan import Status
from optrack.model.run import Failure, Outcome, Run
from optrack.model.snapshot import Snapshot
from optrack.render.log import Log
from optrack.settings import load_settings

BEGUN = datetime(2026, 11, 1, 9, 0, tzinfo=UTC)
THROUGHPUT = Metric(name="output_throughput", unit="tok/s", better="higher")
TTFT = Metric(name="median_ttft_ms", unit="ms", better="lower")
PLAN = """---
title: Faster all-reduces
metric: {name: output_throughput, unit: tok/s, better: higher}
target: 120 tok/s
min_effect: 2%
---

```yaml recipe
launch: python server.py --port $PORT
env: {NCCL_ALGO: Ring, NCCL_MAX_NCHANNELS: 16}
ready: {http: /health}
bench: python bench.py --port $PORT
launches: 3
repetitions: 2
```

## Baseline

## Priority 1: NCCL tuning

### 1A: Tree algorithm

- **Hypothesis**: fewer steps than a ring
- **Expected gain**: 5-10 %

```yaml recipe
env: {NCCL_ALGO: Tree}
```

### 1B: Fewer channels

- **Expected gain**: 10-20 %
- **Effort**: 30 minutes

```yaml recipe
env: {NCCL_MAX_NCHANNELS: 2}
```

### 1C: More threads

```yaml recipe
env: {NCCL_NTHREADS: 512}
```

## Priority 2: Fusion patch

- **Needs**: 1B

```yaml recipe
env: {FUSE: 1}
```

## Priority 3: Read the profile

By hand.
"""


class Filled:
    """A project in a folder, and the means to record runs in it."""

    def __init__(self, folder: Path, plan: str = PLAN) -> None:
        self.folder = folder
        (folder / "plans").mkdir(parents=True)
        (folder / "optrack.toml").write_text("", encoding="utf-8")
        self.plan_file = folder / "plans" / "tuning.md"
        self.plan_file.write_text(plan, encoding="utf-8")
        self.project = Project(load_settings(folder, {"OPTRACK_ACTOR": "ada"}))
        self.store = self.project.store
        self.minutes = 0

    @property
    def campaign(self) -> Campaign:
        """The plan and where its items stand now."""
        return self.project.campaign()

    def log(self) -> Log:
        """All that the progress log is made of now."""
        return log_data(self.campaign)

    def note(self, item: str, text: str) -> None:
        """Attach a remark to an item."""
        actions.note(self.project, item, text)

    def mark(self, item: str, status: Status, *, why: str) -> None:
        """Set an item's status by hand."""
        actions.mark(self.project, item, status, why=why)

    def run(
        self,
        item: str,
        launches: Sequence[Sequence[float]],
        *,
        beside: Run | None = None,
        failure: Failure | None = None,
        snapshot: Snapshot | None = None,
        outcome: Outcome | None = None,
        judged: bool = True,
    ) -> Run:
        """Record a run that has ended; it is judged unless it is the baseline's."""
        campaign, store = self.campaign, self.store
        self.minutes += 10
        at = BEGUN + timedelta(minutes=self.minutes)
        data = campaign.resolved(campaign.item(item)).data
        run = Run(
            id=f"{at:%Y%m%dT%H%M%S}-{self.minutes:04d}-{item}",
            plan=campaign.plan.name,
            item=item,
            host="gpu-host",
            started_at=at,
            actor="ada",
            role="baseline" if beside else "candidate",
            beside=beside.id if beside else None,
            recipe=data,
        )
        assert store.claim(run, from_statuses=("pending", "completed", "cancelled"))
        store.record(run.id, PartsCaptured.of(snapshot or snapshot_of(data.get("env", {}))))
        store.record(run.id, SamplesAdded(samples=samples_of(launches)))
        store.record(run.id, StageEnded(stage="ready", seconds=61.5))
        if beside is None and judged:
            return self.end(run, failure=failure, outcome=outcome)
        if beside is not None:
            self._close(run, "succeeded", None, None)
        return run

    def end(self, run: Run, *, failure: Failure | None = None, outcome: Outcome | None = None) -> Run:
        """Close a run, judging it against the baseline that it belongs to."""
        store = self.store
        outcome = outcome or ("failed" if failure else "succeeded")
        judgement = None
        if run.item != self.campaign.plan.baseline:
            whole = store.reader.run(run.id)
            ended = whole.model_copy(update={"outcome": outcome, "failure": failure, "stage": "ready"})
            judgement = Evaluator(store.reader, self.campaign.plan).judge(ended)
            store.record(
                judgement.candidate, RunJudged(judgement=judgement), run.started_at + timedelta(minutes=5)
            )
        self._close(run, outcome, failure, judgement.verdict if judgement else None)
        return store.reader.run(run.id)

    def _close(self, run: Run, outcome: Outcome, failure: Failure | None, verdict: str | None) -> None:
        self.store.record(
            run.id,
            RunEnded(
                outcome=outcome,
                stage="ready" if failure else "teardown",
                failure=failure,
                item_after="completed",
                why="measured",
                verdict=verdict,
            ),
            run.started_at + timedelta(minutes=5),
        )

    def pair(self, item: str, ours: Sequence[Sequence[float]], theirs: Sequence[Sequence[float]]) -> Run:
        """Record a run of an item with a run of the baseline interleaved, and judge it."""
        run = self.run(item, ours, judged=False)
        self.run(self.campaign.plan.baseline, theirs, beside=run)
        return self.end(run)


def samples_of(launches: Sequence[Sequence[float]]) -> tuple[Sample, ...]:
    """Return samples of two metrics for the values of one."""
    return tuple(
        Sample(metric=metric, value=value if metric is THROUGHPUT else 1000 / value, launch=n, repetition=r)
        for n, launch in enumerate(launches)
        for r, value in enumerate(launch)
        for metric in (THROUGHPUT, TTFT)
    )


def snapshot_of(env: Mapping[str, Any], **parts: Any) -> Snapshot:
    """Return a snapshot in which only the variables differ from run to run."""
    variables = {key: str(value) for key, value in env.items()}
    whole: dict[str, Any] = {
        "git": {"project": {"state": "branch", "branch": "main", "commit": "a" * 40, "root": "/src"}},
        "env": {"server": variables, "passed": variables, "observed_in": "workers"},
        "packages": {"python": {"version": "3.11.9"}, "distributions": {"torch": "2.9.0"}},
        "hardware": {"host": "gpu-host", "cpu": {"model": "EPYC 9555", "count": 64}, "gpus": {"count": 0}},
    }
    return Snapshot(**(whole | parts))


STEADY = ((80.0, 80.4), (80.2, 79.9), (80.1, 80.3))
FASTER = ((96.0, 96.3), (96.4, 95.8), (96.2, 96.1))
CRASH = plain_failure(
    "nccl",
    "NCCL error: invalid usage while CUDA graphs were captured",
    "loading\nNCCL error: invalid usage while CUDA graphs were captured\nbye\n",
)


def filled(folder: Path) -> Filled:
    """Return a project with one result of each kind."""
    project = Filled(folder)
    project.run("baseline", STEADY)
    project.run("1A", (), failure=CRASH)
    project.pair("1B", FASTER, STEADY)
    unfair = snapshot_of(
        {"NCCL_ALGO": "Ring", "NCCL_MAX_NCHANNELS": "16", "NCCL_NTHREADS": "512", "LD_PRELOAD": "x"}
    )
    project.run("1C", FASTER, snapshot=unfair)
    project.note("1A", "Try again after the upgrade")
    project.mark("3", "completed", why="read on paper")
    project.store.accept(
        project.campaign.plan.name, "hardware.boot.id", who="ada", why="rebooted for the driver", at=BEGUN
    )
    return project

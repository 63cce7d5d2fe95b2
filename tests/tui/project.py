"""A small real project for the screens: a result of each kind in its record, and runs in progress elsewhere."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

from optrack.app.project import Project
from optrack.model.events import (
    Event,
    PartsCaptured,
    RepetitionMeasured,
    RunStarted,
    StageEnded,
    StageStarted,
)
from optrack.model.run import Run, Stage
from optrack.settings import load_settings
from tests.report.filled import CRASH, FASTER, filled, samples_of, snapshot_of

CONFOUNDED = """
### 1D: Tree and fewer channels

- **Needs**: 2
- **Risk**: low

```yaml recipe
env: {NCCL_ALGO: Tree, NCCL_MAX_NCHANNELS: 4}
```
"""
LOG_LINE = "[TP0] \x1b[32mINFO\x1b[0m Decode batch. #token: {}, accept len: 2.05, gen throughput: 98.21\n"


def fill(folder: Path) -> Path:
    """Make the project: gained, failed twice, unfair, marked by hand, blocked, and one that is next."""
    project = filled(folder)
    project.run("1A", (), failure=CRASH)
    project.plan_file.write_text(
        project.plan_file.read_text(encoding="utf-8").replace(
            "## Priority 2", f"{CONFOUNDED.lstrip()}\n## Priority 2"
        ),
        encoding="utf-8",
    )
    project.project.close()
    with_logs(folder, newest_run(folder, "1B"))
    return folder


def newest_run(folder: Path, item: str) -> str:
    """Return the id of an item's latest run."""
    with closing(Project(load_settings(folder))) as project:
        return project.reader.runs(project.written.name, item)[0].id


def with_logs(folder: Path, run: str) -> Path:
    """Write the server's log and the benchmark's output of a run, with colours, brackets and odd bytes; return
    their folder."""
    logs = folder / ".optrack" / "runs" / run / "launch-0"
    logs.mkdir(parents=True, exist_ok=True)
    lines = [LOG_LINE.format(200 + 33 * number) for number in range(400)]
    lines.append("[/usr/lib/libnccl.so.2] \x1b[31mWARN\x1b[0m Decode batch [red] is not red [/]\n")
    odd = b"a progress bar\r50%\rdone \xff\x96 \x1b]0;title\x07\x1b[2Jend\n"
    (logs / "server.log").write_bytes("".join(lines).encode() + odd)
    (logs / "bench.log").write_text("Output token throughput (tok/s):  98.95\nMean ITL (ms):  10.1\n")
    return logs


def begin_run(folder: Path, item: str, began: datetime) -> tuple[str, Path]:
    """Begin a run on another host: one launch is over, the second measures; return its id and its logs' folder."""
    project = Project(load_settings(folder))
    campaign = project.campaign()
    recipe = campaign.resolved(campaign.item(item)).data
    run = Run(
        id=f"{began:%Y%m%dT%H%M%S}-live-{item}",
        plan=campaign.plan.name,
        item=item,
        host="gpu-07",
        started_at=began,
        actor="ada",
        recipe=recipe,
    )
    store = project.store
    assert store.claim(run, from_statuses=("pending", "completed"))
    store.record(run.id, PartsCaptured.of(snapshot_of(recipe["env"])), began)
    at = began
    for event, seconds in _events(item):
        at += timedelta(seconds=seconds)
        store.record(run.id, event, at)
    project.close()
    return run.id, with_logs(folder, run.id)


def _events(item: str) -> list[tuple[Event, float]]:
    stages: tuple[Stage, ...] = ("preflight", "setup", "launch", "ready")
    events: list[tuple[Event, float]] = [(RunStarted(item=item, log_dir="", launches=3, repetitions=2), 0.0)]
    for launch, values in enumerate((FASTER[0], FASTER[1])):
        for stage in stages:
            events += [
                (StageStarted(stage=stage, launch=launch), 0.0),
                (StageEnded(stage=stage, launch=launch, seconds=15), 15.0),
            ]
        events.append((StageStarted(stage="bench", launch=launch), 0.0))
        samples = [s.model_copy(update={"launch": launch}) for s in samples_of((values,))]
        for repetition in range(2 - launch):
            measured = tuple(s for s in samples if s.repetition == repetition)
            events.append((RepetitionMeasured(launch=launch, repetition=repetition, samples=measured), 30.0))
    return events

"""A run: one execution of an item, how it ended and what it measured."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import Field

from optrack.model.metrics import Metric, Sample, metric_named
from optrack.model.plan import Plan
from optrack.model.snapshot import Snapshot
from optrack.model.value import Frozen

Outcome = Literal["succeeded", "failed", "timed_out", "interrupted"]
Stage = Literal["preflight", "setup", "launch", "ready", "bench", "parse", "teardown"]
STAGES: tuple[Stage, ...] = ("preflight", "setup", "launch", "ready", "bench", "parse", "teardown")


class Failure(Frozen):
    """Why a run didn't succeed.

    `kind` is one of the failure kinds (`out_of_memory`, `nccl`, `cuda_graph`, `port_in_use`, …, `unknown`);
    `message` the line that matters, which is seldom the last; `fingerprint` is equal for the same
    failure in another run; `log_tail` the end of the log it came from.
    """

    kind: str
    message: str
    fingerprint: str
    log_tail: str = ""


class ProcessId(Frozen):
    """What identifies a process beyond the reuse of its number: start time in clock ticks, and the boot."""

    pid: int
    start_ticks: int
    boot_id: str


SUPERVISOR = "supervisor"
"""The role of the process above a run's runner, which ends what a killed runner leaves."""


class LaunchPlace(Frozen):
    """Where a launch stood in its session: among all launches, from 0, and in which round."""

    position: int
    round: int


class SessionRecord(Frozen):
    """How a run's session was laid out before anything was measured, so that nothing of it depends on the outcome.

    `seed` is that of the random order; a session is looked at from `first_look` rounds on and ends with
    `max_launches`; `family` comparisons share the plan's error, `credited` of which were improvements already.
    `baseline` is the run that its `companions`, the other items' runs in the same rounds, share with it.
    `places` are those of its launches by number. What older records don't tell is None or empty.
    """

    seed: int | None = None
    max_launches: int | None = None
    first_look: int | None = None
    family: int | None = None
    credited: int = 0
    baseline: str | None = None
    companions: tuple[str, ...] = ()
    places: Mapping[int, LaunchPlace] = Field(default_factory=dict)


class Run(Frozen):
    """One execution of an item's recipe; immutable once it has ended.

    `recipe` is the resolved recipe as plain data, `leaves` its dotted leaves. `role` is `candidate` for
    the run that was asked for, `baseline` for one measured beside it: `beside` then names the candidate's
    run. `block` is True if its launches weren't interleaved with those of the other side. Times are UTC;
    `stages` holds seconds per stage, summed over launches. `outcome` is None while it is running.
    `plan_digest` names the plan's text as it was, `recipe_digest` (`canonical.recipe_digest`) the recipe.
    """

    id: str
    plan: str
    item: str
    host: str
    started_at: datetime
    ended_at: datetime | None = None
    seconds: float | None = None
    outcome: Outcome | None = None
    stage: Stage = "preflight"
    failure: Failure | None = None
    role: Literal["candidate", "baseline"] = "candidate"
    beside: str | None = None
    actor: str = ""
    plan_digest: str = ""
    recipe_digest: str = ""
    recipe: Mapping[str, Any] = Field(default_factory=dict)
    runner: ProcessId | None = None
    stages: Mapping[str, float] = Field(default_factory=dict)
    samples: tuple[Sample, ...] = ()
    snapshot: Snapshot | None = None
    artifacts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    session: SessionRecord = SessionRecord()


def primary_metric(plan: Plan, runs: Iterable[Run]) -> Metric:
    """Return the plan's primary metric: as the plan says, else as the samples do, else as its name implies."""
    wanted = plan.metric
    measured = next((s.metric for run in runs for s in run.samples if s.metric.name == wanted.name), None)
    implied = measured or metric_named(wanted.name)
    return Metric(name=wanted.name, unit=wanted.unit or implied.unit, better=wanted.better or implied.better)


_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_FRACTION_CHARS = 3


def new_run_id(at: datetime, item: str) -> str:
    """Return an id such as `20261129T184512-x7k2-1A` for a run of `item` that starts at `at`.

    The three characters after the seconds count their 46,656th parts, so that ids sort by time within a
    second too; the fourth is random. Those four alone are usually enough to name the run.
    """
    moment = at.astimezone(UTC)
    parts = moment.microsecond * 36**_FRACTION_CHARS // 1_000_000
    fraction = ""
    for _ in range(_FRACTION_CHARS):
        parts, digit = divmod(parts, 36)
        fraction = _DIGITS[digit] + fraction
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", item).strip("-.")[:24].rstrip("-.") or "item"
    return f"{moment:%Y%m%dT%H%M%S}-{fraction}{secrets.choice(_DIGITS)}-{slug}"

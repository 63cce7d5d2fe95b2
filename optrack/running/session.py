"""A session: the candidate's run and, launch by launch beside it, a fresh run of the baseline."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from optrack.core.canonical import digest
from optrack.core.judge import launch_order
from optrack.core.judge.evidence import rules_of
from optrack.core.metrics import Metric
from optrack.core.plan import Item, Plan
from optrack.core.recipes.recipe import Recipe
from optrack.core.recipes.resolve import Resolved
from optrack.core.run import Failure, Outcome, Run, Stage
from optrack.core.runid import new_run_id
from optrack.core.secrets.gate import Gate
from optrack.core.snapshot import Snapshot
from optrack.running.resuming import Resuming
from optrack.settings import Settings, project_salt
from optrack.steps.capture import Sampler
from optrack.steps.engines import engine_named
from optrack.steps.engines.protocol import Engine, Place
from optrack.steps.parsing import ParserProcess
from optrack.steps.process import Tree, own_identity


class Ending(NamedTuple):
    """How a side's run ended, in which stage, and why if it didn't succeed."""

    outcome: Outcome
    stage: Stage
    failure: Failure | None


@dataclass
class Side:
    """One run of a session while it goes on: what it runs, and what has come of it so far."""

    run: Run
    recipe: Recipe
    engine: Engine
    folder: Path
    launches: int = 0
    repo: Path | None = None
    tree: Tree | None = None
    snapshot: Snapshot | None = None
    ending: Ending | None = None
    said: set[str] = field(default_factory=set)
    sampler: Sampler | None = None
    begun: float = field(default_factory=time.monotonic)

    def sampling(self, gpus: tuple[int, ...] | None) -> Sampler:
        """Return the sampler of this side's benchmark passes, over the given GPUs, None for all."""
        if self.sampler is None:
            self.sampler = Sampler(pids=self._pids, gpus=gpus)
        return self.sampler

    def _pids(self) -> list[int]:
        return [process.pid for process in self.tree.track()] if self.tree else []


@dataclass
class Session:
    """What one runner does: its sides, in an order that lets a drift of the machine hit both alike."""

    settings: Settings
    plan: Plan
    candidate: Side
    baseline: Side | None
    inherited: Mapping[str, str]
    salt: bytes
    sequential: bool = False
    gpus: tuple[int, ...] | None = None
    resuming: Resuming | None = None
    why_anew: str | None = None
    parser: ParserProcess = field(default_factory=ParserProcess)

    @property
    def first(self) -> int:
        """The number of the first launch that this session makes on each side."""
        return self.resuming.first if self.resuming else 0

    @property
    def kept(self) -> int:
        """How many launches of each side are those of an interrupted run."""
        return self.resuming.kept if self.resuming else 0

    @property
    def sides(self) -> tuple[Side, ...]:
        """The candidate and, where one is measured beside it, the baseline."""
        return (self.candidate,) if self.baseline is None else (self.candidate, self.baseline)

    @property
    def most_launches(self) -> int:
        """The launches of a side at most: as many as the recipe says, or as the rules of stopping allow."""
        if not self.sequential:
            return self.candidate.recipe.launches
        recipe = self.candidate.recipe.model_copy(update={"stop": "sequential"})
        return rules_of(recipe, Metric(name=""), min_effect=0.0, interleaved=True).max_launches

    @property
    def variables(self) -> frozenset[str]:
        """The variables that either side's recipe names: they are recorded of both, with their values."""
        return frozenset(name for side in self.sides for name in side.recipe.env)

    def schedule(self) -> Iterator[tuple[Side, int]]:
        """Yield each launch in turn, with its number on its side, until there are enough with those kept."""
        number = self.first
        while number - self.first + self.kept < self.most_launches:
            for turn in launch_order(number + 1)[-2:]:
                side = self.candidate if turn == "candidate" else self.baseline
                if side is not None:
                    yield side, number
            number += 1

    def environment(self, side: Side, place: Place) -> dict[str, str]:
        """Return the environment of a side's commands: the runner's own, the recipe's over it, the launch's.

        A recipe value of None takes an inherited variable away. A side that asks for some GPUs sees only these.
        """
        env = {
            key: value for key, value in self.inherited.items() if side.recipe.env.get(key, "") is not None
        }
        env |= {key: value for key, value in side.recipe.env.items() if value is not None}
        if self.gpus is not None and "CUDA_VISIBLE_DEVICES" not in side.recipe.env:
            asked = side.recipe.gpus
            shown = self.gpus[:asked] if isinstance(asked, int) else asked or self.gpus
            env["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, shown))
        if side.repo is not None:
            env["REPO"] = str(side.repo)
        return env | {
            "PORT": str(place.port),
            "RUN_DIR": str(place.run_dir),
            "ITEM_ID": place.item,
            "OPTRACK_PYTHON": sys.executable,
        }


def prepare(
    settings: Settings,
    plan: Plan,
    candidate: tuple[Item, Resolved],
    baseline: tuple[Item, Resolved] | None,
    at: datetime,
    *,
    sequential: bool,
    gate: Gate,
) -> Session:
    """Return the session that runs an item, beside the baseline where its launches are interleaved.

    A `sequential` one ends as soon as its verdict is settled, within the recipe's number of launches, which
    only interleaved launches allow; the runs keep that with their recipe, since it belongs to the rules that
    they are judged by.
    """
    sequential = sequential and baseline is not None
    ours = _side(settings, plan, *candidate, at, sequential=sequential, gate=gate)
    theirs = _side(settings, plan, *baseline, at, sequential=sequential, gate=gate) if baseline else None
    if theirs is not None:
        theirs.run = theirs.run.model_copy(update={"role": "baseline", "beside": ours.run.id})
    return Session(settings, plan, ours, theirs, dict(os.environ), project_salt(settings.state), sequential)


def _side(
    settings: Settings,
    plan: Plan,
    item: Item,
    resolved: Resolved,
    at: datetime,
    *,
    sequential: bool,
    gate: Gate,
) -> Side:
    run = Run(
        id=new_run_id(at, item.id),
        plan=plan.name,
        item=item.id,
        host=settings.host,
        started_at=at,
        actor=settings.actor,
        plan_digest=digest(gate.text(plan.text)),
        recipe_digest=resolved.digest,
        recipe=gate.data({**resolved.data, "stop": "sequential" if sequential else "fixed"}),
        runner=own_identity(),
    )
    return Side(
        run, resolved.recipe, engine_named(resolved.recipe.engine, settings.python), settings.runs / run.id
    )

"""A session: the candidate's run and a fresh run of the baseline beside it."""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from pathlib import Path

from optrack.app.campaign import Campaign
from optrack.app.project import now
from optrack.engines.protocol import Engine, Place
from optrack.engines.registry import engine_named
from optrack.host.capture import CodeCapture
from optrack.host.parsing import ParserProcess
from optrack.host.proc import own_identity
from optrack.host.process_tree import Member
from optrack.host.sampler import Sampler
from optrack.host.tree import Tree
from optrack.host.variable_search import RanFiles
from optrack.host.witnessed import WITNESS
from optrack.judge.evidence import most_launches
from optrack.judge.sequential import round_order
from optrack.judge.variables import named_in, texts_of
from optrack.model.events import RunEnded
from optrack.model.plan import Item, Plan
from optrack.model.recipe import Recipe
from optrack.model.recipe_parts import LaunchRange, stop_rule, with_stop_command
from optrack.model.run import Run, new_run_id
from optrack.model.snapshot import Snapshot
from optrack.model.value import digest
from optrack.plan.resolve import Resolved
from optrack.plan.schedule import choose
from optrack.runner.resume import Resuming, Wanted, earlier_of, interrupted_since
from optrack.settings import Settings, database_salt, salt_file

MOST_TOGETHER = 6
"""Items that share the launches of the baseline: more would be far from them in time."""

_SHARED = ("order", "launches", "repetitions", "stop", "gpus")


@dataclass
class Arm:
    """One run of a session while it goes on: what it runs, and what has come of it so far."""

    run: Run
    recipe: Recipe
    engine: Engine
    folder: Path
    launches: int = 0
    repo: Path | None = None
    tree: Tree | None = None
    code: CodeCapture | None = None
    snapshot: Snapshot | None = None
    result: RunEnded | None = None
    is_settled: bool = False
    notes: set[str] = field(default_factory=set)
    sampler: Sampler | None = None
    ran: RanFiles = field(default_factory=RanFiles)
    begin: float = field(default_factory=time.monotonic)
    bench_members: list[Member] = field(default_factory=list)

    def sampling(self, gpus: tuple[int, ...] | None) -> Sampler:
        """Return the sampler of this arm's benchmark passes, over the given GPUs, None for all."""
        if self.sampler is None:
            self.sampler = Sampler(pids=self._pids, gpus=gpus)
        return self.sampler

    def _pids(self) -> list[int]:
        return [process.pid for process in self.tree.track()] if self.tree else []


@dataclass(frozen=True)
class Turn:
    """A launch to make: its arm and its number there, its position in the session, its round, the last of which
    may end the session."""

    arm: Arm
    number: int
    position: int
    round: int
    is_last: bool


@dataclass(frozen=True)
class Session:
    """What one runner does: its arms, in a random order that lets the machine's moods hit all alike.

    `others` are the arms of further items, measured in the same rounds against the same launches of the baseline.
    """

    settings: Settings
    plan: Plan
    candidate: Arm
    baseline: Arm | None
    inherited: Mapping[str, str]
    salt: bytes
    stop: str = "fixed"
    gpus: tuple[int, ...] | None = None
    resuming: Resuming | None = None
    why_not_resumed: str | None = None
    parser: ParserProcess = field(default_factory=ParserProcess)
    others: tuple[Arm, ...] = ()
    seed: int = 0

    @property
    def is_sequential(self) -> bool:
        """Whether it ends as soon as its verdict is settled."""
        return self.stop == "sequential"

    @property
    def first(self) -> int:
        """The number of the first launch that this session makes of each arm."""
        return self.resuming.first if self.resuming else 0

    @property
    def kept(self) -> int:
        """How many launches of each arm are those of an interrupted run."""
        return self.resuming.kept if self.resuming else 0

    @property
    def candidates(self) -> tuple[Arm, ...]:
        """The arms that are judged."""
        return (self.candidate, *self.others)

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The candidates and, where one is measured beside them, the baseline."""
        return self.candidates if self.baseline is None else (*self.candidates, self.baseline)

    @property
    def most_launches(self) -> int:
        """The launches of a candidate at most: as many as the recipe says, or as the rules of stopping allow."""
        return most_launches(self.candidate.recipe, sequential=self.is_sequential)

    @property
    def variables(self) -> frozenset[str]:
        """The variables that count beside optrack's own table: those of the recipes, and the settings' prefixes*."""
        prefixes = (f"{prefix.rstrip('*')}*" for prefix in self.settings.env_prefixes if prefix.strip("*"))
        named = named_in(text for arm in self.arms for text in texts_of(arm.run.recipe))
        return frozenset((*(name for arm in self.arms for name in arm.recipe.env), *named, *prefixes))

    def schedule(self) -> Iterator[Turn]:
        """Yield each launch in turn, until there are enough with those kept; whoever makes them says, by an arm's
        result or that it is settled, that it needs no more."""
        position = self.first * 2
        for number in count(self.first):
            going = [arm for arm in self.candidates if arm.result is None and not arm.is_settled]
            if not going or number - self.first + self.kept >= self.most_launches:
                return
            order = round_order(self.seed, number - self.first, len(going)) if self.baseline else (0,)
            for place, turn in enumerate(order):
                arm = going[turn] if turn >= 0 else self.baseline
                if all(other.result is not None for other in going):
                    return
                if arm is not None and arm.result is None:
                    is_last = place == len(order) - 1
                    yield Turn(arm, self.first + arm.launches, position, number, is_last)
                    position += 1

    def environment(self, arm: Arm, place: Place) -> dict[str, str]:
        """Return the environment of an arm's commands: the runner's own, the recipe's over it, the launch's.

        A recipe value of None takes an inherited variable away. An arm that asks for some GPUs sees only these.
        """
        env = {key: value for key, value in self.inherited.items() if arm.recipe.env.get(key, "") is not None}
        env |= {key: value for key, value in arm.recipe.env.items() if value is not None}
        if self.gpus is not None and "CUDA_VISIBLE_DEVICES" not in arm.recipe.env:
            asked = arm.recipe.gpus
            shown = self.gpus[:asked] if isinstance(asked, int) else asked or self.gpus
            env["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, shown))
        env |= {"REPO": str(arm.repo)} if arm.repo is not None else {}
        return env | {
            "PORT": str(place.port),
            "RUN_DIR": str(place.run_dir),
            "ITEM_ID": place.item,
            "OPTRACK_PYTHON": sys.executable,
            "OPTRACK_WITNESS": str(place.run_dir / WITNESS),
        }


def session_of(
    campaign: Campaign, item_id: str, *, sequential: bool = False, resume: bool = False
) -> Session:
    """Return the session that running this item means: beside the baseline, unless it is the baseline.

    `sequential` is what the recipe's silence on `stop` means. With `resume`, an interrupted run of the same
    recipes is gone on with, stopping as it was to stop; `why_not_resumed` of the session says why there is none.
    """
    item = campaign.item(item_id)
    resolved = campaign.resolved(item)
    base = campaign.plan.item(campaign.plan.baseline)
    alone = base is None or base.id == item.id or resolved.recipe.order == "block"
    beside = None if alone or base is None else (base, campaign.resolved(base))
    stop = stop_rule(resolved.data, "sequential" if sequential or _is_range(resolved) else "fixed")
    session = _session(campaign, (item, resolved), beside, stop)
    if not resume:
        return with_neighbours(campaign, session, item) if sequential else session
    wanted = Wanted(
        item=item.id,
        recipe=resolved.digest,
        baseline=beside[1].digest if beside else None,
        host=campaign.settings.host,
        launches={how: replace(session, stop=how).most_launches for how in ("fixed", "sequential")},
        repetitions=resolved.recipe.repetitions,
    )
    earlier = earlier_of(_interrupted(campaign, item), wanted)
    if isinstance(earlier, str):
        return replace(session, why_not_resumed=f"nothing to resume: {earlier}")
    accepted = [a.field for a in campaign.reader.acceptances(campaign.plan.name, item.id)]
    session = _session(campaign, (item, resolved), beside, earlier.candidate.recipe.get("stop", "fixed"))
    return replace(session, resuming=Resuming(earlier, accepted))


def _session(
    campaign: Campaign,
    candidate: tuple[Item, Resolved],
    baseline: tuple[Item, Resolved] | None,
    stop: str,
) -> Session:
    """Return the session that runs an item, beside the baseline where its launches are interleaved.

    A `sequential` one ends as soon as its verdict is settled, within the recipe's number of launches, which
    only interleaved launches allow; the runs keep that with their recipe, since it belongs to the rules that
    they are judged by.
    """
    settings, at = campaign.settings, now()
    stop = stop if baseline is not None else "fixed"
    ours = _arm(campaign, *candidate, at, stop)
    theirs = _arm(campaign, *baseline, at, stop, beside=ours.run.id) if baseline else None
    salt = database_salt(salt_file(settings), settings.state)
    seed = secrets.randbits(31)
    return Session(settings, campaign.plan, ours, theirs, dict(os.environ), salt, stop, seed=seed)


def _is_range(resolved: Resolved) -> bool:
    return isinstance(resolved.recipe.launches, LaunchRange)


def with_neighbours(campaign: Campaign, session: Session, item: Item) -> Session:
    """Return the session with the items that are measured in the same rounds.

    Those are the next pending ones whose recipe asks for rounds as this one's does, with as many launches on the
    same GPUs, and whose turn depends on no result: where the base adopts improvements by itself, none.
    """
    recipe = session.candidate.recipe
    if recipe.order != "rounds" or session.baseline is None or campaign.plan.adopt == "auto":
        return session
    others: list[Arm] = []
    for reason in choose(campaign.plan, campaign.states).reasons:
        other = campaign.plan.item(reason.item)
        if (
            reason.kind not in ("chosen", "later")
            or other is None
            or other.id in (item.id, campaign.plan.baseline)
        ):
            continue
        resolved = campaign.resolved_or_none(other)
        if resolved is None or other.skip_if or resolved.recipe.combine:
            continue
        if any(getattr(resolved.recipe, key) != getattr(recipe, key) for key in _SHARED):
            continue
        others.append(_arm(campaign, other, resolved, now(), session.stop))
        if len(others) == MOST_TOGETHER - 1:
            break
    return replace(session, others=tuple(others))


def _arm(
    campaign: Campaign, item: Item, resolved: Resolved, at: datetime, stop: str, beside: str | None = None
) -> Arm:
    settings, gate = campaign.settings, campaign.gate
    run = Run(
        id=new_run_id(at, item.id),
        plan=campaign.plan.name,
        item=item.id,
        host=settings.host,
        role="candidate" if beside is None else "baseline",
        beside=beside,
        started_at=at,
        actor=settings.actor,
        plan_digest=digest(gate.text(campaign.plan.text)),
        recipe_digest=resolved.digest,
        recipe=gate.data({**with_stop_command(resolved.data), "stop": stop}),
        runner=own_identity(),
    )
    engine = engine_named(resolved.recipe.engine, settings.python)
    return Arm(run, resolved.recipe, engine, settings.runs / run.id)


def _interrupted(campaign: Campaign, item: Item) -> list[tuple[Run, Run | None]]:
    """Return the whole runs of the item that were interrupted lately, each with the baseline's beside it."""
    reader = campaign.reader
    ids = [run.id for run in interrupted_since(reader.runs(campaign.plan.name, item.id))]
    paired = reader.paired(ids)
    runs = reader.runs_by_id([*ids, *paired.values()])
    return [(runs[run], runs[paired[run]] if run in paired else None) for run in ids]

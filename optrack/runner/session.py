"""A session: the candidate's run and a fresh run of the baseline beside it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from optrack.engines.protocol import Engine, Place
from optrack.host.code_capture import CodeCapture
from optrack.host.parsing import ParserProcess
from optrack.host.process_tree import Member
from optrack.host.sampler import Sampler
from optrack.host.tree import Tree
from optrack.host.variable_search import RanFiles
from optrack.host.witnessed import WITNESS
from optrack.judge.evidence import most_launches
from optrack.judge.sequential import round_order
from optrack.judge.variables import named_in, texts_of
from optrack.model.events import RunEnded
from optrack.model.plan import Plan
from optrack.model.recipe import Recipe
from optrack.model.run import Run
from optrack.model.snapshot import Snapshot
from optrack.runner.resume import Resuming
from optrack.settings import Settings


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

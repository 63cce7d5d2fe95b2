"""The campaign as the screens see it: a view of one version of the record and the plan's text, and what makes it."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from optrack.app.campaign import Campaign
from optrack.app.host_load import HostLoad
from optrack.app.project import read_plan
from optrack.app.renewal import with_fresh_baseline
from optrack.app.spawn import is_running
from optrack.errors import PlanError, StoreError
from optrack.model.item import ItemState
from optrack.model.judgement import Judgement
from optrack.model.plan import Plan, Problem
from optrack.model.run import Run
from optrack.plan.schedule import Choice, choose, improved_ids
from optrack.plan.value import worths
from optrack.settings import Settings

Judged = dict[tuple[str, int, int], Judgement | None]
"""What was last judged of a run that goes on, by its id and the numbers of samples of both sides."""


@dataclass(frozen=True)
class View:
    """The campaign at one version of its record and of its plan's text.

    `campaign` reads that version's plan and writes nothing. `worth` is what each item promises, expected gain for
    effort, on one scale. `is_behind`: the record lacks something that only writing brings: call `Watcher.update`.
    """

    campaign: Campaign
    plan: Plan
    items: tuple[ItemState, ...]
    choice: Choice
    worth: Mapping[str, float]
    live: tuple[Run, ...]
    launches: Mapping[str, int]
    is_behind: bool
    load: HostLoad
    judged: Judged

    def state(self, item: str) -> ItemState | None:
        """Return where this item stands."""
        return next((state for state in self.items if state.item.id == item), None)

    @cached_property
    def blocked(self) -> Mapping[str, tuple[str, ...]]:
        """The unmet needs of each item that has some."""
        return {reason.item: reason.blocked_by for reason in self.choice.reasons if reason.kind == "blocked"}

    def reason(self, item: str) -> str:
        """Return why this item is or isn't the next one."""
        return next((reason.text for reason in self.choice.reasons if reason.item == item), "")


@dataclass(frozen=True)
class _Made:
    """What follows from a plan and the states of its items, and what it was made of."""

    of: tuple[object, ...]
    campaign: Campaign
    plan: Plan
    choice: Choice
    worth: Mapping[str, float]


class Watcher:
    """Sees when the record or the plan's text has changed and reads what stands then.

    `look` is for one thread. `update` and what is done through `acting` may be called from any other: they write on a
    campaign of their own, and reading never waits for them.
    """

    def __init__(
        self, settings: Settings, plan_file: Path | None = None, *, load: HostLoad | None = None
    ) -> None:
        self._settings = settings
        self._plan_file = plan_file
        self._campaign = Campaign(settings, plan_file)
        self._load = load or HostLoad()
        self._judged: Judged = {}
        self._stamp: int | None = None
        self._problems: tuple[Problem, ...] = ()
        self._seen: tuple[object, ...] = ()
        self._live: tuple[Run, ...] = ()
        self._taken_over: tuple[object, ...] = ()
        self._made: _Made | None = None

    def require_readable(self) -> None:
        """Raise the PlanError or StoreError that keeps the plan or the record from being read."""
        self._campaign.written  # noqa: B018
        self._campaign.reader  # noqa: B018

    def look(self) -> View | None:
        """Return how the campaign stands if that has changed since the last look, None if it hasn't.

        Raises StoreError while the record can't be read.
        """
        self._follow_record()
        self._follow_plan()
        here = [run for run in self._live if run.host == self._settings.host]
        alive = tuple(run.id for run in here if is_running(run))
        seen = (self._campaign.reader.version(), self._campaign.reader, self._stamp, self._taken_over, alive)
        if seen == self._seen:
            return None
        view = self._view()
        self._seen = seen
        return view

    def _follow_record(self) -> None:
        """Open the record again where another file has taken its place; raises StoreError while there is none."""
        reader = self._campaign.reader
        try:
            reader.require_in_place()
        except StoreError:
            if not reader.path.exists():
                hint = "what is shown is what it held; `optrack status` begins a new one"
                raise StoreError(f"{reader.path} is gone", hint=hint) from None
            self._campaign = Campaign(self._settings, self._plan_file)
            self._judged, self._taken_over, self._stamp, self._problems = {}, (), None, ()

    def _follow_plan(self) -> None:
        """Read the plan's text again where it has changed; one with errors is passed over until it is mended."""
        path = Path(self._campaign.written.path)
        stamp = _stamp(path)
        if self._stamp not in (None, stamp):
            try:
                written = Campaign(self._settings, self._plan_file).written
            except PlanError as error:
                self._problems = _problems(path, error)
            else:
                self._campaign, self._problems = self._campaign.at(written, written), ()
        self._stamp = stamp

    def _view(self) -> View:
        campaign = self._campaign
        reader, written = campaign.reader, campaign.written
        states = reader.items(written.name)
        if not states and not self._taken_over:
            self.update()
            states = reader.items(written.name)
        going = self._live = reader.open_runs()
        dead = any(run.host == self._settings.host and not is_running(run) for run in going)
        made = self._made_of(written, states)
        return View(
            campaign=made.campaign,
            plan=made.plan.model_copy(update={"problems": self._problems}) if self._problems else made.plan,
            items=states,
            choice=with_fresh_baseline(made.campaign, made.choice, ()),
            worth=made.worth,
            live=tuple(run for run in going if run.beside is None and run.plan == written.name),
            launches=reader.launch_counts(written.name),
            is_behind=dead or self._taken_over != self._due(states),
            load=self._load,
            judged=self._judged,
        )

    def _made_of(self, written: Plan, states: tuple[ItemState, ...]) -> _Made:
        """Return what follows from plan and states; the last one where neither has changed."""
        made_of = (self._campaign, written, *states)
        last = self._made
        if last is None or len(last.of) != len(made_of) or not all(map(operator.is_, last.of, made_of)):
            known = {item.id for item in written.items}
            added = [state.item for state in states if not state.archived and state.item.id not in known]
            plan = written.model_copy(update={"items": (*written.items, *added)})
            last = self._made = _Made(
                of=made_of,
                campaign=self._campaign.at(written, plan),
                plan=self._campaign.gate.value(plan),
                choice=choose(plan, states),
                worth={item: worth.value for item, worth in worths(plan, states).items()},
            )
        return last

    def _due(self, states: tuple[ItemState, ...]) -> tuple[object, ...]:
        """Return what the record would be brought up to: the plan's text, and the verdicts that recipes rest on."""
        return self._campaign.reader, self._stamp, frozenset(improved_ids(states))

    def update(self) -> None:
        """Take the plan's text over into the record, and close the runs whose runner has died."""
        if self._campaign.scratch is not None:
            self._campaign.sync()
            return
        with closing(Campaign(self._settings, self._plan_file)) as campaign:
            self._taken_over = self._due(self._campaign.reader.items(campaign.written.name))
            campaign.recover()
            campaign.sync()

    @contextmanager
    def acting(self) -> Iterator[Campaign]:
        """Give a campaign on the plan's present text to act on; raises StoreError where the record is gone."""
        self._campaign.reader.require_in_place()
        with closing(Campaign(self._settings, self._plan_file)) as campaign:
            yield campaign


def _stamp(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _problems(path: Path, error: PlanError) -> tuple[Problem, ...]:
    """Return what is wrong with a plan that was edited."""
    try:
        return tuple(p for p in read_plan(path).problems if p.severity == "error")
    except PlanError:
        return (Problem(severity="error", message=error.message, line=1),)

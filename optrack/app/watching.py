"""The campaign as the screens see it: a view of one version of the record and the plan's text, and what makes it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from optrack.app.baseline_refresh import next_choice
from optrack.app.campaign import Campaign
from optrack.app.host_load import HostLoad
from optrack.app.project import Project, read_plan
from optrack.app.running import recover
from optrack.app.sensitivity import campaign_sensitivity
from optrack.app.spawn import is_running
from optrack.errors import PlanError, StoreError
from optrack.judge.spread import Sensitivity
from optrack.model.item import ItemState
from optrack.model.judgement import Judgement
from optrack.model.plan import Plan, Problem
from optrack.model.run import Run
from optrack.plan.schedule import Choice, improved_ids
from optrack.plan.value import worths
from optrack.settings import Settings

if TYPE_CHECKING:
    from optrack.app.answers.runs import RunEndedLine, RunStartedLine, TransitionLine

Judged = dict[tuple[str, int, int], Judgement | None]
"""What was last judged of a run that goes on, by its id and the numbers of samples of both sides."""


@dataclass(frozen=True)
class View:
    """The campaign at one version of its record and of its plan's text.

    `plan` is `campaign.plan` with its secrets masked, and the problems of a newer text. `worth` is what each item
    promises, expected gain for effort, on one scale. `is_behind`: the record lacks something that only writing brings,
    so that `Watcher.update` should be called.
    """

    campaign: Campaign
    plan: Plan
    choice: Choice
    worth: Mapping[str, float]
    live: tuple[Run, ...]
    launches: Mapping[str, int]
    is_behind: bool
    load: HostLoad
    judged: Judged
    sensitivity: Sensitivity | None

    @property
    def items(self) -> tuple[ItemState, ...]:
        """Where every item stands, in plan order, archived ones last."""
        return self.campaign.states

    def state(self, item: str) -> ItemState | None:
        """Return where this item stands."""
        return self.campaign.by_id.get(item)

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
    sensitivity: Sensitivity | None


class Watcher:
    """Sees when the record or the plan's text has changed and reads what stands then.

    `look` is for one thread. `update` and what is done through `acting` may be called from any other: they write on a
    project of their own, and reading never waits for them.
    """

    def __init__(
        self, settings: Settings, plan_file: Path | None = None, *, load: HostLoad | None = None
    ) -> None:
        self._settings = settings
        self._plan_file = plan_file
        self._project = Project(settings, plan_file)
        self._load = load or HostLoad()
        self._judged: Judged = {}
        self._stamp: int | None = None
        self._problems: tuple[Problem, ...] = ()
        self._seen: tuple[object, ...] = ()
        self._live: tuple[Run, ...] = ()
        self._taken_over: tuple[object, ...] = ()
        self._tried: tuple[object, ...] = ()
        self._made: _Made | None = None

    def require_readable(self) -> None:
        """Raise the PlanError or StoreError that keeps the plan or the record from being read."""
        self._project.written  # noqa: B018
        self._project.reader  # noqa: B018

    def look(self) -> View | None:
        """Return how the campaign stands if that has changed since the last look, None if it hasn't.

        Raises StoreError while the record can't be read.
        """
        self._follow_record()
        self._follow_plan()
        here = [run for run in self._live if run.host == self._settings.host]
        alive = tuple(run.id for run in here if is_running(run))
        reader = self._project.reader
        seen = (reader.version(), reader, self._stamp, self._taken_over, alive)
        if seen == self._seen:
            return None
        view = self._view()
        self._seen = seen
        return view

    def _follow_record(self) -> None:
        """Open the record again where another file has taken its place; raises StoreError while there is none."""
        reader = self._project.reader
        try:
            reader.require_in_place()
        except StoreError:
            if not reader.path.exists():
                hint = "what is shown is what it held; `optrack status` begins a new one"
                raise StoreError(f"{reader.path} is gone", hint=hint) from None
            self._project = Project(self._settings, self._plan_file)
            self._judged, self._taken_over, self._stamp, self._problems = {}, (), None, ()

    def _follow_plan(self) -> None:
        """Read the plan's text again where it has changed; one with errors is passed over until it is mended."""
        path = Path(self._project.written.path)
        stamp = _stamp(path)
        if self._stamp not in (None, stamp):
            fresh = self._project.reread()
            try:
                fresh.written  # noqa: B018
            except PlanError as error:
                self._problems = _problems(path, error)
            else:
                self._project, self._problems = fresh, ()
        self._stamp = stamp

    def _view(self) -> View:
        campaign = self._project.recorded()
        if not campaign.states and not self._taken_over:
            self.update()
            campaign = self._project.recorded()
        reader, name = campaign.reader, campaign.plan.name
        going = self._live = reader.open_runs()
        dead = any(run.host == self._settings.host and not is_running(run) for run in going)
        made = self._made_of(campaign)
        return View(
            campaign=made.campaign,
            plan=made.plan.model_copy(update={"problems": self._problems}) if self._problems else made.plan,
            choice=made.choice,
            worth=made.worth,
            live=tuple(run for run in going if run.beside is None and run.plan == name),
            launches=reader.launch_counts(name),
            is_behind=dead or self._taken_over != self._due(campaign.states),
            load=self._load,
            judged=self._judged,
            sensitivity=made.sensitivity,
        )

    def _made_of(self, campaign: Campaign) -> _Made:
        """Return what follows from plan and states; the last one where neither has changed."""
        made_of = (campaign.reader, campaign.written, *campaign.states)
        last = self._made
        if last is None or len(last.of) != len(made_of) or not all(map(operator.is_, last.of, made_of)):
            last = self._made = _Made(
                of=made_of,
                campaign=campaign,
                plan=campaign.gate.value(campaign.plan),
                choice=next_choice(campaign),
                worth={item: worth.value for item, worth in worths(campaign.plan, campaign.states).items()},
                sensitivity=campaign_sensitivity(campaign),
            )
        return last

    def _due(self, states: Sequence[ItemState]) -> tuple[object, ...]:
        """Return what the record would be brought up to: the plan's text, and the verdicts that recipes rest on."""
        return self._project.reader, self._stamp, frozenset(improved_ids(states))

    def update(self) -> None:
        """Take the plan's text over into the record, and close the runs whose runner has died.

        What failed isn't tried again until something else is due.
        """
        if self._project.scratch is not None:
            self._taken_over = self._due(self._project.campaign().states)
            return
        with closing(Project(self._settings, self._plan_file)) as project:
            due = self._due(self._project.reader.items(project.written.name))
            trial = (due, tuple(run.id for run in self._project.reader.open_runs()))
            if trial == self._tried:
                return
            self._tried = trial
            recover(project)
            project.campaign()
            self._taken_over = due

    @contextmanager
    def acting(self) -> Iterator[Project]:
        """Give a project on the plan's present text to act on; raises StoreError where the record is gone."""
        self._project.reader.require_in_place()
        with closing(Project(self._settings, self._plan_file)) as project:
            yield project


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


def changes(
    campaign: Campaign, after: int | None, is_over: Callable[[], bool]
) -> Iterator[TransitionLine | RunStartedLine | RunEndedLine | None]:
    """Yield each transition after number `after` (None: from now on) and each begin and end of a run as it is
    recorded, and None whenever nothing new has come, until `is_over`."""
    from optrack.app.answers.runs import RunEndedLine, RunStartedLine, TransitionLine

    reader, plan = campaign.reader, campaign.plan.name
    last = after if after is not None else max((t.seq for t in reader.transitions(plan)), default=0)
    outcomes = {run.id: run.outcome for run in reader.runs(plan)}
    version = -1
    while True:
        current = reader.version()
        if current != version:
            version = current
            for transition in reader.transitions(plan, after=last):
                last = transition.seq
                yield TransitionLine(**dict(transition))
            for run in reversed(reader.runs(plan, limit=50)):
                about = {"run": run.id, "item": run.item, "role": run.role, "who": run.actor}
                if run.id not in outcomes:
                    yield RunStartedLine(at=run.started_at, **about)
                if run.outcome is not None and outcomes.get(run.id) is None:
                    message = run.failure.message if run.failure else None
                    ended = {"outcome": run.outcome, "stage": run.stage, "failure": message}
                    yield RunEndedLine(at=run.ended_at, **about, **ended)
                outcomes[run.id] = run.outcome
        if is_over():
            return
        yield None

"""What the board of a real campaign reads: its plan, items and runs, anew where something has changed."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from threading import RLock

from optrack.app.campaign import Campaign
from optrack.app.evaluator import Evaluator
from optrack.app.project import Project, now
from optrack.app.queries import pair_of
from optrack.app.running import recover
from optrack.app.spawn import is_running
from optrack.errors import OptrackError, PlanError
from optrack.model.events import Entry
from optrack.model.item import ItemState, Transition
from optrack.model.judgement import Judgement
from optrack.model.plan import Plan, Problem
from optrack.model.run import Run, Stage
from optrack.plan.schedule import improved_ids
from optrack.settings import Settings
from optrack.store.read import Reader
from optrack.tui.board import (
    Calibration,
    Compared,
    FailureGroup,
    Gauge,
    LogKind,
    NextItem,
    ResolvedItem,
    Step,
)
from optrack.tui.calibrated import calibrated
from optrack.tui.campaign_past import LATEST, Course, expected_stages, failure_groups
from optrack.tui.host_load import HostLoad, recorded_gauges
from optrack.tui.next_item import Choosing
from optrack.tui.written import identity
from optrack.tui.written import problems as problems_of
from optrack.tui.written import stamp as stamp_of

_RECENT = 20
_SHARE = 0.05
"""Counting what is slow to count may take this share of the time."""


class CampaignReading:
    """The reading half of a board; safe to call from any thread.

    The plan and where its items stand are read once for each version. The first look takes what the record
    has; the plan's text is taken over into the record after that, whenever it or the verdicts have changed.
    """

    def __init__(
        self, settings: Settings, plan_file: Path | None = None, load: HostLoad | None = None
    ) -> None:
        self._settings = settings
        self._plan_file = plan_file
        self._load = load or HostLoad()
        self._lock = RLock()
        self._changes = 0
        self._seen: tuple[int, int, int, int] | None = None
        self._file = 0
        self._project = Project(settings, plan_file)
        self._current: Campaign | None = None
        self._looked: tuple[Plan, tuple[ItemState, ...]] | None = None
        self._synced: frozenset[str] | None = None
        self._going: tuple[Run, ...] = ()
        self._broken: PlanError | None = None
        self._problems: tuple[Problem, ...] = ()
        self._course = Course()
        self._choosing = Choosing()
        self._judged: dict[tuple[str, int, int], Judgement] = {}
        self._launches: tuple[float, Mapping[str, int]] = (0.0, {})

    @property
    def _reader(self) -> Reader:
        with self._lock:
            return self._project.reader

    @property
    def _campaign(self) -> Campaign:
        with self._lock:
            if self._looked is None or self._current is None:
                self._look()
            assert self._current is not None
            return self._current

    def _look(self) -> tuple[Plan, tuple[ItemState, ...]]:
        """Return the plan, with the items that were added beside its text, and where all of them stand."""
        with self._lock:
            if self._looked is None:
                campaign = self._project.recorded()
                if not campaign.states:
                    campaign = self._project.campaign()
                    self._synced = frozenset()
                self._current = campaign
                self._looked = (campaign.gate.value(campaign.plan), campaign.states)
            return self._looked

    def _sync(self, improved: frozenset[str]) -> None:
        self._project.campaign()
        self._synced = improved

    # what there is

    def version(self) -> int:
        """Return a number that grows when the database or the plan's file has changed, or a runner has died."""
        with self._lock:
            self._same_file()
            stamp = stamp_of(Path(self._project.written.path))
            if self._seen is not None and self._seen[1] != stamp:
                self._reload()
            if self._looked is not None:
                improved = frozenset(improved_ids(self._looked[1]))
                if improved != self._synced:
                    self._sync(improved)
            alive = sum(is_running(run) for run in self._going if run.host == self._settings.host)
            seen = (self._reader.version(), stamp, alive, self._file)
            if seen != self._seen:
                self._seen, self._looked = seen, None
                self._changes += 1
            return self._changes

    def _same_file(self) -> None:
        """Open the record again where another file has taken its place; raises StoreError while there is none."""
        file = identity(self._reader.path)
        if self._file not in (0, file):
            self._project = Project(self._settings, self._plan_file)
            self._looked, self._synced, self._launches = None, None, (0.0, {})
            self._course, self._choosing, self._judged = Course(), Choosing(), {}
        self._file = file

    def _reload(self) -> None:
        """Read the plan's file again; one with errors is passed over until it is mended."""
        fresh = self._project.reread()
        try:
            fresh.written  # noqa: B018
        except PlanError as error:
            self._broken, self._problems = error, problems_of(Path(self._project.written.path), error)
            return
        self._project, self._synced, self._broken, self._problems = fresh, None, None, ()

    def _fresh(self) -> Project:
        """Return a project of its own on the plan's present text and the same record."""
        with self._lock:
            self.version()
            if self._broken is not None:
                raise self._broken
            return self._project.reread()

    def now(self) -> datetime:
        """Return the present time."""
        return now()

    def plan(self) -> Plan:
        """Return the plan as its file reads now; while it has errors, as it last read, with these problems."""
        plan = self._look()[0]
        return plan.model_copy(update={"problems": self._problems}) if self._problems else plan

    def items(self) -> Sequence[ItemState]:
        """Return where every item stands."""
        return self._look()[1]

    def launches(self) -> Mapping[str, int]:
        """Return how many launches each item has had; where counting takes long it is done less often."""
        due, counts = self._launches
        began = time.monotonic()
        if began >= due:
            counts = self._reader.launch_counts(self.plan().name)
            ended = time.monotonic()
            self._launches = (ended + (ended - began) / _SHARE if ended - began > _SHARE else 0.0, counts)
        return counts

    def choice(self) -> NextItem:
        """Return what would run next and why; worked out anew only where an item stands otherwise."""
        plan, states = self._look()
        return self._choosing.choice(plan, states)

    def live_runs(self) -> Sequence[Run]:
        """Return the candidates' runs that go on; those whose runner has died are closed first."""
        going = self._reader.open_runs()
        if any(run.host == self._settings.host and not is_running(run) for run in going):
            with self._lock:
                recover(self._project)
            going = self._reader.open_runs()
        self._going = going
        plan = self.plan().name
        return [run for run in going if run.beside is None and run.plan == plan]

    # one item

    def resolved(self, item: str) -> ResolvedItem:
        """Return the item's recipe and its factors, or why there is none."""
        plan, _ = self._look()
        try:
            with self._lock:
                found = self._campaign.resolved(self._campaign.item(item))
        except PlanError as error:
            return ResolvedItem(problem=f"{error.where}: {error.message}" if error.where else error.message)
        except OptrackError as error:
            gone = plan.item(item) is None
            return ResolvedItem(problem="It is no longer in the plan." if gone else error.message)
        return self._campaign.gate.value(ResolvedItem(data=found.data, factors=found.factors))

    def runs(self, item: str) -> Sequence[Run]:
        """Return the item's latest runs, newest first, the recent ones with their samples."""
        reader = self._reader
        found = reader.runs(self.plan().name, item, LATEST)
        whole = reader.runs_by_id(run.id for run in found[:_RECENT])
        return [whole.get(run.id, run) for run in found]

    def transitions(self, item: str) -> Sequence[Transition]:
        """Return every change of the item's status, oldest first."""
        return self._reader.transitions(self.plan().name, item)

    def edit_path(self, item: str) -> tuple[Path, int]:
        """Return the plan's file and the line of the item."""
        plan = self.plan()
        found = plan.item(item)
        return Path(plan.path), found.line if found else 1

    # one run

    def run(self, run: str) -> Run | None:
        """Return the run with this id, None if there is none."""
        try:
            return self._reader.run(run)
        except OptrackError:
            return None

    def entries(self, run: str, after: int) -> Sequence[Entry]:
        """Return the journal of the run beyond number `after`."""
        return self._reader.entries(run, after)

    def log_path(self, run: str, which: LogKind) -> Path | None:
        """Return the latest log of the run, or of the baseline's run beside it if that is later."""
        beside = self._reader.beside(run)
        folders = [self._settings.runs / name for name in (run, beside) if name]
        logs = [path for folder in folders for path in folder.glob(f"launch-*/{which}.log")]
        return max(logs, key=stamp_of, default=None)

    def so_far(self, run: str) -> Judgement | None:
        """Return what the samples up to now show against the baseline; what stands once the run has ended."""
        reader, plan = self._reader, self.plan()
        found = reader.run(run)
        if not found.samples or found.item == plan.baseline:
            return None
        if found.outcome is not None:
            return self._campaign.judgement_of(found)
        court = Evaluator(reader, plan)
        baseline = court.baseline_for(found)
        if baseline is None or not baseline.samples:
            return None
        key = (run, len(found.samples), len(baseline.samples))
        if key not in self._judged:
            ended = {"outcome": "succeeded"}
            self._judged = {
                key: court.judge(found.model_copy(update=ended), baseline.model_copy(update=ended))
            }
        return self._judged[key]

    def gauges(self, run: str) -> Sequence[Gauge]:
        """Return the host's load since somebody looks at the run; of an ended one what was recorded."""
        found = self._reader.run(run)
        if found.outcome is not None:
            return self._load.seen(run) or recorded_gauges(found.snapshot)
        return self._load.gauges(run) if found.host == self._settings.host else ()

    def expected_stages(self, run: str) -> Mapping[Stage, float]:
        """Return the seconds per launch that each stage took in the plan's earlier runs."""
        return expected_stages(self._reader, self._reader.run(run))

    # the whole campaign

    def compare(self, candidate: str, baseline: str) -> Compared:
        """Compare two runs or items."""
        plan, _ = self._look()
        with self._lock:
            ours, theirs, recorded = pair_of(self._campaign, candidate, baseline)
        judgement = recorded or Evaluator(self._reader, plan).judge(ours, theirs)
        return Compared(candidate=ours, baseline=theirs, judgement=judgement)

    def history(self) -> Sequence[Step]:
        """Return the latest ended runs in the order of time."""
        return self._course.steps(self._reader, self.plan())

    def failures(self) -> Sequence[FailureGroup]:
        """Return the failures by fingerprint, latest first."""
        return failure_groups(self._reader, self.plan())

    def calibration(self) -> Sequence[Calibration]:
        """Return expected against measured gain, for the items that have both."""
        return calibrated(*self._look(), self._reader.run)

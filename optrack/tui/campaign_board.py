"""The board of a real campaign: what is recorded, read anew when it changes, and what others do on request."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from threading import RLock

from optrack.campaign import Campaign, decisions, find_run, now
from optrack.core.events import Entry
from optrack.core.judgement import Judgement
from optrack.core.metrics import series_of
from optrack.core.plan import Plan
from optrack.core.run import Run, Stage
from optrack.core.standing import blocked_by
from optrack.core.state import ItemState, Transition
from optrack.core.status import Status
from optrack.core.value import worths
from optrack.court import Court
from optrack.errors import OptrackError, PlanError
from optrack.settings import Settings
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

_RECENT = 20


class CampaignBoard:
    """A campaign as the screens see it; safe to call from any thread, one call at a time."""

    def __init__(self, settings: Settings, plan_file: Path | None = None) -> None:
        self._settings = settings
        self._plan_file = plan_file
        self._lock = RLock()
        self._changes = 0
        self._seen: tuple[int, int] | None = None
        self._campaign = Campaign(settings, plan_file)

    # what there is

    def version(self) -> int:
        """Return a number that grows when the database or the plan's file has changed."""
        with self._lock:
            path = Path(self._campaign.written.path)
            stamp = path.stat().st_mtime_ns if path.exists() else 0
            seen = (self._campaign.reader.version(), stamp)
            if seen != self._seen:
                if self._seen is not None and self._seen[1] != stamp:
                    self._reload()
                self._campaign.__dict__.pop("plan", None)
                self._seen = seen
                self._changes += 1
            return self._changes

    def now(self) -> datetime:
        """Return the present time."""
        return now()

    def plan(self) -> Plan:
        """Return the plan as its file reads now; while it has errors, as it last read without."""
        with self._lock:
            return self._campaign.plan

    def items(self) -> Sequence[ItemState]:
        """Return where every item stands."""
        with self._lock:
            return self._campaign.states()

    def launches(self) -> Mapping[str, int]:
        """Return how many launches each item has had."""
        with self._lock:
            return self._campaign.reader.launch_counts(self._campaign.plan.name)

    def choice(self) -> NextItem:
        """Return what would run next and why."""
        with self._lock:
            campaign = self._campaign
            choice = campaign.choice()
            known = {state.item.id: state for state in campaign.states()}
            blocked = {item.id: blocked_by(item, known) for item in campaign.plan.items}
            values = worths(campaign.plan, tuple(known.values()))
        chosen = choice.chosen
        return NextItem(
            item=choice.item,
            why=chosen.text if chosen else choice.summary,
            reasons={reason.item: reason.text for reason in choice.reasons},
            blocked={item: needs for item, needs in blocked.items() if needs},
            worth={item: worth.value for item, worth in values.items()},
        )

    def live_runs(self) -> Sequence[Run]:
        """Return the candidates' runs that go on; those whose runner has died are closed first."""
        with self._lock:
            self._campaign.recover()
            plan = self._campaign.plan.name
            open_runs = self._campaign.reader.open_runs()
            return [run for run in open_runs if run.beside is None and run.plan == plan]

    # one item

    def resolved(self, item: str) -> ResolvedItem:
        """Return the item's recipe and its factors, or why there is none."""
        with self._lock:
            try:
                found = self._campaign.resolved(self._campaign.item(item))
            except PlanError as error:
                return ResolvedItem(
                    problem=f"{error.where}: {error.message}" if error.where else error.message
                )
            except OptrackError as error:
                return ResolvedItem(problem=error.message)
        return ResolvedItem(data=found.data, factors=found.factors)

    def runs(self, item: str) -> Sequence[Run]:
        """Return the item's runs, newest first, the recent ones with their samples."""
        with self._lock:
            reader = self._campaign.reader
            found = reader.runs(self._campaign.plan.name, item)
            return [*(reader.run(run.id) for run in found[:_RECENT]), *found[_RECENT:]]

    def transitions(self, item: str) -> Sequence[Transition]:
        """Return every change of the item's status, oldest first."""
        with self._lock:
            return self._campaign.reader.transitions(self._campaign.plan.name, item)

    def edit_path(self, item: str) -> tuple[Path, int]:
        """Return the plan's file and the line of the item."""
        with self._lock:
            found = self._campaign.plan.item(item)
            return Path(self._campaign.plan.path), found.line if found else 1

    # one run

    def run(self, run: str) -> Run | None:
        """Return the run with this id, None if there is none."""
        with self._lock:
            try:
                return self._campaign.reader.run(run)
            except OptrackError:
                return None

    def entries(self, run: str, after: int) -> Sequence[Entry]:
        """Return the journal of the run beyond number `after`."""
        with self._lock:
            return self._campaign.reader.entries(run, after)

    def log_path(self, run: str, which: LogKind) -> Path | None:
        """Return the latest log of the run, or of the baseline's run beside it if that is later."""
        folders = [self._settings.runs / run]
        with self._lock:
            beside = self._campaign.reader.beside(run)
        folders += [self._settings.runs / beside] if beside else []
        logs = [path for folder in folders for path in folder.glob(f"launch-*/{which}.log")]
        return max(logs, key=lambda path: path.stat().st_mtime_ns, default=None)

    def so_far(self, run: str) -> Judgement | None:
        """Return what the samples up to now show against the baseline."""
        with self._lock:
            reader, plan = self._campaign.reader, self._campaign.plan
            found = reader.run(run)
            if not found.samples or found.item == plan.baseline:
                return None
            court = Court(reader, plan)
            baseline = court.baseline_for(found)
            if baseline is None or not baseline.samples:
                return None
            ended = {"outcome": "succeeded"}
            return court.judge(found.model_copy(update=ended), baseline.model_copy(update=ended))

    def gauges(self, run: str) -> Sequence[Gauge]:
        """Return the course of the host's load during the run, as far as it was sampled."""
        with self._lock:
            found = self._campaign.reader.run(run)
        load = (found.snapshot.load if found.snapshot else None) or {}
        series = load.get("series", {})
        return [
            Gauge(name=name, unit=str(about.get("unit", "")), values=tuple(about.get("values", ())))
            for name, about in series.items()
        ]

    def expected_stages(self, run: str) -> Mapping[Stage, float]:
        """Return the seconds per launch that each stage took in the plan's earlier runs."""
        with self._lock:
            reader = self._campaign.reader
            found = reader.run(run)
            alike = [r for r in reader.runs(found.plan, found.item, _RECENT) if r.outcome == "succeeded"]
            alike = alike or [r for r in reader.runs(found.plan, None, _RECENT) if r.outcome == "succeeded"]
            whole = [reader.run(r.id) for r in alike[:3] if r.id != run]
        per_launch: dict[Stage, list[float]] = {}
        for one in whole:
            launches = 1 + max((sample.launch for sample in one.samples), default=0)
            for stage, seconds in one.stages.items():
                per_launch.setdefault(stage, []).append(seconds / launches)  # type: ignore[arg-type]
        return {stage: statistics.fmean(values) for stage, values in per_launch.items()}

    # the whole campaign

    def compare(self, candidate: str, baseline: str) -> Compared:
        """Compare two runs or items."""
        with self._lock:
            ours, theirs = find_run(self._campaign, candidate), find_run(self._campaign, baseline)
            judgement = Court(self._campaign.reader, self._campaign.plan).judge(ours, theirs)
        return Compared(candidate=ours, baseline=theirs, judgement=judgement)

    def history(self) -> Sequence[Step]:
        """Return the ended runs in the order of time."""
        with self._lock:
            reader, plan = self._campaign.reader, self._campaign.plan
            adopted = {adoption.item for adoption in reader.adoptions(plan.name)}
            runs = [reader.run(run.id) for run in reversed(reader.runs(plan.name)) if run.outcome is not None]
        return [_step(run, plan.metric.name, adopted) for run in runs]

    def failures(self) -> Sequence[FailureGroup]:
        """Return the failures by fingerprint, latest first."""
        with self._lock:
            reader = self._campaign.reader
            known = reader.failures(self._campaign.plan.name)
            latest = [reader.run(failure.runs[-1]) for failure in known]
        return [
            FailureGroup(
                fingerprint=failure.fingerprint,
                kind=failure.kind,
                message=failure.message,
                stage=run.stage,
                runs=failure.runs,
                items=failure.items,
                last_at=failure.last_at,
                log_tail=run.failure.log_tail if run.failure else "",
            )
            for failure, run in zip(known, latest, strict=True)
        ]

    def calibration(self) -> Sequence[Calibration]:
        """Return expected against measured, for the items whose effect is decided."""
        with self._lock:
            reader = self._campaign.reader
            return calibrated(self._campaign.plan, self._campaign.states(), reader.run)

    # asking others to act

    def start_next(self) -> str:
        """Start the next item's run; return the run's id."""
        with self._lock:
            return self._campaign.start_next()

    def run_item(self, item: str) -> str:
        """Start a run of this item; return the run's id."""
        with self._lock:
            return self._campaign.start(item)

    def stop(self, run: str, *, force: bool = False) -> None:
        """Ask the runner to stop."""
        with self._lock:
            self._campaign.stop(run, force=force)

    def mark(self, item: str, status: Status, why: str) -> None:
        """Move the item to this status by hand."""
        with self._lock:
            self._campaign.mark(item, status, why=why)

    def skip(self, item: str, why: str) -> None:
        """Cancel the item."""
        self.mark(item, "cancelled", why)

    def note(self, item: str, text: str) -> None:
        """Attach a remark to the item."""
        with self._lock:
            self._campaign.note(item, text)

    def adopt(self, item: str) -> None:
        """Make the item part of the base of what follows."""
        with self._lock:
            decisions.adopt(self._campaign, item, why="adopted on the screen")

    def accept(self, item: str, field: str, why: str) -> None:
        """Accept a difference as harmless to this item, and judge it again."""
        with self._lock:
            decisions.accept(self._campaign, field, item=item, why=why)

    def ablate(self, item: str) -> Sequence[str]:
        """Add the items that take the item's treatment apart; return their ids."""
        with self._lock:
            return [part.id for part in decisions.ablate(self._campaign, item)]

    def _reload(self) -> None:
        """Read the plan's file again; one with errors is passed over until it is mended."""
        fresh = Campaign(self._settings, self._plan_file)
        try:
            fresh.written  # noqa: B018
        except PlanError:
            return
        fresh.__dict__["reader"] = self._campaign.reader
        self._campaign = fresh


def _step(run: Run, metric: str, adopted: set[str]) -> Step:
    series = series_of(run.samples, metric) if run.outcome == "succeeded" else None
    values = series.values if series else ()
    return Step(
        run=run.id,
        item=run.item,
        at=run.ended_at or run.started_at,
        outcome=run.outcome or "interrupted",
        value=statistics.median(values) if values else None,
        low=min(values, default=None),
        high=max(values, default=None),
        role="baseline" if run.beside else "candidate",
        adopted=run.item in adopted and run.beside is None,
    )

"""The reading half of a board held in memory: the re-enacted campaign."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import reduce
from pathlib import Path

from optrack.errors import UsageError
from optrack.model.events import Entry
from optrack.model.item import ItemState, Transition
from optrack.model.judgement import Judgement
from optrack.model.metrics import series_of
from optrack.model.plan import Plan, Quantity
from optrack.model.run import Run, Stage
from optrack.model.treatment import layers_of, overlay, treatment
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
from tests.tui import enacted, enacted_plan, enacted_runs


class FakeReading:
    """What can be read of the campaign; the journal and the states are held in dictionaries."""

    def __init__(self, logs: Path | None = None, *, live: bool = True, empty: bool = False) -> None:
        self._plan: Plan = (
            enacted_plan.plan() if not empty else Plan(name="new", path="plans/new.md", title="", text="")
        )
        self._runs: dict[str, Run] = {} if empty else {r.id: r for r in enacted_runs.runs()}
        self._judged = {} if empty else enacted.judgements()
        self._states = {
            s.item.id: s for s in enacted.states(self._plan, list(self._runs.values()), self._judged)
        }
        self._journal: dict[str, list[Entry]] = {
            r.id: enacted_runs.ended_journal(r) for r in self._runs.values()
        }
        self._logs = logs
        self._version = 1
        self.clock = enacted_plan.NOW
        if live and not empty:
            run = enacted_runs.live_run()
            self._runs[run.id] = run
            self._journal[run.id] = enacted_runs.live_journal()
        elif not empty:
            self._states["1B"] = self._states["1B"].model_copy(update={"status": "pending", "runs": 0})

    def version(self) -> int:
        return self._version

    def now(self) -> datetime:
        return self.clock

    def plan(self) -> Plan:
        return self._plan

    def items(self) -> Sequence[ItemState]:
        return list(self._states.values())

    def launches(self) -> Mapping[str, int]:
        counts: dict[str, int] = {}
        for run in self._runs.values():
            if run.role == "candidate":
                launched = 3 if run.samples else 1
                counts[run.item] = counts.get(run.item, 0) + launched
        return counts

    def choice(self) -> NextItem:
        reasons: dict[str, str] = {}
        blocked: dict[str, tuple[str, ...]] = {}
        chosen: str | None = None
        for state in self._states.values():
            unmet = tuple(
                n for n in state.item.needs if n not in self._states or self._states[n].status != "completed"
            )
            if unmet:
                blocked[state.item.id] = unmet
            if state.status != "pending":
                reasons[state.item.id] = state.status
            elif unmet:
                reasons[state.item.id] = f"needs {', '.join(unmet)}"
            elif self._plan.children(state.item.id):
                reasons[state.item.id] = "its experiments stand for it"
            elif chosen is None:
                chosen = state.item.id
        if chosen is None:
            why = "All items are done." if self._states else "The plan has no items yet."
            return NextItem(item=None, why=why, reasons=reasons, blocked=blocked)
        why = "first in rank of the items that are pending and not blocked"
        worth = {
            s.item.id: (s.item.gain.high or 0) / s.item.effort.high
            for s in self._states.values()
            if s.item.gain and s.item.effort and s.item.effort.high
        }
        return NextItem(item=chosen, why=why, reasons=reasons, blocked=blocked, worth=worth)

    def _status(self, item: str) -> str:
        return self._states[item].status if item in self._states else "gone"

    def live_runs(self) -> Sequence[Run]:
        return [r for r in self._runs.values() if r.outcome is None]

    def resolved(self, item: str) -> ResolvedItem:
        known = self._plan.item(item)
        if known is None:
            raise UsageError(f"no item {item}")
        data = reduce(overlay, (la.data for la in layers_of(self._plan, known)), dict(enacted_plan.BASE))
        return ResolvedItem(data=data, factors=treatment(data, enacted_plan.BASE))

    def runs(self, item: str) -> Sequence[Run]:
        mine = [r for r in self._runs.values() if r.item == item]
        return sorted(mine, key=lambda r: r.id, reverse=True)

    def transitions(self, item: str) -> Sequence[Transition]:
        state = self._states[item]
        if state.status == "pending":
            return []
        one = Transition(
            seq=1,
            plan=self._plan.name,
            item=item,
            at=enacted_plan.START,
            before="pending",
            after=state.status,
            who="mara",
            why="no InfiniBand on this host" if state.status == "cancelled" else "run ended",
        )
        return [one]

    def edit_path(self, item: str) -> tuple[Path, int]:
        return Path(self._plan.path), self._states[item].item.line

    def run(self, run: str) -> Run | None:
        return self._runs.get(run)

    def entries(self, run: str, after: int) -> Sequence[Entry]:
        return [e for e in self._journal.get(run, []) if e.seq > after]

    def log_path(self, run: str, which: LogKind) -> Path | None:
        if self._logs is None:
            return None
        path = self._logs / f"{which}.log"
        return path if path.exists() else None

    def so_far(self, run: str) -> Judgement | None:
        known = self._runs.get(run)
        if known is None or known.item in self._judged or run not in self._journal:
            return self._judged.get(known.item) if known else None
        return enacted.judgement(
            run,
            "20260302-150501-h9",
            "inconclusive",
            (0.121, 0.102, 0.141),
            "1 launch of each side so far; 2 more would decide.",
            factors=("env.NCCL_BUFFSIZE", "env.NCCL_MAX_NCHANNELS"),
        )

    def gauges(self, run: str) -> Sequence[Gauge]:
        def wave(base: float, swing: float, step: float) -> tuple[float, ...]:
            return tuple(
                max(0.0, base + swing * math.sin(i * step) + swing * math.sin(i * 1.7)) for i in range(120)
            )

        return (
            Gauge(name="GPU", unit="%", values=wave(72, 14, 0.31), full=100),
            Gauge(name="GPU memory", unit="GB", values=wave(84, 1, 0.05), full=96),
            Gauge(name="CPU", unit="%", values=wave(22, 8, 0.5), full=100),
            Gauge(name="memory", unit="GB", values=wave(211, 6, 0.02), full=512),
        )

    def expected_stages(self, run: str) -> Mapping[Stage, float]:
        return enacted_runs.STAGE_S

    def _latest(self, name: str) -> Run:
        if name in self._runs:
            return self._runs[name]
        mine = self.runs(name)
        if not mine:
            raise UsageError(f"{name} has no run yet", hint="run it first")
        return next((r for r in mine if r.samples), mine[0])

    def compare(self, candidate: str, baseline: str) -> Compared:
        ours, theirs = self._latest(candidate), self._latest(baseline)
        judged = self._judged.get(ours.item)
        if judged is None or judged.candidate != ours.id:
            judged = enacted.judgement(
                ours.id, theirs.id, "no_change", (0.004, -0.006, 0.014), "Within the noise."
            )
        return Compared(candidate=ours, baseline=theirs, judgement=judged)

    def history(self) -> Sequence[Step]:
        found = []
        for run in self._runs.values():
            if run.outcome is None:
                continue
            series = series_of(run.samples, "output_throughput")
            values = sorted(series.values) if series else []
            found.append(
                Step(
                    run=run.id,
                    item=run.item,
                    at=run.started_at,
                    outcome=run.outcome,
                    value=values[len(values) // 2] if values else None,
                    low=values[0] if values else None,
                    high=values[-1] if values else None,
                    role=run.role,
                    adopted=run.id == "20260302-094200-b7",
                )
            )
        return found

    def failures(self) -> Sequence[FailureGroup]:
        groups: dict[str, list[Run]] = {}
        for run in self._runs.values():
            if run.failure:
                groups.setdefault(run.failure.fingerprint, []).append(run)
        return [
            FailureGroup(
                fingerprint=print_,
                kind=runs[-1].failure.kind if runs[-1].failure else "",
                message=runs[-1].failure.message if runs[-1].failure else "",
                stage=runs[-1].stage,
                runs=tuple(r.id for r in runs),
                items=tuple(dict.fromkeys(r.item for r in runs)),
                last_at=runs[-1].started_at,
                log_tail=runs[-1].failure.log_tail if runs[-1].failure else "",
            )
            for print_, runs in groups.items()
        ]

    def calibration(self) -> Sequence[Calibration]:
        measured = {
            "3": Quantity(text="-1.1 ms", low=-1.4, high=-0.8, unit="ms"),
            "4": Quantity(text="2.2 ms", low=1.9, high=2.5, unit="ms"),
        }
        found = []
        for state in self._states.values():
            judged = state.judgement
            if state.item.gain and judged:
                found.append(
                    Calibration(
                        item=state.item.id,
                        title=state.item.title,
                        expected=state.item.gain,
                        measured=measured.get(state.item.id),
                        effect=judged.effect,
                    )
                )
        return found

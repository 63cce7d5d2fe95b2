"""The answers that tell a whole campaign: the exported log, and the page for an agent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import Field

from optrack.app.answers import Answer, View, document
from optrack.app.answers.items import AdoptionView, ItemStanding, ItemView, NextItem
from optrack.app.answers.runs import RunView, StatusChange
from optrack.model.judgement import Judgement
from optrack.model.metrics import Metric
from optrack.model.plan import Plan, Quantity
from optrack.model.run import Run
from optrack.plan.schedule import blocked_by
from optrack.render.log import Log


class WrittenAnswer(Answer):
    """`export -o`, `report -o`: the files written."""

    output: str
    format: str
    files: tuple[str, ...]


class MlflowAnswer(Answer):
    """`export --format mlflow`: where to, and the names of the runs written."""

    output: str
    format: str
    runs: tuple[str, ...]


class LogItem(ItemView):
    """An item in an exported log; `by_hand` tells that somebody set its status."""

    judgement: Judgement | None
    by_hand: bool


class AcceptanceEntry(View):
    """A difference that somebody accepted, for one item or (null) the whole plan."""

    field: str
    item: str | None
    who: str
    why: str
    at: datetime


class LogPlan(View):
    """The plan of an exported log."""

    name: str
    title: str
    metric: Metric
    target: Quantity | None
    min_effect: float
    baseline: str


class ExpectedEntry(View):
    """An expected gain and the measured one."""

    item: str
    low: float
    high: float
    measured: float


class CalibrationView(View):
    """All expectations of a plan; `ratio` is expected over measured gain."""

    items: tuple[ExpectedEntry, ...]
    ratio: float | None
    text: str


class ExportAnswer(Answer):
    """`export --format json`: the whole log."""

    plan: LogPlan
    items: tuple[LogItem, ...]
    runs: tuple[RunView, ...]
    transitions: tuple[StatusChange, ...]
    acceptances: tuple[AcceptanceEntry, ...]
    adoptions: tuple[AdoptionView, ...]
    calibration: CalibrationView
    next: str | None


def export_answer(log: Log) -> ExportAnswer:
    """Return the log as one document."""
    from optrack.render.report import calibration_of

    return ExportAnswer(
        plan=LogPlan(**_plan(log, LogPlan)),
        items=tuple(
            LogItem.of(
                state,
                log.recipes.get(state.item.id),
                judgement=state.judgement,
                by_hand=bool(log.by_hand(state.item.id)),
            )
            for state in log.states
        ),
        runs=tuple(map(RunView.of, log.runs)),
        transitions=tuple(map(StatusChange.of, log.transitions)),
        acceptances=tuple(map(AcceptanceEntry.of, log.acceptances)),
        adoptions=tuple(map(AdoptionView.of, log.adoptions)),
        calibration=CalibrationView.of(calibration_of(log)),
        next=log.choice.item if log.choice else None,
    )


def json_log(log: Log) -> str:
    """Return the log as JSON text."""
    return json.dumps(document(export_answer(log)), ensure_ascii=False, indent=2, default=str) + "\n"


def _plan(log: Log, view: type[View]) -> dict[str, Any]:
    own = {name: getattr(log.plan, name) for name in view.model_fields if name in Plan.model_fields}
    return own | {"metric": log.metric}


class ContextPlan(View):
    """The plan that an agent works on."""

    name: str
    path: str
    title: str
    metric: Metric
    target: Quantity | None
    min_effect: float
    baseline: str


class GoingRun(View):
    """A run that is going on."""

    run: str
    item: str
    who: str


class CommandHelp(View):
    """A command that an agent may use, and what it does."""

    command: str
    does: str


class ContextAnswer(Answer):
    """`context`: one page for an agent."""

    plan: ContextPlan
    items: tuple[ItemStanding, ...]
    next: NextItem
    going: tuple[GoingRun, ...]
    commands: tuple[CommandHelp, ...]
    exit_codes: Mapping[str, str]
    rules: tuple[str, ...]
    log: Log = Field(exclude=True)
    runs: tuple[Run, ...] = Field(exclude=True)


def context_answer(log: Log, going: tuple[Run, ...]) -> ContextAnswer:
    """Return the page: plan, items, what is next, runs going on, commands, exit codes, rules."""
    from optrack.render.briefing import COMMANDS, EXIT_CODES, RULES

    known = {state.item.id: state for state in log.states}
    return ContextAnswer(
        plan=ContextPlan(**_plan(log, ContextPlan)),
        items=tuple(ItemStanding.of(state, blocked_by(state.item, known)) for state in log.states),
        next=NextItem.of(log.choice),
        going=tuple(GoingRun(run=run.id, item=run.item, who=run.actor) for run in going),
        commands=tuple(CommandHelp(command=name, does=does) for name, does in COMMANDS),
        exit_codes={str(number): meaning for number, meaning in EXIT_CODES},
        rules=RULES,
        log=log,
        runs=going,
    )

"""The answers that tell a whole campaign: the exported log, and the page for an agent."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic import Field

from optrack.app.answers import Answer, View, document
from optrack.app.answers.items import ItemStanding, ItemView, NextItem, PlanHead
from optrack.app.answers.runs import RunView
from optrack.judge.calibration import Calibration
from optrack.model.item import Acceptance, Adoption, Transition
from optrack.model.judgement import Judgement
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


class ExportAnswer(Answer):
    """`export --format json`: the whole log."""

    plan: PlanHead
    items: tuple[LogItem, ...]
    runs: tuple[RunView, ...]
    transitions: tuple[Transition, ...]
    acceptances: tuple[Acceptance, ...]
    adoptions: tuple[Adoption, ...]
    calibration: Calibration
    next: str | None


def export_answer(log: Log) -> ExportAnswer:
    """Return the log as one document."""
    from optrack.render.report import calibration_of

    return ExportAnswer(
        plan=_plan_head(log),
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
        transitions=log.transitions,
        acceptances=log.acceptances,
        adoptions=log.adoptions,
        calibration=calibration_of(log),
        next=log.choice.item if log.choice else None,
    )


def json_log(log: Log) -> str:
    """Return the log as JSON text."""
    return json.dumps(document(export_answer(log)), ensure_ascii=False, indent=2, default=str) + "\n"


def _plan_head(log: Log, *, with_path: bool = False) -> PlanHead:
    plan = log.plan
    return PlanHead(
        name=plan.name,
        path=plan.path if with_path else None,
        title=plan.title,
        metric=log.metric,
        target=plan.target,
        min_effect=plan.min_effect,
        baseline=plan.baseline,
    )


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

    plan: PlanHead
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
        plan=_plan_head(log, with_path=True),
        items=tuple(ItemStanding.of(state, blocked_by(state.item, known)) for state in log.states),
        next=NextItem.of(log.choice),
        going=tuple(GoingRun(run=run.id, item=run.item, who=run.actor) for run in going),
        commands=tuple(CommandHelp(command=name, does=does) for name, does in COMMANDS),
        exit_codes={str(number): meaning for number, meaning in EXIT_CODES},
        rules=RULES,
        log=log,
        runs=going,
    )

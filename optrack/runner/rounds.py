"""What is laid down of each candidate before the first round of launches, and after which of them it has enough."""

from __future__ import annotations

from optrack.app.evaluator import Evaluator
from optrack.model.events import RunStarted
from optrack.runner.context import RunContext
from optrack.runner.session import Arm


def begin(context: RunContext, arm: Arm) -> None:
    """Record what a candidate's run will do, and lay down how it is measured and judged."""
    session, run = context.session, arm.run
    started = RunStarted(
        item=run.item,
        log_dir=str(arm.folder),
        launches=session.most_launches,
        repetitions=arm.recipe.repetitions,
        at_most=session.is_sequential,
    )
    context.store.record(run.id, started)
    if run.item == session.plan.baseline:
        return
    beside = session.baseline.run.id if session.baseline is not None else None
    planned = Evaluator(context.store.reader, session.plan).planned(
        run,
        seed=session.seed,
        interleaved=beside is not None,
        baseline=beside if session.others else None,
        companions=[other.run.id for other in session.candidates if session.others and other is not arm],
    )
    context.store.record(run.id, planned)


def settle(context: RunContext) -> None:
    """Mark, at the end of a round of a sequential session, the candidates of which more launches decide nothing."""
    session, theirs = context.session, context.session.baseline
    if theirs is None or not session.is_sequential:
        return
    reader = context.store.reader
    baseline = reader.run(theirs.run.id).model_copy(update={"outcome": "succeeded"})
    for arm in session.candidates:
        if arm.result is None and not arm.is_settled:
            candidate = reader.run(arm.run.id).model_copy(update={"outcome": "succeeded"})
            arm.is_settled = Evaluator(reader, session.plan).settled(candidate, baseline)
            if arm.is_settled:
                made = session.kept + arm.launches
                what = f"rounds: {arm.run.item}" if session.others else "pairs of launches"
                context.note(f"settled after {made} {what}")

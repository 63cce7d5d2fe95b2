"""The whole line for one item, on one page: its launches stage by stage, the verdict, the record of how it ended."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime

from optrack.app.evaluator import Evaluator
from optrack.app.sensitivity import sensitivity
from optrack.engines.protocol import BenchCommand
from optrack.host.capture import capture_after
from optrack.host.launch import StageFailed, wait_until_ready
from optrack.host.teardown import tear_down
from optrack.judge.failures import plain_failure
from optrack.judge.reasons import HOST_CAUSES
from optrack.model.events import LaunchPlaced, PartsCaptured, RunEnded
from optrack.model.judgement import Judgement
from optrack.model.plan import Status
from optrack.runner.capture import (
    BEFORE_BENCH_S,
    capture_before,
    capture_failed_start,
    capture_files,
    capture_server,
    close_code,
    patched_code,
    take_code,
    with_readers,
)
from optrack.runner.context import RunContext
from optrack.runner.launch import Launch, choose_place
from optrack.runner.measure import measure, run_checks, warm_up
from optrack.runner.rounds import begin, settle
from optrack.runner.session import Arm

SUCCEEDED = RunEnded(outcome="succeeded", stage="teardown")


def run_session(context: RunContext) -> RunEnded:
    """Measure both arms launch by launch, judge the candidate, record how it ended, and return that."""
    with context.session.parser:
        context.session.parser.start()
        run_launches(context)
    return finish(context)


def run_launches(context: RunContext) -> None:
    """Go through the launches in order, until none of the candidates needs more or one fails for all."""
    session = context.session
    for arm in session.candidates:
        begin(context, arm)
    if session.why_not_resumed is not None:
        context.note(session.why_not_resumed)
    for turn in session.schedule():
        arm = turn.arm
        if arm is session.baseline and not arm.launches:
            context.store.claim(arm.run)
        if arm in session.others:
            context.note(f"{arm.run.item} launch {turn.number + 1}")
        placed = LaunchPlaced(launch=turn.number, position=turn.position, round=turn.round)
        context.store.record(arm.run.id, placed)
        arm.launches += 1
        try:
            run_launch(context, arm, turn.number)
        except StageFailed as failed:
            failure = context.store.gate.value(failed.failure)
            arm.result = RunEnded(outcome=failed.outcome, stage=failed.stage, failure=failure)
            if arm is session.baseline or arm.result.outcome == "interrupted":
                for other in session.candidates:
                    other.result = other.result or (None if other.is_settled else interrupted(arm.result))
                return
        if turn.is_last:
            settle(context)


def interrupted(result: RunEnded) -> RunEnded | None:
    """Return the end of a run that others share because somebody stopped the session; None for any other end."""
    return result if result.outcome == "interrupted" else None


def run_launch(context: RunContext, arm: Arm, number: int) -> None:
    """Go through the stages of one launch; raises StageFailed with the one that ended it, after the teardown."""
    launch = preflight(context, arm, number)
    setup(launch)
    if arm.snapshot is None:
        with launch.stage("preflight"):
            capture_before(launch)
    try:
        launch = launch.with_server()
        ready(launch)
        bench(launch)
        check(launch)
        resume(launch)
    finally:
        teardown(launch)


def preflight(context: RunContext, arm: Arm, number: int) -> Launch:
    """Choose the launch's port, make its folder, and find (or make) the code that it runs."""
    (arm.folder / f"launch-{number}").mkdir(parents=True, exist_ok=True)
    with context.timed(arm.run, number, "preflight"):
        cwd = context.session.settings.project / (arm.recipe.cwd or "")
        place = choose_place(arm, number, cwd, lambda place: context.session.environment(arm, place))
        if arm.repo is None:
            arm.repo = patched_code(arm, context.session.settings.project, context.stop.is_requested)
        return Launch(context, arm, number, place, context.session.environment(arm, place))


def setup(launch: Launch) -> None:
    """Run the recipe's `setup` before the first launch."""
    if launch.recipe.setup and launch.is_first:
        with launch.stage("setup", "setup.log"):
            command = BenchCommand(shell=launch.recipe.setup, parser="rules")
            launch.run_command(command, "setup", launch.recipe.timeout.setup_s)


def ready(launch: Launch) -> None:
    """Wait until the server is ready, and capture what it runs with."""
    if launch.server is None:
        return
    conditions = launch.engine.ready(launch.recipe)
    try:
        with launch.stage("ready", "server.log"):
            wait_until_ready(
                launch.server,
                conditions,
                host=launch.place.host,
                port=launch.place.port,
                log=launch.log,
                should_stop=launch.context.stop.is_requested,
                env=launch.env,
                cwd=launch.cwd,
                limits=launch.limits.model_copy(update={"silence_s": conditions.silence_s}),
                parser=launch.context.session.parser,
            )
    except StageFailed:
        capture_failed_start(launch)
        raise
    capture_server(launch)


def bench(launch: Launch) -> None:
    """Warm up, then run, parse and record every repetition of every benchmark."""
    take_code(launch.context, launch.arm, BEFORE_BENCH_S)
    capture_files(launch)
    with launch.stage("bench", "bench.log"):
        warm_up(launch)
        measure(launch)
    capture_files(launch)


def check(launch: Launch) -> None:
    """Run the guards' commands, once for each arm."""
    if launch.is_first:
        run_checks(launch)


def resume(launch: Launch) -> None:
    """Take over what an interrupted run measured, if what this one's first launch ran is still the same."""
    resuming = launch.context.session.resuming
    if resuming is not None and launch.is_first:
        close_code(launch.context, launch.arm)
        if launch.arm.snapshot is not None:
            resuming.compare(launch.context, launch.arm.run, launch.arm.snapshot)


def teardown(launch: Launch) -> None:
    """End the server and all that it started, and record what is left in spite of that."""
    take_code(launch.context, launch.arm)
    if launch.server is None:
        return
    with launch.stage("teardown", "server.log"):
        ended = tear_down(
            launch.server,
            signal=launch.engine.stop_signal(),
            grace_s=launch.recipe.timeout.grace_s,
            is_forced=launch.context.stop.is_forced,
            port=None if launch.recipe.runs_already else launch.place.port,
            gpus=() if launch.recipe.runs_already else launch.gpus,
            within_s=launch.recipe.timeout.teardown_s,
        )
    for line in ended.left:
        launch.context.note(f"left after the teardown: {line}")


def finish(context: RunContext) -> RunEnded:
    """Close the session's runs, judge the candidates, and leave their items where that puts them."""
    session, baseline = context.session, context.session.baseline
    for arm in session.arms:
        look_again(context, arm)
    results = {arm.run.id: arm.result or SUCCEEDED for arm in session.candidates}
    if baseline is not None and baseline.launches:
        record_result(context, baseline, baseline_result(baseline, list(results.values())))
    for arm in (*session.others, session.candidate):
        result = results[arm.run.id]
        if baseline is not None and baseline.result is not None:
            result = broken_off(baseline.result)
        result = with_standing(result, judge(context, arm, result))
        if arm.run.item == session.plan.baseline and result.outcome == "succeeded":
            say_what_shows(context, arm)
        record_result(context, arm, result)
    return result


def say_what_shows(context: RunContext, arm: Arm) -> None:
    """Note how far launches differ on this host, and which effects that lets show."""
    shown = sensitivity(context.store.reader, context.session.plan, arm.recipe, ending=arm.run.id)
    if shown is not None:
        context.note(shown.text)


def look_again(context: RunContext, arm: Arm) -> None:
    """Complete an arm's snapshot: its code, what was edited meanwhile, and the load while it was measured."""
    if arm.snapshot is None:
        return
    close_code(context, arm)
    load = arm.sampler.summary() if arm.sampler is not None else None
    seen = arm.snapshot.model_copy(update={"load": load})
    after = with_readers(context, arm, capture_after(seen, salt=context.session.salt))
    context.store.record(arm.run.id, PartsCaptured.of(after, arm.snapshot))


def judge(context: RunContext, arm: Arm, result: RunEnded) -> Judgement | None:
    """Return and record the judgement of a candidate; None for the baseline itself, and for a run that was
    interrupted or that the host made fail: it shows nothing, so what was found before stays in force."""
    plan, store = context.session.plan, context.store
    run = store.reader.run(arm.run.id)
    if run.item == plan.baseline or result.outcome == "interrupted" or is_hosts_fault(result):
        return None
    ended = {"outcome": result.outcome, "stage": result.stage, "failure": result.failure}
    evaluator = Evaluator(store.reader, plan)
    judgement = evaluator.judge(run.model_copy(update=ended))
    evaluator.record(store, judgement, run, datetime.now(UTC))
    return judgement


def with_standing(result: RunEnded, judgement: Judgement | None) -> RunEnded:
    """Return the result with where it leaves the item, and why: a result completes it, a failed experiment included."""
    cause = result.failure.message if result.failure else ""
    status: Status = "pending"
    if result.outcome == "interrupted":
        why = cause or "the run was interrupted"
    elif is_hosts_fault(result):
        why = f"the host, not the item, is at fault: {cause}"
    elif judgement is None and result.outcome != "succeeded":
        why = "the baseline couldn't be measured"
    elif judgement is None:
        status, why = "completed", "the baseline was measured"
    else:
        status, why = "completed", next(iter(judgement.reasons), f"verdict: {judgement.verdict}")
    verdict = judgement.verdict if judgement is not None else None
    return result.model_copy(update={"item_after": status, "why": why, "verdict": verdict})


def is_hosts_fault(result: RunEnded) -> bool:
    """Whether a run ended for a cause that says nothing of its item."""
    return result.failure is not None and result.failure.kind in HOST_CAUSES


def record_result(context: RunContext, arm: Arm, result: RunEnded) -> None:
    """Record how an arm's run ended, and with it where its item stands."""
    seconds = round(time.monotonic() - arm.begin, 3)
    context.store.record(arm.run.id, result.model_copy(update={"seconds": seconds}))


def baseline_result(baseline: Arm, candidates: Sequence[RunEnded]) -> RunEnded:
    """Return how the baseline's run ended: its own way, or interrupted with the whole session."""
    ended = next((result for result in candidates if result.outcome == "interrupted"), SUCCEEDED)
    return (baseline.result or ended).model_copy(update={"why": "measured beside another run"})


def broken_off(baseline: RunEnded) -> RunEnded:
    """Return how the candidate's run ends where the baseline beside it fails: nothing can be compared any more."""
    if baseline.outcome == "interrupted":
        return baseline
    what = baseline.failure.message if baseline.failure else baseline.outcome
    failure = plain_failure("baseline_failed", f"the baseline measured beside it failed: {what}")
    return RunEnded(outcome="interrupted", stage=baseline.stage, failure=failure)

"""Benchmark passes and checks of a launch: what they printed, as samples of the run."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from optrack.engines.protocol import BenchCommand
from optrack.host import logs
from optrack.host.launch import StageFailed
from optrack.host.observer import TreeObserver
from optrack.host.parsing import ParseAnswer, ParseError, ParseRequest, ParseStoppedError
from optrack.host.reach import Reached
from optrack.host.regular import written_at
from optrack.host.stretch import Stretch, tail_of
from optrack.judge.failures import plain_failure
from optrack.metrics.output import Parsed
from optrack.metrics.requests import asked_in_shell
from optrack.metrics.tool import REPEATED
from optrack.model.events import RepetitionMeasured, SamplesAdded
from optrack.model.metrics import CHECK, Metric, Sample
from optrack.model.part import Value
from optrack.model.recipe_parts import Bench
from optrack.model.snapshot import BenchWork, Snapshot
from optrack.runner.capture import capture_passes, keep
from optrack.runner.launch import Launch

_LAST_BYTES = 2**20
_NUMBER = re.compile(rb"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def warm_up(launch: Launch) -> None:
    """Run the warm-up benchmarks; what they measure isn't kept."""
    for bench in launch.recipe.warmup:
        command = launch.engine.bench(launch.recipe, bench, launch.place)
        launch.run_command(command, "warmup", launch.recipe.timeout.bench_s)


def measure(launch: Launch) -> None:
    """Run, parse and record every repetition of every benchmark, the server in the same state before each."""
    context, arm = launch.context, launch.arm
    measured: tuple[Sample, ...] = ()
    for repetition in range(launch.recipe.repetitions):
        if launch.server is not None and (why := launch.engine.settle(launch.recipe, launch.place)):
            context.note_once(arm, why)
        with arm.sampling(context.session.gpus):
            samples = _pass(launch, repetition)
        context.store.record(
            arm.run.id,
            RepetitionMeasured(
                launch=launch.number, repetition=repetition, side=arm.run.role, samples=samples
            ),
        )
        measured += samples
    if launch.number == 0:
        _require_valid(measured, context.session.plan.metric.name)


def run_checks(launch: Launch) -> None:
    """Run the checks' commands; the last number that one prints is its value."""
    for name, check in launch.recipe.check.items():
        if check.command is None:
            continue
        with launch.stage("bench", f"check-{name}.log"):
            command = BenchCommand(shell=check.command, parser="rules")
            output = launch.run_command(command, f"check-{name}", launch.recipe.timeout.check_s)
        numbers = _NUMBER.findall(tail_of(output, _LAST_BYTES))
        sample = Sample(
            metric=Metric(name=f"{CHECK}{name}"),
            value=float(numbers[-1]) if numbers else math.nan,
            launch=launch.number,
            repetition=0,
            invalid=None if numbers else "the check printed no number",
        )
        launch.context.store.record(launch.arm.run.id, SamplesAdded(samples=(sample,)))


def _pass(launch: Launch, repetition: int) -> tuple[Sample, ...]:
    """Run every benchmark once, and keep what its processes had whatever came of it."""
    observers = [TreeObserver() for _ in launch.recipe.bench]
    try:
        return tuple(
            sample
            for bench, observer in zip(launch.recipe.bench, observers, strict=True)
            for sample in _samples(launch, bench, repetition, observer)
        )
    finally:
        for observer in observers:
            observer.stop()
        capture_passes(launch, observers)


def _samples(launch: Launch, bench: Bench, repetition: int, observer: TreeObserver) -> tuple[Sample, ...]:
    """Run one benchmark pass and return its samples; raises StageFailed if it gave nothing usable."""
    recipe = launch.recipe
    command = launch.engine.bench(recipe, bench, launch.place)
    begin = logs.mark(launch.log)
    names = dict.fromkeys(rule.file for rule in recipe.metrics.values() if rule.file)
    files = {name: launch.cwd / name.replace("$RUN_DIR", str(launch.place.run_dir)) for name in names}
    before = {name: written_at(path) for name, path in files.items()}
    reach = launch.reach(observer) if command.asks_server else None
    output = launch.run_command(command, "bench", recipe.timeout.bench_s, observer, reach)
    observer.stop()
    reached = reach.result() if reach is not None else Reached(True)
    asked = asked_in_shell(command.shell, launch.env)
    answer = _parse(
        launch,
        ParseRequest(
            parser=command.parser,
            output=output,
            log=Stretch.since(launch.log, begin) if launch.server is not None else None,
            engine=recipe.engine,
            rules=recipe.metrics,
            files=files,
            stale=tuple(f for f, at in before.items() if at is not None and at == written_at(files[f])),
            expected_requests=command.requests,
            asked_requests=asked,
            primary=_primary(launch, bench),
        ),
    )
    parsed = answer.parsed.because(reached.why if reached.is_so is False else None)
    if not parsed.readings:
        why = parsed.invalid or "the benchmark's output has no metric that its parser knows"
        why = "; ".join((why, *parsed.notes))
        raise StageFailed("parse", "failed", plain_failure("no_result", why, answer.tail))
    for note in parsed.notes:
        launch.context.note_once(launch.arm, note)
    settings = {**({} if asked is None else {"num_prompts": asked}), **parsed.settings}
    unseen = reached.why if reached.is_so is None else None
    _keep_work(launch, bench.name, BenchWork(settings=settings, unread=[parsed.unread or ""], unseen=unseen))
    measured = {reading.metric.name for reading in parsed.readings}
    logged = [reading for reading in answer.logged if reading.metric.name not in measured]
    parsed = parsed.model_copy(update={"readings": (*parsed.readings, *logged)})
    prefix = f"{bench.name}." if len(recipe.bench) > 1 else ""
    return _as_samples(parsed, launch.number, repetition, prefix)


def _keep_work(launch: Launch, bench: str, seen: BenchWork) -> None:
    """Keep what a pass was asked to do, beside what those before it were."""
    arm = launch.arm
    work = dict((arm.snapshot and arm.snapshot.work) or {})
    before = work.get(bench)
    known = before if isinstance(before, BenchWork) else BenchWork(settings={}, unread=[])
    settings = dict(known.settings)
    for name, value in sorted(seen.settings.items()):
        if name in REPEATED:
            settings[name] = _joined(settings.get(name), value)
    unread = list(dict.fromkeys([*known.unread, *filter(None, seen.unread)]))
    unseen = known.unseen or seen.unseen
    work[bench] = BenchWork(settings=settings, unread=unread, **({"unseen": unseen} if unseen else {}))
    if work[bench] != before:
        keep(launch.context, arm, Snapshot(work=work))


def _joined(before: Value, value: Value) -> Value:
    """Return a setting as all passes so far had it: one value, or the list of different ones."""
    values = before if isinstance(before, list) else [] if before is None else [before]
    joined = [*values, *([value] if value not in values else [])]
    return joined[0] if len(joined) == 1 else joined


def _primary(launch: Launch, bench: Bench) -> str:
    """Return the plan's metric as this benchmark's parser gives it; empty where something else does."""
    name = launch.context.session.plan.metric.name
    if name in launch.recipe.derived or name.startswith(CHECK):
        return ""
    prefix = f"{bench.name}."
    if len(launch.recipe.bench) == 1:
        return name
    return name.removeprefix(prefix) if name.startswith(prefix) else ""


def _parse(launch: Launch, request: ParseRequest) -> ParseAnswer:
    """Return what a pass measured; raises StageFailed (`parse`) if that takes too long or is stopped."""
    parser, stop = launch.context.session.parser, launch.context.stop
    try:
        return parser.parse(request, should_stop=stop.is_requested)
    except ParseStoppedError:
        failure = plain_failure("interrupted", "stopped on request")
        raise StageFailed("parse", "interrupted", failure) from None
    except ParseError as error:
        message = f"{error.message}; {error.hint}" if error.hint else error.message
        if error.is_timeout:
            raise StageFailed("parse", "timed_out", plain_failure("timed_out", message)) from None
        raise StageFailed("parse", "failed", plain_failure("no_result", message)) from None


def _as_samples(parsed: Parsed, launch: int, repetition: int, prefix: str) -> tuple[Sample, ...]:
    return tuple(
        Sample(
            metric=reading.metric.model_copy(update={"name": prefix + reading.metric.name}),
            value=reading.value,
            launch=launch,
            repetition=repetition,
            invalid=parsed.invalid or _why_not_finite(reading.value),
        )
        for reading in parsed.readings
    )


def _require_valid(samples: Sequence[Sample], primary: str) -> None:
    """Raise StageFailed if none of a first launch's samples is a measurement: further launches won't be either.

    Those of the primary metric count, or all where it wasn't found.
    """
    counting = [sample for sample in samples if sample.metric.name == primary] or samples
    whys = [sample.invalid or _why_not_finite(sample.value) for sample in counting]
    if all(whys):
        why = f"no repetition of the first launch is a valid measurement: {next(iter(whys), 'none was made')}"
        raise StageFailed("parse", "failed", plain_failure("invalid_result", why))


def _why_not_finite(value: float) -> str | None:
    return None if math.isfinite(value) else f"{value:g} is no finite number"

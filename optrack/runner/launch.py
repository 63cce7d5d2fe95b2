"""One launch: started, ready, captured, benchmarked, checked, torn down."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from optrack.engines.protocol import BenchCommand, Place
from optrack.host import logs
from optrack.host.bench import run_bench
from optrack.host.fitness import GpuUse, free_port, gpu_use, is_free, port_problem
from optrack.host.launch import StageFailed, start_server, wait_until_ready
from optrack.host.logs import Limits
from optrack.host.parsing import ParseAnswer, ParseError, ParseRequest, ParseStoppedError
from optrack.host.stretch import Stretch
from optrack.host.teardown import tear_down
from optrack.host.tree import Tree
from optrack.judge.failures import plain_failure
from optrack.metrics.requests import asked_in_shell
from optrack.model.events import RepetitionMeasured
from optrack.model.metrics import CHECK, Metric, Sample
from optrack.model.recipe import Bench
from optrack.model.run import ProcessId, Stage
from optrack.runner.capture import Capturing, code_of
from optrack.runner.journal import Journal
from optrack.runner.samples import last_number, require_valid, samples_of
from optrack.runner.session import Session, Side
from optrack.runner.stop_signal import Will

if TYPE_CHECKING:
    from optrack.store.store import Store


class Launching:
    """The launch number `number` (from 0) of one side of a session."""

    def __init__(
        self, session: Session, side: Side, number: int, store: Store, journal: Journal, will: Will
    ) -> None:
        self.session, self.side, self.number = session, side, number
        self.is_first = number == session.first
        self.store, self.journal, self.will = store, journal, will
        self.recipe, self.engine, self.run_id = side.recipe, side.engine, side.run.id
        self.folder = side.folder / f"launch-{number}"
        self.log = self.folder / "server.log"
        self.cwd = session.settings.project / (self.recipe.cwd or "")
        self.limits = Limits(log_bytes=self.recipe.log_limit_bytes)
        self.server: Tree | None = None
        self.capturing = Capturing(session, side, number, store, journal)
        self.gpus: tuple[GpuUse, ...] = ()

    def run(self) -> None:
        """Go through the stages; raises StageFailed with the one that ended it, after the teardown."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self.stage("preflight"):
            self.place = self.choose_place()
            if self.side.repo is None:
                self.side.repo = code_of(self.side, self.session.settings.project, self.will.stop)
            self.env = self.session.environment(self.side, self.place)
        if self.recipe.setup and self.is_first:
            with self.stage("setup", "setup.log"):
                command = BenchCommand(shell=self.recipe.setup, parser="rules")
                self.command(command, "setup", self.recipe.timeout.setup_s, None)
        if self.side.snapshot is None:
            with self.stage("preflight"):
                self.capturing.before(self.env)
        try:
            server = self.launch()
            if server is not None:
                self.wait(server)
                self.capturing.take_code()
                self.capturing.running(server, self.place, self.log)
            if self.is_first and self.session.resuming is not None and self.side.snapshot is not None:
                self.session.resuming.look(self.side.run, self.side.snapshot, self.store, self.journal)
            self.capturing.take_code()
            self.measure(server)
            if self.is_first:
                self.check(server)
        finally:
            self.capturing.take_code()
            if self.server is not None:
                self.teardown(self.server)

    def stage(self, name: Stage, log: str | None = None) -> AbstractContextManager[None]:
        """Time a stage of this launch and tell it."""
        path = str(self.folder / log) if log else None
        return self.journal.timed(self.side.run, self.number, name, path)

    def choose_place(self) -> Place:
        """Return the launch's folder and port; a port that the recipe fixes must be free."""
        port = self.recipe.port or free_port()
        if not is_free(port):
            raise StageFailed("preflight", "failed", plain_failure("port_in_use", port_problem(port)))
        return Place(
            run=self.run_id, item=self.side.run.item, launch=self.number, run_dir=self.folder, port=port
        )

    def remember(self, process: ProcessId) -> None:
        """Record a process of the run, so that whoever finds the run dead can end it."""
        self.store.record_process(self.run_id, process, self.journal.stage)

    def appeared(self, process: ProcessId) -> None:
        """Record a process of the server, and look at it while it lives."""
        self.remember(process)
        self.capturing.appeared(process)

    def launch(self) -> Tree | None:
        """Start the server, if the recipe has one."""
        command = self.engine.server(self.recipe, self.place)
        if command is None:
            return None
        with self.stage("launch", "server.log"):
            self.gpus = gpu_use(self.session.gpus)
            self.env |= {key: value for key, value in command.env.items() if key not in self.recipe.env}
            self.server = start_server(
                command.shell, self.env, self.cwd, self.log, run=self.run_id, on_new=self.appeared
            )
            self.side.tree = self.server
        return self.server

    def wait(self, server: Tree) -> None:
        """Wait until the server is ready."""
        ready = self.engine.ready(self.recipe)
        try:
            with self.stage("ready", "server.log"):
                wait_until_ready(
                    server,
                    ready,
                    host=self.place.host,
                    port=self.place.port,
                    log=self.log,
                    should_stop=self.will.stop,
                    env=self.env,
                    cwd=self.cwd,
                    limits=self.limits.model_copy(update={"silence_s": ready.silence_s}),
                    parser=self.session.parser,
                )
        except StageFailed:
            self.capturing.failed_start(self.log)
            raise

    def measure(self, server: Tree | None) -> None:
        """Warm up, then run, parse and record every repetition of every benchmark."""
        with self.stage("bench", "bench.log"):
            for bench in self.recipe.warmup:
                command = self.engine.bench(self.recipe, bench, self.place)
                self.command(command, "warmup", self.recipe.timeout.bench_s, server)
            measured: tuple[Sample, ...] = ()
            for repetition in range(self.recipe.repetitions):
                self.settle(server)
                with self.side.sampling(self.session.gpus):
                    samples = tuple(
                        s for b in self.recipe.bench for s in self.measured(b, repetition, server)
                    )
                self.store.add_samples(self.run_id, samples)
                self.journal.tell(
                    RepetitionMeasured(
                        launch=self.number, repetition=repetition, side=self.side.run.role, samples=samples
                    )
                )
                measured += samples
            if self.number == 0:
                require_valid(measured, self.session.plan.metric.name)

    def measured(self, bench: Bench, repetition: int, server: Tree | None) -> tuple[Sample, ...]:
        """Run one benchmark pass and return its samples; raises StageFailed if it gave nothing usable."""
        command = self.engine.bench(self.recipe, bench, self.place)
        begin = logs.mark(self.log)
        output = self.command(command, "bench", self.recipe.timeout.bench_s, server)
        log = Stretch.since(self.log, begin) if server is not None else None
        answer = self.parse(
            ParseRequest(
                parser=command.parser,
                output=output,
                log=log,
                engine=self.recipe.engine,
                rules=self.recipe.metrics,
                files=self.named_files(),
                expected_requests=command.requests,
                asked_requests=asked_in_shell(command.shell, self.recipe.env),
            )
        )
        parsed = answer.parsed
        if not parsed.readings:
            why = parsed.invalid or "the benchmark's output has no metric that its parser knows"
            why = "; ".join((why, *parsed.notes))
            raise StageFailed("parse", "failed", plain_failure("no_result", why, answer.tail))
        for note in parsed.notes:
            self.note(note)
        prefix = f"{bench.name}." if len(self.recipe.bench) > 1 else ""
        known = {reading.metric.name for reading in parsed.readings}
        logged = [reading for reading in answer.logged if reading.metric.name not in known]
        parsed = parsed.model_copy(update={"readings": (*parsed.readings, *logged)})
        return samples_of(parsed, self.number, repetition, prefix)

    def parse(self, request: ParseRequest) -> ParseAnswer:
        """Return what a pass measured; raises StageFailed (`parse`) if that takes too long or is stopped."""
        try:
            return self.session.parser.parse(request, should_stop=self.will.stop)
        except ParseStoppedError:
            failure = plain_failure("interrupted", "stopped on request")
            raise StageFailed("parse", "interrupted", failure) from None
        except ParseError as error:
            message = f"{error.message}; {error.hint}" if error.hint else error.message
            if error.is_timeout:
                raise StageFailed("parse", "timed_out", plain_failure("timed_out", message)) from None
            raise StageFailed("parse", "failed", plain_failure("no_result", message)) from None

    def note(self, text: str) -> None:
        """Say once, however often it comes up, what a reader of the run should know."""
        if text not in self.side.said:
            self.side.said.add(text)
            self.journal.note(text if self.side is self.session.candidate else f"baseline: {text}")

    def settle(self, server: Tree | None) -> None:
        """Bring the server to the same state before each pass; say so, once, where that fails."""
        if server is None:
            return
        why = self.engine.settle(self.recipe, self.place)
        if why:
            self.note(why)

    def named_files(self) -> dict[str, Path]:
        """Return the files that the recipe's metrics are read from, by the name that it gives them."""
        named = (rule.file for rule in self.recipe.metrics.values() if rule.file)
        return {name: self.cwd / name.replace("$RUN_DIR", str(self.folder)) for name in named}

    def check(self, server: Tree | None) -> None:
        """Run the guards' commands, once on each side; the last number that one prints is its value."""
        for name, check in self.recipe.check.items():
            if check.command is None:
                continue
            with self.stage("bench", f"check-{name}.log"):
                command = BenchCommand(shell=check.command, parser="rules")
                output = self.command(command, f"check-{name}", self.recipe.timeout.check_s, server)
            value = last_number(output)
            invalid = "the check printed no number" if value is None else None
            metric = Metric(name=f"{CHECK}{name}")
            number = math.nan if value is None else value
            sample = Sample(metric=metric, value=number, launch=self.number, repetition=0, invalid=invalid)
            self.store.add_samples(self.run_id, [sample])

    def command(self, command: BenchCommand, stage: str, timeout_s: float, server: Tree | None) -> Stretch:
        """Run one command to its end and return what its parser is to read."""
        return run_bench(
            command,
            cwd=self.cwd,
            log=self.folder / f"{stage}.log",
            server=server,
            timeout_s=timeout_s,
            run=self.run_id,
            should_stop=self.will.stop,
            hurry=self.will.hurry,
            env=self.env,
            server_log=self.log if server else None,
            stage="setup" if stage == "setup" else "bench",
            on_new=self.remember,
            limits=self.limits,
        )

    def teardown(self, server: Tree) -> None:
        """End the server and all that it started, and say and record what is left in spite of that."""
        with self.stage("teardown", "server.log"):
            ended = tear_down(
                server,
                signal=self.engine.stop_signal(),
                grace_s=self.recipe.timeout.grace_s,
                hurry=self.will.hurry,
                port=self.place.port,
                gpus=self.gpus,
                within_s=self.recipe.timeout.teardown_s,
            )
        for line in ended.left:
            self.journal.note(f"left after the teardown: {line}")

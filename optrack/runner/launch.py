"""One launch of an arm: its folder, port and environment, its server, and the commands that run beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from optrack.engines.protocol import BenchCommand, Engine, Place
from optrack.host.bench import run_bench
from optrack.host.external import ExternalServer, ending, ports_by
from optrack.host.fitness import free_port, is_free, port_problem
from optrack.host.gpus import GpuUse, gpu_use
from optrack.host.launch import StageFailed, start_server
from optrack.host.logs import Limits
from optrack.host.observer import TreeObserver
from optrack.host.reach import Reach
from optrack.host.stretch import Stretch
from optrack.host.tree import Tree
from optrack.host.witnessed import put_witness
from optrack.judge.failures import plain_failure
from optrack.model.events import ProcessStarted
from optrack.model.recipe import Recipe
from optrack.model.recipe_parts import ServerProcess
from optrack.model.run import ProcessId, Stage
from optrack.runner.context import RunContext
from optrack.runner.session import Arm


@dataclass(frozen=True)
class Launch:
    """The launch number `number` (from 0) of an arm. `server` is None before it is started, and where the recipe has
    none; `gpus` is the GPUs' use before that."""

    context: RunContext
    arm: Arm
    number: int
    place: Place
    env: dict[str, str]
    server: Tree | None = None
    gpus: tuple[GpuUse, ...] = ()
    observer: TreeObserver = field(default_factory=TreeObserver)

    @property
    def recipe(self) -> Recipe:
        """What the arm runs."""
        return self.arm.recipe

    @property
    def engine(self) -> Engine:
        """Who knows this kind of server."""
        return self.arm.engine

    @property
    def is_first(self) -> bool:
        """Whether this is the first launch that the session makes of the arm: its snapshot is the run's."""
        return self.number == self.context.session.first

    @property
    def log(self) -> Path:
        """The server's log."""
        return self.place.run_dir / "server.log"

    @property
    def cwd(self) -> Path:
        """Where commands run."""
        return self.context.session.settings.project / (self.recipe.cwd or "")

    @property
    def limits(self) -> Limits:
        """What the logs may come to."""
        return Limits(log_bytes=self.recipe.log_limit_bytes)

    def stage(self, name: Stage, log: str | None = None) -> AbstractContextManager[None]:
        """Time a stage of this launch and record it."""
        path = str(self.place.run_dir / log) if log else None
        return self.context.timed(self.arm.run, self.number, name, path)

    def record_process(self, process: ProcessId) -> None:
        """Record a process of the run, so that whoever finds the run dead can end it."""
        started = ProcessStarted(process=process, role=self.context.current_stage)
        self.context.store.record(self.arm.run.id, started)

    def observe(self, process: ProcessId) -> None:
        """Record a process of the server, and look at it while it lives."""
        self.record_process(process)
        self.observer.look(process.pid)

    def with_server(self) -> Launch:
        """Start the server, if the recipe has one, and return the launch with it."""
        command = None if self.recipe.runs_already else self.engine.server(self.recipe, self.place)
        if command is None and self.recipe.process is None:
            return self
        with self.stage("launch", "server.log"):
            gpus = gpu_use(self.context.session.gpus)
            tree, env = None, self.env
            if command is not None:
                put_witness(self.place.run_dir)
                env = self.env | {k: v for k, v in command.env.items() if k not in self.recipe.env}
                tree = start_server(
                    command.shell, env, self.cwd, self.log, run=self.arm.run.id, on_new=self.observe
                )
            self.arm.tree = tree if self.recipe.process is None else self._external(self.recipe.process, tree)
        return replace(self, env=env, gpus=gpus, server=self.arm.tree)

    def _external(self, rule: ServerProcess, launcher: Tree | None) -> Tree:
        """Return the server that the recipe's `process` finds; it is ended only where it was launched."""
        end, command = None, self.recipe.stop_command
        if launcher is not None and command is not None:
            log, within_s = self.place.run_dir / "stop.log", self.recipe.timeout.teardown_s
            end = ending(command, self.cwd, self.env, log, within_s, run=self.arm.run.id)
        return ExternalServer(
            rule,
            launcher=launcher,
            run=self.arm.run.id,
            port=self.place.port,
            cwd=self.cwd,
            env=self.env,
            log=self.log,
            end=end,
        )

    def reach(self, observer: TreeObserver) -> Reach | None:
        """Return what sees whether a benchmark pass that begins now reaches the server; None without a server."""
        if self.server is None:
            return None
        return Reach(self.server.track, self.place.port, lambda: observer.by_pid)

    def run_command(
        self,
        command: BenchCommand,
        name: str,
        timeout_s: float,
        observer: TreeObserver | None = None,
        reach: Reach | None = None,
    ) -> Stretch:
        """Run a command to its end, its output in `NAME.log`, and return what its parser is to read; its processes
        are looked at by `observer`, its connections by `reach`."""

        def on_new(process: ProcessId) -> None:
            self.record_process(process)
            if observer is not None:
                observer.look(process.pid)

        return run_bench(
            command,
            cwd=self.cwd,
            log=self.place.run_dir / f"{name}.log",
            server=self.server,
            timeout_s=timeout_s,
            run=self.arm.run.id,
            should_stop=self.context.stop.is_requested,
            is_forced=self.context.stop.is_forced,
            env=self.env,
            server_log=self.log if self.server else None,
            stage="setup" if name == "setup" else "bench",
            on_new=on_new,
            limits=self.limits,
            reach=reach,
        )


def choose_place(arm: Arm, number: int, cwd: Path, env: Callable[[Place], Mapping[str, str]]) -> Place:
    """Return the launch's folder and port; one that the recipe fixes must be free, unless its server runs already."""
    rule, folder = arm.recipe.process, arm.folder / f"launch-{number}"
    known = rule.port if rule is not None and rule.port is not True else None
    port = arm.recipe.port or known or free_port()
    place = Place(run=arm.run.id, item=arm.run.item, launch=number, run_dir=folder, port=port)
    if rule is not None and arm.recipe.runs_already:
        ports = () if arm.recipe.port or known else tuple(ports_by(rule, cwd, env(place)))
        return place.model_copy(update={"port": ports[0]}) if ports else place
    if not is_free(port):
        raise StageFailed("preflight", "failed", plain_failure("port_in_use", port_problem(port)))
    return place

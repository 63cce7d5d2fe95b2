"""A server that isn't below this process: one that a launch hands to a daemon (docker, srun, systemd), or one that
runs already. Its processes are found by what the recipe says and looked at, never signalled: `stop` ends them, if it
is there.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from optrack.host import logs, proc
from optrack.host.command import POLL_S, Command, Exit
from optrack.host.proc import identity, identity_of, is_alive
from optrack.host.tree import Stopped, Tree
from optrack.model.recipe_parts import ServerProcess
from optrack.model.run import ProcessId

PROXIES = frozenset({"docker-proxy", "rootlessport", "slirp4netns", "pasta", "conmon", "containerd-shim"})
"""Programs that hold a container's port in its place."""
FIND_EVERY_S = 0.5
FIND_S = 10.0


class ExternalServer(Tree):
    """The processes that `rule` finds, with all below them, and those of the launch's own command, if there is one.

    `stop` ends the server; without it, one that was launched is given the grace to end with its client, and one that
    ran already runs on.
    """

    def __init__(
        self,
        rule: ServerProcess,
        *,
        launcher: Tree | None,
        run: str,
        port: int,
        cwd: Path,
        env: Mapping[str, str],
        log: Path,
        end: Callable[[], None] | None,
    ) -> None:
        self.run = run
        self.log_start = launcher.log_start if launcher else logs.mark(log)
        self.started = launcher.started if launcher else time.monotonic()
        self._launcher = launcher
        self._rule = rule
        self._port = port
        self._cwd = cwd
        self._env = env
        self._end = end
        self._processes: tuple[ProcessId, ...] = ()
        self._looked = -FIND_EVERY_S
        self._scanned = 0.0

    @property
    def leader(self) -> ProcessId:  # type: ignore[override]
        """The server's first process; the launch's command, or this process, while none is found."""
        if self.find():
            return self._processes[0]
        return self._launcher.leader if self._launcher else proc.own_identity()

    @property
    def unseen(self) -> str | None:
        """Why the server's processes can't be looked into, and what would help; None if they can."""
        if not self.find(now=True):
            return (
                "the server's process can't be seen from here (another user's, another pid namespace's or another "
                "node's): run optrack as that user, name it by `process: {command: …}`, or put $OPTRACK_WITNESS before "
                "the server's command"
            )
        program = proc.program(self._processes[0].pid)
        if program in PROXIES:
            return (
                f"port {self._port} is held by {program} in the server's place: name the server's own process, say "
                "`process: {command: docker inspect -f '{{.State.Pid}}' NAME}`"
            )
        return None

    def find(self, *, now: bool = False) -> tuple[ProcessId, ...]:
        """Return the living processes that the rule finds, looked for `now` or at most twice a second."""
        self._processes = tuple(filter(is_alive, self._processes))
        if not self._processes and (now or time.monotonic() - self._looked >= FIND_EVERY_S):
            pids = self._pids()
            self._processes = tuple(found for pid in pids if (found := identity(pid)) is not None)
            self._looked = time.monotonic()
        return self._processes

    def poll(self) -> Exit | None:
        return None if self.find() or self._launcher is None else self._launcher.poll()

    def wait(self, seconds: float) -> Exit | None:
        if self._launcher is not None and self._launcher.poll() is None:
            self._launcher.wait(seconds)
        else:
            time.sleep(min(seconds, POLL_S))
        return self.poll()

    def ended(self) -> Exit | None:
        had = bool(self._processes)
        if self.find():
            return None
        if had and not self._pids():
            return Exit(code=0, signal=None)
        exit_ = self._launcher.poll() if self._launcher else None
        return exit_ if exit_ is not None and not exit_.ok else None

    def track(self) -> tuple[ProcessId, ...]:
        rows = proc.table()
        roots = {process.pid for process in self.find()}
        below = set(roots)
        while more := {row.pid for row in rows.values() if row.parent in below} - below:
            below |= more
        launched = self._launcher.track() if self._launcher else ()
        self._scanned = time.monotonic()
        found = (identity_of(rows[pid]) for pid in sorted(below) if pid in rows and not rows[pid].is_dead)
        return tuple(dict.fromkeys((*found, *launched)))

    def holds(self, port: int) -> bool:
        self.find(now=True)
        if super().holds(port):
            return True
        return proc.is_listened(port) and (not proc.holders(port) or self.unseen is not None)

    def listening(self, port: int) -> bool:
        return self.holds(port)

    def refresh(self) -> None:
        if time.monotonic() - self._scanned >= 1.0:
            self.track()

    def stop(self, *, signal: int, grace_s: float, is_forced: Callable[[], bool] = lambda: False) -> Stopped:
        main = self.find()
        if self._end is not None:
            self._end()
        stopped = Stopped(exit=None)
        if self._launcher is not None:
            stopped = self._launcher.stop(signal=signal, grace_s=grace_s, is_forced=is_forced)
            deadline = time.monotonic() + grace_s
            while any(map(is_alive, main)) and time.monotonic() < deadline and not is_forced():
                time.sleep(POLL_S)
            stopped = stopped.model_copy(update={"left": (*stopped.left, *filter(is_alive, main))})
        return stopped

    def close(self) -> None:
        if self._launcher is not None:
            self._launcher.close()

    def _pids(self) -> list[int]:
        rule = self._rule
        if rule.port is not None:
            return list(proc.holders(self._port if rule.port is True else int(rule.port)))
        if isinstance(rule.pid, int):
            return [rule.pid]
        if rule.pid is not None:
            return _numbers(
                _text_of(self._cwd / Path(rule.pid.replace("$RUN_DIR", self._env.get("RUN_DIR", ""))))
            )
        return _numbers(_output_of(rule.command or "", self._cwd, self._env))


def ending(
    shell: str, cwd: Path, env: Mapping[str, str], log: Path, within_s: float, *, run: str
) -> Callable[[], None]:
    """Return what ends a server by the recipe's command, its output in `log`."""

    def end() -> None:
        from optrack.host.bench import CommandTimeoutError, run_to_end

        command = Command(shell=shell, env=env, cwd=cwd, log=log)
        try:
            run_to_end(command, run=run, timeout_s=within_s)
        except (CommandTimeoutError, OSError, ValueError) as error:
            with log.open("a", encoding="utf-8") as file:
                file.write(f"`stop` failed: {error}\n")

    return end


def ports_by(rule: ServerProcess, cwd: Path, env: Mapping[str, str]) -> Iterable[int]:
    """Return the ports on which a server that runs already listens."""
    server = ExternalServer(
        rule, launcher=None, run="", port=0, cwd=cwd, env=env, log=Path("/dev/null"), end=None
    )
    return server.ports()


def _numbers(text: str) -> list[int]:
    return [int(word) for word in re.findall(r"(?<![\w.])[1-9]\d{0,9}(?![\w.])", text)]


def _text_of(path: Path) -> str:
    try:
        return path.read_text(errors="replace")[:4096]
    except OSError:
        return ""


def _output_of(shell: str, cwd: Path, env: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            ["/bin/bash", "-c", shell],
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=FIND_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace") if done.returncode == 0 else ""

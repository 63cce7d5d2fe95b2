"""The runner process from outside: started in its own session, known by its identity, asked to stop."""

from __future__ import annotations

import json
import os
import pwd
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

from optrack import errors
from optrack.errors import OptrackError, StoreError, UsageError
from optrack.host.proc import is_alive
from optrack.model.run import Run
from optrack.settings import Settings, private_state
from optrack.store.spool import SPOOL_NAME

_LAST_MOMENT_S = 10.0
_POLL_S = 0.05


def spawn_runner(
    settings: Settings,
    plan: Path,
    item: str,
    options: Sequence[str],
    *,
    say: Callable[[str], object] = lambda text: None,
) -> str | None:
    """Start a runner on an item and return its run's id once it has claimed the item; None if another has it.

    `options` are those of `python -m optrack.runner.main`. The runner gets a session of its own, so closing the
    terminal doesn't reach it. What it can't do before its claim (an unfit host, a broken plan) it tells through
    a pipe and is raised here as that error; `say` hears what it waits for. Ctrl-C here asks the runner to stop,
    and waits for its answer.
    """
    reading, writing = os.pipe()
    arguments = ["--project", str(settings.project), "--plan", str(plan.resolve()), "--item", item]
    arguments += ["--tell", str(writing), *options]
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "optrack.runner.main", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(writing,),
        start_new_session=True,
        cwd=settings.project,
    )
    os.close(writing)
    is_stopped = False
    with os.fdopen(reading, encoding="utf-8", errors="replace") as pipe:
        try:
            answer = _heard(pipe, say)
        except KeyboardInterrupt:
            process.terminate()
            is_stopped = True
            answer = _heard(pipe, say)
    if answer is None and is_stopped:
        process.wait()
        raise KeyboardInterrupt
    if answer is None:
        code = process.wait()
        raise OptrackError(
            f"the runner ended before it took the item up (exit {code})",
            hint=f"try `{sys.executable} -P -m optrack.runner.main {' '.join(arguments)}`",
        )
    if "error" in answer:
        process.wait()
        raise _error(answer["error"])
    run: str | None = answer["run"]
    if run is None:
        process.wait()
    return run


def _heard(pipe: TextIO, say: Callable[[str], object]) -> dict[str, Any] | None:
    """Return the runner's answer, telling what it waits for until then; None if it ended without one."""
    for line in pipe:
        told: dict[str, Any] = json.loads(line)
        if "waiting" not in told:
            return told
        say(told["waiting"])
    return None


def spawn_campaign(
    settings: Settings, plan: str, *, by: str, wait: bool, resume: bool = False
) -> tuple[Path, subprocess.Popen[bytes]]:
    """Start `optrack next --all` in a session of its own; return the file that it narrates into, and the process."""
    private_state(settings.state)
    log = settings.state / "campaign.log"
    arguments = [
        "next",
        "--all",
        "--plan",
        str(Path(plan).resolve()),
        "--by",
        by,
        *(["--wait"] if wait else []),
        *(["--resume"] if resume else []),
    ]
    with log.open("ab") as narration:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "optrack", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=narration,
            stderr=narration,
            start_new_session=True,
            cwd=settings.project,
        )
    return log, process


def _error(told: dict[str, Any]) -> OptrackError:
    found = getattr(errors, told["type"], OptrackError)
    error: OptrackError = found(told["message"], hint=told["hint"], where=told["where"])
    return error


def is_running(run: Run) -> bool:
    """Whether the run's runner is alive on this host."""
    return run.outcome is None and run.runner is not None and is_alive(run.runner)


def await_runner(run: Run) -> None:
    """Give the runner of a run that has ended the moment it needs to give back the host and to end."""
    until = time.monotonic() + _LAST_MOMENT_S
    while run.runner is not None and is_alive(run.runner) and time.monotonic() < until:
        time.sleep(_POLL_S)


def unrecorded(error: StoreError, run: Run, runs: Path) -> StoreError:
    """Return the error for a run that ended while its database couldn't take or show it."""
    journal = runs / run.id / SPOOL_NAME
    if not journal.exists():
        return error
    return StoreError(
        f"run {run.id} has ended and isn't recorded: {error.message}; what it measured is in {journal}",
        hint="put the database back, or move a damaged one away: the next command takes the run in",
    )


def _owner(pid: int) -> str:
    try:
        user = Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return "somebody else"
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"


def request_stop(run: Run, *, force: bool) -> bool:
    """Signal the run's runner to stop, with a shorter grace if `force`; False if it isn't running any more."""
    if run.runner is None or not is_alive(run.runner):
        return False
    try:
        os.kill(run.runner.pid, signal.SIGINT if force else signal.SIGTERM)
    except ProcessLookupError:
        return False
    except PermissionError:
        owner = _owner(run.runner.pid)
        raise UsageError(
            f"run {run.id} belongs to {owner} (pid {run.runner.pid}): you may not stop it",
            hint=f"ask {owner} to stop it",
        ) from None
    return True

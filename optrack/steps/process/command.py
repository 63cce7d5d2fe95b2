"""Commands: shell text with its environment, folder and log, and how it ended."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from optrack.core.frozen import Frozen

MARKER = "OPTRACK_RUN"
"""The variable that carries the run's id in the environment of everything the run starts."""

TREE = "OPTRACK_TREE"
"""The variable that tells the commands of one run apart."""


BASH = shutil.which("bash") or "/bin/bash"
"""The shell of all commands, found by this process: a recipe's own PATH may lead elsewhere."""


class Command(Frozen):
    """Shell text for bash with `pipefail`; `env` is its whole environment, output is appended to `log`."""

    shell: str
    env: Mapping[str, str]
    cwd: Path
    log: Path


class Exit(Frozen):
    """How a process ended: its exit code, and the signal that ended it.

    A shell reports a child's signal N as the code 128 + N: then both are given.
    """

    code: int | None
    signal: str | None = None

    @property
    def ok(self) -> bool:
        """Whether it ended with code 0."""
        return self.code == 0

    def __str__(self) -> str:
        if self.code is None:
            return f"ended by {self.signal}"
        return f"exit code {self.code}" + (f" ({self.signal})" if self.signal else "")


def exit_of(returncode: int) -> Exit:
    """Return the exit for a return code of `subprocess`, where a signal is a negative number."""
    if returncode < 0:
        return Exit(code=None, signal=_signal_name(-returncode))
    return Exit(code=returncode, signal=_signal_name(returncode - 128) if returncode > 128 else None)


def spawn(command: Command, *, run: str, tree: str) -> subprocess.Popen[bytes]:
    """Start a command in its own session, marked with the run's id; its output goes to the log by descriptor.

    Raises OSError if bash, the folder or the log can't be opened.
    """
    env = {**command.env, MARKER: run, TREE: tree}
    env.setdefault(
        "SPT_NOENV", "1"
    )  # a process title would overwrite the environment, and the marker with it
    command.log.parent.mkdir(parents=True, exist_ok=True)
    log = os.open(command.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
    try:
        return subprocess.Popen(
            [BASH, "-o", "pipefail", "-c", command.shell],
            cwd=command.cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    finally:
        os.close(log)


def _signal_name(number: int) -> str | None:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}" if number in signal.valid_signals() else None

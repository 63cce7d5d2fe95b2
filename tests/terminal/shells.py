"""Commands as a shell starts them: with redirections, or on a terminal of their own."""

from __future__ import annotations

import os
import pty
import select
import shlex
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.cleanliness import clean_environment

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120.0
OPTRACK = f"{shlex.quote(sys.executable)} -P -m optrack"


class Ended(NamedTuple):
    """What a command line wrote and how it ended."""

    code: int
    out: bytes
    err: bytes


def environment(folder: Path, more: Mapping[str, str]) -> dict[str, str]:
    """Return a clean environment in which the checked-out command line is found."""
    clean = clean_environment(os.environ, home=folder, locks=folder)
    return clean | {"PYTHONPATH": str(ROOT), "OPTRACK_CPU_SHARE": "1", "TERM": "xterm-256color"} | dict(more)


def shell(folder: Path, line: str, **more: str) -> Ended:
    """Run a line of bash in a folder, where `optrack` is the checked-out command line; no traceback may be seen."""
    done = subprocess.run(
        ["bash", "-c", f'optrack() {{ {OPTRACK} "$@"; }}; {line}'],
        cwd=folder,
        env=environment(folder, more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert b"Traceback" not in done.stderr + done.stdout, done.stderr
    assert b"Exception ignored" not in done.stderr, done.stderr
    return Ended(done.returncode, done.stdout, done.stderr)


class Terminal:
    """A process on a pseudo-terminal, everything it writes, and the terminal's modes."""

    def __init__(self, folder: Path, arguments: list[str], **more: str) -> None:
        self._own, theirs = pty.openpty()
        termios.tcsetwinsize(theirs, (40, 120))
        self.modes_before = termios.tcgetattr(theirs)
        self._theirs = theirs
        self.shown = b""
        self.process = subprocess.Popen(
            arguments,
            cwd=folder,
            env=environment(folder, more),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )

    def until(self, condition: Callable[[], bool]) -> None:
        """Read on until the condition holds."""
        end = time.monotonic() + PATIENCE_S
        while not condition():
            assert time.monotonic() < end, self.shown[-2000:]
            self._read()

    def end(self) -> int:
        """Read all until the process has ended, and return its exit code."""
        self.until(lambda: self.process.poll() is not None)
        while self._read():
            pass
        return self.process.wait()

    def kill(self, number: signal.Signals) -> None:
        """Send the process a signal."""
        self.process.send_signal(number)

    def type(self, keys: bytes) -> None:
        """Type into the terminal."""
        os.write(self._own, keys)

    @property
    def modes(self) -> list[Any]:
        """The terminal's modes as they are now (termios)."""
        return termios.tcgetattr(self._theirs)

    def _read(self) -> bool:
        if not select.select([self._own], [], [], 0.05)[0]:
            return False
        self.shown += os.read(self._own, 65536)
        return True

    def close(self) -> None:
        """End what still runs, and give the terminal back."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._own)
        os.close(self._theirs)

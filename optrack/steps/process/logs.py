"""Log files of running commands: read a piece at a time, held to limits, and never whole in memory."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Literal

from optrack.core.frozen import Frozen

EVIDENCE_BYTES = 8 * 2**20
CHECK_EVERY_S = 0.25
_ECHO_BYTES = 65536


def size(log: Path) -> int:
    """Return the size of the log in bytes; 0 if there is none."""
    try:
        return log.stat().st_size
    except OSError:
        return 0


def tail(log: Path, *, start: int = 0, limit: int = EVIDENCE_BYTES) -> bytes:
    """Return the end of a log, from `start` on and at most `limit` bytes; empty if it can't be read."""
    try:
        with log.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(start, end - limit) if start <= end else max(0, end - limit))
            return file.read(limit)
    except OSError:
        return b""


class Follower:
    """Reads what is appended to a log, a bounded piece at a time."""

    def __init__(self, log: Path, *, start: int = 0, piece: int = 4 * 2**20) -> None:
        self._log = log
        self._at = start
        self._piece = piece

    def read(self) -> bytes:
        """Return the next piece, empty if nothing was appended since."""
        try:
            with self._log.open("rb", buffering=0) as file:
                file.seek(self._at)
                data = file.read(self._piece) or b""
        except OSError:
            return b""
        self._at += len(data)
        return data


class Breach(Frozen):
    """A limit that was passed: which, and what a reader should know."""

    kind: Literal["log_limit", "silent", "disk_full"]
    message: str


class Limits(Frozen):
    """What a log and its disk may come to; None or 0 means no limit."""

    log_bytes: int = 20 * 2**30
    silence_s: float | None = None
    free_bytes: int = 256 * 2**20


class LogGuard:
    """Holds one log, from `start` on, to its limits. Cheap to ask often: it looks a few times a second.

    Lines that hold `echo`, the traces of optrack's own probes, are no sign of life.
    """

    def __init__(self, log: Path, limits: Limits, *, start: int = 0, echo: bytes | None = None) -> None:
        self._log = log
        self._limits = limits
        self._start = start
        self._echo = echo
        self._size = size(log)
        self._grown = self._looked = time.monotonic()

    def check(self) -> Breach | None:
        """Return the limit that is passed now, if any."""
        now = time.monotonic()
        if now - self._looked < CHECK_EVERY_S:
            return None
        self._looked = now
        limits = self._limits
        at = size(self._log)
        if at != self._size:
            if not (limits.silence_s and self._is_echo(at)):
                self._grown = now
            self._size = at
        if limits.log_bytes and at - self._start > limits.log_bytes:
            message = f"the log {self._log.name} has passed its limit of {_amount(limits.log_bytes)}"
            return Breach(kind="log_limit", message=message)
        free = free_bytes(self._log.parent)
        if limits.free_bytes and free is not None and free < limits.free_bytes:
            message = f"the disk of {self._log.parent} is full: {_amount(free)} left"
            return Breach(kind="disk_full", message=message)
        if limits.silence_s and now - self._grown > limits.silence_s:
            message = f"nothing was logged for {now - self._grown:.0f} s (limit {limits.silence_s:g} s)"
            return Breach(kind="silent", message=message)
        return None

    def _is_echo(self, at: int) -> bool:
        if self._echo is None or not 0 < at - self._size <= _ECHO_BYTES:
            return False
        lines = tail(self._log, start=self._size, limit=_ECHO_BYTES).splitlines()
        return all(self._echo in line for line in lines if line.strip())


def free_bytes(folder: Path) -> int | None:
    """Return the free space on a folder's disk in bytes; None if it can't be told."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def _amount(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"

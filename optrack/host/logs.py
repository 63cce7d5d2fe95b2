"""Log files of running commands: read a piece at a time, held to limits, and never whole in memory.

A log may be truncated in place or replaced while it is read; a `Mark` tells whether a place in it still holds.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from typing import Literal

from optrack.model.value import Frozen

EVIDENCE_BYTES = 8 * 2**20
CHECK_EVERY_S = 0.25
_ECHO_BYTES = 65536
_BEFORE_BYTES = 256
_BLOCK_BYTES = 2**20
_SCAN_BYTES = 2**30


class Mark(Frozen):
    """A place in a log: the file, the offset in bytes, and the bytes just before it.

    The place is lost once the file is another one, is shorter, or holds something else before the offset.
    """

    inode: int | None = None
    offset: int = 0
    before: bytes = b""

    def offset_in(self, fd: int) -> int:
        """Return the offset in an open file, 0 if the place is lost."""
        stat = os.fstat(fd)
        if self.inode not in (None, stat.st_ino) or stat.st_size < self.offset:
            return 0
        return self.offset if _before(fd, self.offset) == self.before else 0


START = Mark()
"""The beginning of whatever file is there."""


def mark(log: Path, offset: int | None = None) -> Mark:
    """Return the place at `offset`, by default the present end of the log; the start if there is none."""
    try:
        with log.open("rb", buffering=0) as file:
            stat = os.fstat(file.fileno())
            at = stat.st_size if offset is None else offset
            return Mark(inode=stat.st_ino, offset=at, before=_before(file.fileno(), at))
    except OSError:
        return START


def size(log: Path) -> int:
    """Return the size of the log in bytes; 0 if there is none."""
    try:
        return log.stat().st_size
    except OSError:
        return 0


def tail(log: Path, *, start: Mark = START, limit: int = EVIDENCE_BYTES) -> bytes:
    """Return the end of a log, from `start` on and at most `limit` bytes; empty if it can't be read.

    Where more was written than that, of a line drawn again and again with carriage returns only its last state
    counts, so that what stood before a progress bar is there too.
    """
    try:
        with log.open("rb", buffering=0) as file:
            fd = file.fileno()
            begin, end = start.offset_in(fd), os.fstat(fd).st_size
            return os.pread(fd, end - begin, begin) if end - begin <= limit else _drawn(fd, begin, end, limit)
    except OSError:
        return b""


def _before(fd: int, offset: int) -> bytes:
    low = max(0, offset - _BEFORE_BYTES)
    return os.pread(fd, offset - low, low)


def _drawn(fd: int, begin: int, end: int, limit: int) -> bytes:
    """Return at most `limit` bytes, the last that a terminal would show of the file from `begin` to `end`."""
    pieces: list[bytes] = []
    gathered, position = 0, end
    has_text = is_overwritten = False
    floor = max(begin, end - _SCAN_BYTES)
    while position > floor and gathered < limit:
        low = max(floor, position - _BLOCK_BYTES)
        parts = os.pread(fd, position - low, low).split(b"\n")
        for at in range(len(parts) - 1, -1, -1):
            part = parts[at]
            if not is_overwritten:
                _, returned, text = (part if has_text else part.rstrip(b"\r")).rpartition(b"\r")
                has_text = has_text or bool(text)
                is_overwritten = bool(returned)
                pieces.append(text)
                gathered += len(text)
            if at > 0:
                pieces.append(b"\n")
                gathered += 1
                has_text = is_overwritten = False
            if gathered >= limit:
                break
        position = low
    data = b"".join(reversed(pieces))[-limit:]
    torn = next((at for at, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), 0)
    return data[torn:]


class Follower:
    """Reads what is appended to a log, a bounded piece at a time.

    A log that was truncated or replaced is read from its beginning, on a line of its own; what a replaced
    one still holds comes first.
    """

    def __init__(self, log: Path, *, start: Mark = START, piece: int = 4 * 2**20) -> None:
        self._log = log
        self._at = start
        self._piece = piece
        self._file: int | None = None

    def read(self) -> bytes:
        """Return the next piece, empty if nothing was appended since."""
        try:
            if self._file is None:
                self._file = os.open(self._log, os.O_RDONLY | os.O_CLOEXEC)
            return self._next(self._file) or (self._next(self._file) if self._is_replaced() else b"")
        except OSError:
            return b""

    def close(self) -> None:
        """Close the log."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _next(self, fd: int) -> bytes:
        begin = self._at.offset_in(fd)
        data = os.pread(fd, self._piece, begin)
        if not data:
            return b""
        is_torn = begin < self._at.offset and not self._at.before.endswith(b"\n")
        end = begin + len(data)
        before = data[-_BEFORE_BYTES:] if len(data) >= _BEFORE_BYTES else _before(fd, end)
        self._at = Mark(inode=os.fstat(fd).st_ino, offset=end, before=before)
        return b"\n" + data if is_torn else data

    def _is_replaced(self) -> bool:
        """Open the file that stands at the log's path now, if it is another; return whether it is."""
        try:
            new = os.open(self._log, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        if self._file is not None and os.path.sameopenfile(new, self._file):
            os.close(new)
            return False
        self.close()
        self._file = new
        return True


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

    def __init__(self, log: Path, limits: Limits, *, start: Mark = START, echo: bytes | None = None) -> None:
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
        if limits.log_bytes and at - self._start.offset > limits.log_bytes:
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
        try:
            with self._log.open("rb") as file:
                file.seek(self._size)
                lines = file.read(at - self._size).splitlines()
        except OSError:
            return False
        return all(self._echo in line for line in lines if line.strip())


def free_bytes(folder: Path) -> int | None:
    """Return the free space on a folder's disk in bytes; None if it can't be told."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


def _amount(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"

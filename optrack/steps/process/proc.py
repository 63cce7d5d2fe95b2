"""Reading `/proc`: one row per process of the machine, and what a process was started with (proc(5))."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Row(NamedTuple):
    """One process as the kernel lists it; `start_ticks` counts clock ticks since the boot."""

    pid: int
    state: str
    parent: int
    group: int
    session: int
    start_ticks: int

    @property
    def is_dead(self) -> bool:
        """Whether it has ended and only waits to be reaped, with none of its threads left."""
        return self.state in "ZX" and not _has_threads_left(self.pid)


def row(pid: int) -> Row | None:
    """Return the row of `pid`, or None if there is no such process."""
    fields = _stat(pid)
    if not fields:
        return None
    return Row(pid, fields[0].decode(), *map(int, (fields[1], fields[2], fields[3], fields[19])))


def cpu_ticks(pid: int) -> int | None:
    """Return the CPU time that `pid` has used so far, in clock ticks; None if there is no such process."""
    fields = _stat(pid)
    return int(fields[11]) + int(fields[12]) if fields else None


def table() -> dict[int, Row]:
    """Return every process of the machine by its pid. Costs about 20 microseconds a process."""
    rows: dict[int, Row] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (found := row(int(entry.name))) is not None:
            rows[found.pid] = found
    return rows


def environ(pid: int) -> dict[bytes, bytes]:
    """Return the environment that `pid` was started with; empty if it can't be read or was overwritten."""
    try:
        data = (PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return {}
    found: dict[bytes, bytes] = {}
    for entry in data.split(b"\0"):
        name, equals, value = entry.partition(b"=")
        if equals:
            found[name] = value
    return found


def command_line(pid: int) -> str:
    """Return the command line of `pid` for people to read; its short name if it has none."""
    try:
        words = (PROC / str(pid) / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        text = b" ".join(words) or (PROC / str(pid) / "comm").read_bytes().strip()
    except OSError:
        return "?"
    line = text.decode(errors="replace")
    return line if len(line) <= 120 else f"{line[:119]}…"


def program(pid: int) -> str:
    """Return the file name of the program that `pid` executes, or an empty text."""
    try:
        return (PROC / str(pid) / "exe").readlink().name
    except OSError:
        return ""


def _stat(pid: int) -> list[bytes]:
    """Return the fields of the process from its state on, numbered from 0; empty if there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:  # noqa: PTH123
            text = file.read(1024)
    except OSError:
        return []
    return text[text.rindex(b")") + 2 :].split()


def _has_threads_left(pid: int) -> bool:
    try:
        return sum(1 for _ in (PROC / str(pid) / "task").iterdir()) > 1
    except OSError:
        return False


def age_s(row: Row) -> float:
    """Return for how many seconds the process has lived."""
    now = time.clock_gettime(time.CLOCK_BOOTTIME)
    return now - row.start_ticks / _TICKS_PER_S

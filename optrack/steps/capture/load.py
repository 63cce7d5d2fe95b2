"""The load of the CPU: how many cores were busy, and how much of that wasn't ours."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from optrack.steps.capture.tree import read_bytes, read_text

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def cpu_times(proc: Path = Path("/proc")) -> tuple[float, float, float]:
    """Return (busy, all, stolen) CPU seconds of the host since boot, over all CPUs (proc(5), /proc/stat)."""
    words = (read_bytes(proc / "stat") or b"cpu 0 0 0 0 0 0 0 0").split(b"\n", 1)[0].split()[1:9]
    ticks = [int(word) for word in words] + [0] * (8 - len(words))
    idle = ticks[3] + ticks[4]
    return (sum(ticks) - idle - ticks[7]) / _TICKS_PER_S, sum(ticks) / _TICKS_PER_S, ticks[7] / _TICKS_PER_S


Used = Mapping[int, tuple[float, float]]
"""Process -> (CPU seconds that it used, its ended and awaited children included; seconds after boot of its
start)."""


def tree_ticks(pids: Collection[int], proc: Path = Path("/proc")) -> Used:
    """Return what each of these processes used, as far as they still run."""
    found: dict[int, tuple[float, float]] = {}
    for pid in pids:
        data = read_bytes(proc / str(pid) / "stat")
        if data:
            fields = data.rpartition(b")")[2].split()
            used = sum(int(fields[index]) for index in (11, 12, 13, 14)) / _TICKS_PER_S
            found[pid] = used, int(fields[19]) / _TICKS_PER_S
    return found


@dataclass
class Busy:
    """Adds up CPU time over one or more stretches, all of the host's and that of our processes."""

    busy_s: float = 0.0
    own_s: float = 0.0
    stolen_s: float = 0.0
    elapsed_s: float = 0.0
    _last: tuple[float, float, float] | None = None
    _own: Used = field(default_factory=dict)

    def begin(self, times: tuple[float, float, float], own: Used) -> None:
        """Start a stretch."""
        self._last, self._own = times, own

    def step(self, times: tuple[float, float, float], own: Used) -> None:
        """Add what was used since the last call.

        A process that began meanwhile counts from its start; what one that ended had used counts no more once
        its parent, which waited for it, shows it as its own.
        """
        if self._last is not None:
            elapsed = (times[1] - self._last[1]) / (os.cpu_count() or 1)
            newest = max((start for _, start in self._own.values()), default=0.0)
            began = {pid: used if start >= newest else 0.0 for pid, (used, start) in own.items()}
            grown = sum(
                used - self._own[pid][0] if pid in self._own else began[pid] for pid, (used, _) in own.items()
            )
            ended = sum(used for pid, (used, _) in self._own.items() if pid not in own)
            self.busy_s += times[0] - self._last[0]
            self.elapsed_s += elapsed
            self.stolen_s += times[2] - self._last[2]
            self.own_s += max(0.0, grown - ended)
        self._last, self._own = times, own

    def end(self, times: tuple[float, float, float], own: Used) -> None:
        """End a stretch."""
        self.step(times, own)
        self._last = None

    def summary(self) -> dict[str, Any]:
        """Return mean busy cores, ours and others', and the load average of the last minute."""
        load = (read_text(Path("/proc/loadavg")) or "").split()
        if self.elapsed_s <= 0:
            return {"busy_cores": None, "own_cores": None, "foreign_cores": None}
        own = self.own_s / self.elapsed_s
        busy = self.busy_s / self.elapsed_s
        return {
            "busy_cores": round(busy, 3),
            "own_cores": round(own, 3),
            "foreign_cores": round(max(0.0, busy - own), 3),
            "foreign_share": round(max(0.0, busy - own) / (os.cpu_count() or 1), 3),
            "stolen_cores": round(self.stolen_s / self.elapsed_s, 3),
            "load_average": float(load[0]) if load else None,
        }

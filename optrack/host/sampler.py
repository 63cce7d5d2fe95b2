"""Sampling while a benchmark runs: GPUs and the load of the CPU."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

from optrack.host.gpus import REASONS, Nvml, compute_pids, foreign_names, opened_nvml, throttle_bits
from optrack.model.hardware import CpuLoad, GpuLoad, Load, Sampling, Spread


def cpu_times() -> tuple[float, float, float]:
    """Return (busy, all, stolen) CPU seconds of the host since boot, over all CPUs."""
    import psutil

    times = psutil.cpu_times()
    whole = sum(times[:8])  # what follows, time of guests, is contained in these
    return whole - times.idle - times.iowait - times.steal, whole, times.steal


Used = Mapping[int, tuple[float, float]]
"""Process -> (CPU seconds that it used, its ended and awaited children included; time of its start)."""


def used_by(pids: Collection[int]) -> Used:
    """Return what each of these processes used, as far as they still run."""
    import psutil

    found: dict[int, tuple[float, float]] = {}
    for pid in pids:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(pid)
            found[pid] = sum(process.cpu_times()[:4]), process.create_time()
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

    def summary(self) -> CpuLoad:
        """Return mean busy cores, ours and others', and the load average of the last minute."""
        if self.elapsed_s <= 0:
            return CpuLoad(busy_cores=None, own_cores=None, foreign_cores=None)
        own = self.own_s / self.elapsed_s
        busy = self.busy_s / self.elapsed_s
        return CpuLoad(
            busy_cores=round(busy, 3),
            own_cores=round(own, 3),
            foreign_cores=round(max(0.0, busy - own), 3),
            foreign_share=round(max(0.0, busy - own) / (os.cpu_count() or 1), 3),
            stolen_cores=round(self.stolen_s / self.elapsed_s, 3),
            load_average=round(os.getloadavg()[0], 2),
        )


_MEASURES = (
    "sm_clock_mhz",
    "memory_clock_mhz",
    "power_w",
    "temperature_c",
    "utilization_percent",
    "memory_used_bytes",
)
_SELDOM = 5


class Sampler:
    """Samples GPUs and CPU in a thread while a benchmark runs.

    `pids` gives the processes of the run at any moment (server and benchmark): what others do is `foreign`.
    One sampler may be entered several times, once for each pass; `summary` is over all of them.
    """

    def __init__(
        self,
        *,
        interval_s: float = 1.0,
        pids: Callable[[], Iterable[int]] = tuple,
        gpus: Collection[int] | None = None,
        library: Any = None,
    ) -> None:
        self._interval_s = interval_s
        self._pids = pids
        self._gpus = gpus
        self._library = library
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._series: dict[int, dict[str, _Series]] = {}
        self._throttled: dict[int, dict[str, int]] = {}
        self._foreign: dict[int, set[str]] = {}
        self._samples = 0
        self._cost_s = 0.0
        self._elapsed_s = 0.0
        self._busy = Busy()

    def __enter__(self) -> Sampler:
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        began = time.monotonic()
        self._busy.begin(cpu_times(), used_by(self._own()))
        with opened_nvml(self._library) as nvml:
            handles = nvml.devices(self._gpus) if nvml is not None else {}
            while True:
                self._sample(nvml, handles)
                if self._stop.wait(self._interval_s):
                    break
        self._busy.end(cpu_times(), used_by(self._own()))
        self._elapsed_s += time.monotonic() - began

    def _own(self) -> set[int]:
        return {os.getpid(), *self._pids()}

    def _sample(self, nvml: Nvml | None, handles: Mapping[int, Any]) -> None:
        cpu = time.thread_time()
        for index, handle in handles.items():
            if nvml is not None:
                self._sample_gpu(nvml, index, handle)
        if self._samples % _SELDOM == 0:
            self._busy.step(cpu_times(), used_by(self._own()))
        self._samples += 1
        self._cost_s += time.thread_time() - cpu

    def _sample_gpu(self, nvml: Nvml, index: int, handle: Any) -> None:
        use = nvml.ask("DeviceGetUtilizationRates", handle)
        memory = nvml.ask("DeviceGetMemoryInfo", handle)
        power = nvml.ask("DeviceGetPowerUsage", handle)
        values = {
            "sm_clock_mhz": nvml.ask("DeviceGetClockInfo", handle, nvml.number("NVML_CLOCK_SM")),
            "memory_clock_mhz": nvml.ask("DeviceGetClockInfo", handle, nvml.number("NVML_CLOCK_MEM")),
            "power_w": None if power is None else power / 1000,
            "temperature_c": nvml.ask("DeviceGetTemperature", handle, 0),
            "utilization_percent": getattr(use, "gpu", None),
            "memory_used_bytes": getattr(memory, "used", None),
        }
        series = self._series.setdefault(index, {name: _Series() for name in _MEASURES})
        for name, value in values.items():
            series[name].add(value)
        bits = throttle_bits(nvml, handle) or 0
        throttled = self._throttled.setdefault(index, dict.fromkeys(REASONS, 0))
        for reason, bit in REASONS.items():
            throttled[reason] += bool(bits & bit)
        if self._samples % _SELDOM == 0:
            own = self._own()
            self._foreign.setdefault(index, set()).update(foreign_names(compute_pids(nvml, handle), own))

    def summary(self) -> Load:
        """Return the `load` part: of each GPU mean, least and most of each measure, the share of samples in
        which it was throttled and why, and others' processes; the CPU's load in cores, ours and others'; what
        sampling cost."""
        gpus = {
            str(index): GpuLoad(
                **{name: one.summary() for name, one in series.items() if one.count},
                throttled={
                    reason: round(count / max(self._samples, 1), 3)
                    for reason, count in self._throttled.get(index, {}).items()
                    if reason != "idle"
                },
                foreign=sorted(self._foreign.get(index, ())),
            )
            for index, series in self._series.items()
        }
        sampling = Sampling(
            samples=self._samples,
            interval_s=self._interval_s,
            elapsed_s=round(self._elapsed_s, 3),
            cpu_s=round(self._cost_s, 4),
        )
        return Load(gpus=gpus, cpu=self._busy.summary(), sampling=sampling)


class _Series:
    """The running mean, least and most of a measure."""

    def __init__(self) -> None:
        self.count = 0
        self._sum = 0.0
        self._least: float | None = None
        self._most: float | None = None

    def add(self, value: float | None) -> None:
        if value is None:
            return
        self.count += 1
        self._sum += value
        self._least = value if self._least is None else min(self._least, value)
        self._most = value if self._most is None else max(self._most, value)

    def summary(self) -> Spread:
        return Spread(mean=round(self._sum / self.count, 3), min=self._least, max=self._most)

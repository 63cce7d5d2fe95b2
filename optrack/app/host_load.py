"""The load of this host for as long as somebody looks: processors, memory and NVIDIA GPUs."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from optrack.host.gpus import Nvml, opened_nvml
from optrack.host.sampler import cpu_times
from optrack.model.snapshot import Snapshot
from optrack.model.value import Frozen

_KEPT = 600
_EVERY_S = 0.5
_GIB = 2**30


class Gauge(Frozen):
    """The course of one load of the host during a run: values in `unit`, oldest first; `full` is 100 %."""

    name: str
    unit: str
    values: tuple[float, ...] = ()
    full: float | None = None


class Reading(Frozen):
    """One value of one load; `full` is what 100 % would be, in the same unit."""

    name: str
    unit: str
    value: float
    full: float | None = None


class HostLoad:
    """The courses of the host's loads, one value more each time somebody asks, but not twice in half a second.

    They begin anew with each run. `measure` tells the loads at this moment, `clock` seconds.
    """

    def __init__(
        self,
        measure: Callable[[], Sequence[Reading]] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._measure = measure or HostMeter()
        self._clock = clock
        self._lock = threading.Lock()
        self._run = ""
        self._last = float("-inf")
        self._courses: dict[str, deque[float]] = {}
        self._latest: Sequence[Reading] = ()

    def gauges(self, run: str) -> Sequence[Gauge]:
        """Return the courses since this run was first asked for."""
        with self._lock:
            if run != self._run:
                self._run, self._courses, self._last = run, {}, float("-inf")
            if self._clock() - self._last >= _EVERY_S:
                self._last = self._clock()
                self._latest = self._measure()
                for one in self._latest:
                    self._courses.setdefault(one.name, deque(maxlen=_KEPT)).append(one.value)
            return self.seen(run)

    def seen(self, run: str) -> Sequence[Gauge]:
        """Return the courses of this run as far as they were looked at."""
        if run != self._run:
            return ()
        return [
            Gauge(name=one.name, unit=one.unit, values=tuple(self._courses[one.name]), full=one.full)
            for one in self._latest
        ]


class HostMeter:
    """Measures the loads of this host: the GPUs first, one by one if they are two at most."""

    def __init__(self, library: object = None) -> None:
        self._library = library
        self._open = ExitStack()
        self._nvml: Nvml | None = None
        self._asked = False
        self._cpu = (0.0, 0.0)

    def __call__(self) -> Sequence[Reading]:
        """Return the loads at this moment."""
        import psutil

        memory = psutil.virtual_memory()
        used = Reading(
            name="memory",
            unit="GiB",
            value=(memory.total - memory.available) / _GIB,
            full=memory.total / _GIB,
        )
        return [*self._gpus(), self._processors(), used]

    def _processors(self) -> Reading:
        """The share of the processors' time that was busy since the last call, since the boot at first."""
        busy, whole, _ = cpu_times()
        share = (busy - self._cpu[0]) / max(whole - self._cpu[1], 1e-9)
        self._cpu = (busy, whole)
        return Reading(name="CPU", unit="%", value=100 * max(0.0, min(1.0, share)), full=100.0)

    def _gpus(self) -> Sequence[Reading]:
        if not self._asked:
            self._asked = True
            self._nvml = self._open.enter_context(opened_nvml(self._library))
        nvml = self._nvml
        if nvml is None:
            return ()
        devices = nvml.devices().values()
        use = [nvml.ask("DeviceGetUtilizationRates", device) for device in devices]
        shares = [float(getattr(one, "gpu", 0)) for one in use]
        memory = [nvml.ask("DeviceGetMemoryInfo", device) for device in devices]
        used = [getattr(one, "used", 0) / _GIB for one in memory]
        total = [getattr(one, "total", 0) / _GIB for one in memory]
        if len(devices) > 2:
            return [
                _share(f"{len(devices)} GPUs", sum(shares) / len(shares)),
                _share("idlest GPU", min(shares)),
                Reading(name="GPU memory", unit="GiB", value=sum(used), full=sum(total) or None),
            ]
        found = []
        for index, share in enumerate(shares):
            memory_name = f"GPU {index} mem"
            found += [
                _share(f"GPU {index}", share),
                Reading(name=memory_name, unit="GiB", value=used[index], full=total[index] or None),
            ]
        return found


def recorded_gauges(snapshot: Snapshot | None) -> Sequence[Gauge]:
    """Return what a run's record tells of the load: means over its benchmarks, one value each."""
    load = snapshot.load if snapshot else None
    found = []
    for index, gpu in sorted(load.gpus.items()) if load else ():
        for spread, name, unit, scale, full in (
            (gpu.utilization_percent, "mean", "%", 1.0, 100.0),
            (gpu.memory_used_bytes, "mem", "GiB", _GIB, None),
            (gpu.power_w, "power", "W", 1.0, None),
        ):
            if spread is not None and spread.mean is not None:
                value = spread.mean / scale
                found.append(Gauge(name=f"GPU {index} {name}", unit=unit, values=(value,), full=full))
    return found


def _share(name: str, percent: float) -> Reading:
    return Reading(name=name, unit="%", value=percent, full=100.0)

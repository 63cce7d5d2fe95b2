"""NVML, NVIDIA's management library: opened if there is one, and asked without failing (its API reference
names the calls; nvidia-ml-py gives them their C names)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from optrack.core.fairness.variables import plain

REASONS = {
    "idle": 0x001,
    "application_clocks": 0x002,
    "power_cap": 0x004,
    "hardware_slowdown": 0x008,
    "sync_boost": 0x010,
    "software_thermal": 0x020,
    "hardware_thermal": 0x040,
    "power_brake": 0x080,
    "display_clocks": 0x100,
}
"""Why a GPU's clock is lower than it could be -> the bit of nvmlClocksEventReasons."""


class Nvml:
    """NVML's functions by their C names; a call that a device, driver or version doesn't support answers
    None."""

    def __init__(self, library: Any) -> None:
        self._library = library

    def ask(self, name: str, *arguments: Any) -> Any:
        """Call `nvml<name>` and return its result with bytes as text, or None if it isn't supported."""
        function = getattr(self._library, f"nvml{name}", None)
        if function is None:
            return None
        try:
            result = function(*arguments)
        except (self._library.NVMLError, ValueError, TypeError, OSError):
            return None
        return plain(result) if isinstance(result, bytes) else result

    def number(self, name: str) -> int:
        """Return a constant of NVML (`NVML_CLOCK_SM`)."""
        return int(getattr(self._library, name, 0))

    def devices(self) -> list[Any]:
        """Return the handles of all GPUs, in the order of their PCI addresses."""
        count = self.ask("DeviceGetCount") or 0
        handles = [self.ask("DeviceGetHandleByIndex", index) for index in range(count)]
        return [handle for handle in handles if handle is not None]


@contextmanager
def opened_nvml(library: Any = None) -> Iterator[Nvml | None]:
    """Open NVML for a while; None where there is no GPU, no driver or no nvidia-ml-py, which is normal."""
    if library is None:
        try:
            import pynvml

            library = pynvml
        except ImportError:
            yield None
            return
    try:
        library.nvmlInit()
    except (library.NVMLError, OSError):
        yield None
        return
    try:
        yield Nvml(library)
    finally:
        try:
            library.nvmlShutdown()
        except library.NVMLError:
            return

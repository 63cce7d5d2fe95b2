"""A written stand-in for NVML: a host with H200-like GPUs whose facts, settings and state a test can set.

It has the functions of pynvml that the capture asks; what it doesn't have answers as an old driver would.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


class NvmlError(Exception):
    """What NVML says when it can't."""


@dataclass
class Memory:
    """Memory of a device, in bytes."""

    total: int = 150754820096
    used: int = 500_000_000


@dataclass
class Use:
    """Utilisation of a device, in percent."""

    gpu: int = 0
    memory: int = 0


@dataclass
class Pci:
    """A device's place on the bus."""

    busId: bytes  # noqa: N815 - NVML's own name


@dataclass
class Process:
    """A process that computes on a device."""

    pid: int


@dataclass
class Device:
    """One GPU; power in mW, clocks in MHz."""

    index: int
    name: str = "NVIDIA H200"
    memory: Memory = field(default_factory=Memory)
    use: Use = field(default_factory=Use)
    power_mw: int = 75_000
    power_limit_mw: int = 700_000
    temperature: int = 32
    sm_clock: int = 345
    max_sm_clock: int = 1980
    application_clock: int = 1980
    memory_clock: int = 3201
    persistence: int = 1
    ecc: int = 1
    mig: int = 0
    compute_mode: int = 0
    pcie_generation: int = 5
    pcie_width: int = 16
    links: int = 18
    reasons: int = 1
    processes: list[int] = field(default_factory=list)

    @property
    def uuid(self) -> str:
        """The UUID, different for each GPU."""
        return f"GPU-00000000-0000-0000-0000-00000000000{self.index}"


@dataclass
class FakeNvml:
    """The module `pynvml` of a host with these GPUs."""

    devices: list[Device] = field(default_factory=lambda: [Device(0), Device(1)])
    driver: str = "570.86.15"
    cuda: int = 12080
    level: int = 20
    opened: int = 0

    NVMLError = NvmlError
    NVML_CLOCK_GRAPHICS = 0
    NVML_CLOCK_SM = 1
    NVML_CLOCK_MEM = 2

    def __getattr__(self, name: str) -> Any:
        answers = {
            "nvmlSystemGetDriverVersion": lambda: self.driver,
            "nvmlSystemGetNVMLVersion": lambda: "12.570.86.15",
            "nvmlSystemGetCudaDriverVersion": lambda: self.cuda,
            "nvmlDeviceGetCount": lambda: len(self.devices),
            "nvmlDeviceGetHandleByIndex": lambda index: self.devices[index],
            "nvmlDeviceGetName": lambda device: device.name,
            "nvmlDeviceGetUUID": lambda device: device.uuid,
            "nvmlDeviceGetCudaComputeCapability": lambda device: (9, 0),
            "nvmlDeviceGetVbiosVersion": lambda device: "96.00.99.00.01",
            "nvmlDeviceGetMemoryInfo": lambda device: device.memory,
            "nvmlDeviceGetComputeMode": lambda device: device.compute_mode,
            "nvmlDeviceGetPersistenceMode": lambda device: device.persistence,
            "nvmlDeviceGetMigMode": lambda device: (device.mig, device.mig),
            "nvmlDeviceGetEccMode": lambda device: (device.ecc, device.ecc),
            "nvmlDeviceGetTotalEccErrors": lambda device, kind, counter: 0,
            "nvmlDeviceGetPciInfo": lambda device: Pci(f"0000000{device.index}:18:00.0".encode()),
            "nvmlDeviceGetPowerManagementLimit": lambda device: device.power_limit_mw,
            "nvmlDeviceGetEnforcedPowerLimit": lambda device: device.power_limit_mw,
            "nvmlDeviceGetPowerManagementDefaultLimit": lambda device: 700_000,
            "nvmlDeviceGetMaxClockInfo": lambda device, kind: 3201 if kind == 2 else device.max_sm_clock,
            "nvmlDeviceGetApplicationsClock": self._application_clock,
            "nvmlDeviceGetCurrPcieLinkGeneration": lambda device: device.pcie_generation,
            "nvmlDeviceGetCurrPcieLinkWidth": lambda device: device.pcie_width,
            "nvmlDeviceGetMaxPcieLinkGeneration": lambda device: 5,
            "nvmlDeviceGetMaxPcieLinkWidth": lambda device: 16,
            "nvmlDeviceGetNvLinkState": self._link,
            "nvmlDeviceGetUtilizationRates": lambda device: device.use,
            "nvmlDeviceGetTemperature": lambda device, sensor: device.temperature,
            "nvmlDeviceGetPowerUsage": lambda device: device.power_mw,
            "nvmlDeviceGetPerformanceState": lambda device: 0,
            "nvmlDeviceGetClockInfo": self._clock,
            "nvmlDeviceGetCurrentClocksEventReasons": lambda device: device.reasons,
            "nvmlDeviceGetComputeRunningProcesses": lambda device: [Process(pid) for pid in device.processes],
            "nvmlDeviceGetTopologyCommonAncestor": lambda one, other: self.level,
        }
        if name not in answers:
            raise AttributeError(name)
        return answers[name]

    def nvmlInit(self) -> None:  # noqa: N802 - NVML's own name
        """Open the library."""
        self.opened += 1

    def nvmlShutdown(self) -> None:  # noqa: N802 - NVML's own name
        """Close the library."""
        self.opened -= 1

    @staticmethod
    def _application_clock(device: Device, kind: int) -> int:
        return device.memory_clock if kind == 2 else device.application_clock

    @staticmethod
    def _clock(device: Device, kind: int) -> int:
        return device.memory_clock if kind == 2 else device.sm_clock

    @staticmethod
    def _link(device: Device, link: int) -> int:
        if link >= device.links:
            raise NvmlError("no such link")
        return 1


class NoDriver:
    """The module `pynvml` of a host without a driver."""

    NVMLError = NvmlError

    def nvmlInit(self) -> None:  # noqa: N802 - NVML's own name
        """Fail, as without a driver."""
        raise NvmlError("NVML Shared Library Not Found")

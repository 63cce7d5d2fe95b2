"""GPUs through NVML: what they are, how they are set, and how they are connected."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from optrack.host.process_tree import read_text
from optrack.judge.variables import plain
from optrack.model.hardware import Ecc, Gpu, Gpus, GpuState, Pcie
from optrack.model.value import Frozen

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

    def devices(self, indices: Collection[int] | None = None) -> dict[int, Any]:
        """Return the handles of the given GPUs, None for all, by index (in the order of their PCI addresses)."""
        count = self.ask("DeviceGetCount") or 0
        handles = {index: self.ask("DeviceGetHandleByIndex", index) for index in range(count)}
        return {
            index: handle
            for index, handle in handles.items()
            if handle is not None and (indices is None or index in indices)
        }


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


_TOPOLOGY = {0: "same board", 10: "PIX", 20: "PXB", 30: "PHB", 40: "NODE", 50: "SYS"}
"""nvmlGpuTopologyLevel -> the name that `nvidia-smi topo -m` prints."""

NVLINKS = 36
_CLOCKS = {"graphics": "NVML_CLOCK_GRAPHICS", "sm": "NVML_CLOCK_SM", "memory": "NVML_CLOCK_MEM"}


def gpus_part(*, visible: str | None = None, library: Any = None) -> Gpus:
    """Return `driver`, `cuda`, `count`, `devices` (index -> facts, settings and state) and `topology` of the
    GPUs.

    `visible` is the value of CUDA_VISIBLE_DEVICES: GPUs that it leaves out are only named, under `hidden`.
    Without a GPU `count` is 0. `library` stands in for pynvml.
    """
    with opened_nvml(library) as nvml:
        if nvml is None:
            return Gpus(count=0)
        handles = nvml.devices()
        shown = visible_devices(
            visible, {i: str(nvml.ask("DeviceGetUUID", handle)) for i, handle in handles.items()}
        )
        cuda = nvml.ask("SystemGetCudaDriverVersion")
        return Gpus(
            driver=nvml.ask("SystemGetDriverVersion"),
            nvml=nvml.ask("SystemGetNVMLVersion"),
            cuda=f"{cuda // 1000}.{cuda % 1000 // 10}" if cuda else None,
            count=len(handles),
            devices={str(i): describe_device(nvml, handle) for i, handle in handles.items() if i in shown},
            hidden={str(i): nvml.ask("DeviceGetName", h) for i, h in handles.items() if i not in shown},
            topology=_topology(nvml, {i: handle for i, handle in handles.items() if i in shown}),
        )


def visible_devices(visible: str | None, uuids: Mapping[int, str]) -> set[int]:
    """Return the indices of the GPUs that a value of CUDA_VISIBLE_DEVICES shows: indices or UUIDs (their
    beginning is enough), up to the first that doesn't exist, as CUDA reads it. No value shows all."""
    if visible is None:
        return set(uuids)
    found: set[int] = set()
    for word in (part.strip() for part in visible.split(",")):
        match = next(
            (i for i, uuid in uuids.items() if str(i) == word or (word and uuid.startswith(word))), None
        )
        if match is None and not word.startswith("MIG-"):
            break
        found |= set(uuids) if match is None else {match}
    return found


def describe_device(nvml: Nvml, handle: Any) -> Gpu:
    """Return one GPU's facts and settings, and under `state` what moves. Clocks in MHz, power in W, memory in
    bytes."""
    ask = nvml.ask
    memory = ask("DeviceGetMemoryInfo", handle)
    capability = ask("DeviceGetCudaComputeCapability", handle)
    mig = ask("DeviceGetMigMode", handle)
    ecc = ask("DeviceGetEccMode", handle)
    bus = ask("DeviceGetPciInfo", handle)
    address = _text(getattr(bus, "busId", None))
    boost = ask("DeviceGetAutoBoostedClocksEnabled", handle)
    return Gpu(
        name=ask("DeviceGetName", handle),
        uuid=ask("DeviceGetUUID", handle),
        capability=".".join(map(str, capability)) if capability else None,
        vbios=ask("DeviceGetVbiosVersion", handle),
        memory_bytes=getattr(memory, "total", None),
        compute_mode=ask("DeviceGetComputeMode", handle),
        persistence=_switch(ask("DeviceGetPersistenceMode", handle)),
        mig=_switch(mig[0]) if mig else None,
        auto_boost=_switch(boost[0]) if boost else None,
        ecc=Ecc(
            mode=_switch(ecc[0]) if ecc else None,
            corrected_errors=ask("DeviceGetTotalEccErrors", handle, 0, 0),
            uncorrected_errors=ask("DeviceGetTotalEccErrors", handle, 1, 0),
        ),
        power_limit_w=_watts(ask("DeviceGetPowerManagementLimit", handle)),
        enforced_power_limit_w=_watts(ask("DeviceGetEnforcedPowerLimit", handle)),
        default_power_limit_w=_watts(ask("DeviceGetPowerManagementDefaultLimit", handle)),
        clocks={
            f"{kind}_{which}_mhz": ask(f"DeviceGet{call}", handle, nvml.number(constant))
            for kind, constant in _CLOCKS.items()
            for which, call in (("max", "MaxClockInfo"), ("application", "ApplicationsClock"))
        },
        pcie=Pcie(
            address=address,
            generation=ask("DeviceGetCurrPcieLinkGeneration", handle),
            width=ask("DeviceGetCurrPcieLinkWidth", handle),
            max_generation=ask("DeviceGetMaxPcieLinkGeneration", handle),
            max_width=ask("DeviceGetMaxPcieLinkWidth", handle),
        ),
        numa_node=_numa_node(address),
        nvlinks=sum(ask("DeviceGetNvLinkState", handle, link) == 1 for link in range(NVLINKS)),
        state=_state(nvml, handle, memory),
    )


def _state(nvml: Nvml, handle: Any, memory: Any) -> GpuState:
    ask = nvml.ask
    use = ask("DeviceGetUtilizationRates", handle)
    return GpuState(
        temperature_c=ask("DeviceGetTemperature", handle, 0),
        power_w=_watts(ask("DeviceGetPowerUsage", handle)),
        performance_state=ask("DeviceGetPerformanceState", handle),
        sm_clock_mhz=ask("DeviceGetClockInfo", handle, nvml.number("NVML_CLOCK_SM")),
        memory_clock_mhz=ask("DeviceGetClockInfo", handle, nvml.number("NVML_CLOCK_MEM")),
        utilization_percent=getattr(use, "gpu", None),
        memory_used_bytes=getattr(memory, "used", None),
        throttle_reasons=throttle_bits(nvml, handle),
        processes=sorted(_process_name(pid) for pid in compute_pids(nvml, handle)),
    )


def throttle_bits(nvml: Nvml, handle: Any) -> int | None:
    """Return the bits that say why the clock isn't higher now (`REASONS`)."""
    bits: int | None = nvml.ask("DeviceGetCurrentClocksEventReasons", handle)
    if bits is None:
        bits = nvml.ask("DeviceGetCurrentClocksThrottleReasons", handle)
    return bits


def compute_pids(nvml: Nvml, handle: Any) -> list[int]:
    """Return the processes that compute on a GPU, as numbers of this host (in a container, those that it
    shows)."""
    return sorted({process.pid for process in nvml.ask("DeviceGetComputeRunningProcesses", handle) or ()})


class GpuUse(Frozen):
    """One GPU: memory in use, and the processes that compute on it.

    In a container the pids may be those of the host, or none: then only the memory tells of them.
    """

    index: int
    used_bytes: int
    pids: tuple[int, ...] = ()


def gpu_use(indices: Collection[int] | None = None) -> tuple[GpuUse, ...]:
    """Return the use of the given GPUs, by their NVML index, or of all; empty where there is no NVML."""
    with opened_nvml() as nvml:
        return tuple(
            GpuUse(index=index, used_bytes=memory.used, pids=tuple(compute_pids(nvml, handle)))
            for index, handle in (nvml.devices(indices).items() if nvml is not None else ())
            if nvml is not None and (memory := nvml.ask("DeviceGetMemoryInfo", handle)) is not None
        )


def foreign_names(pids: Collection[int], own: Collection[int]) -> list[str]:
    """Return the names of the processes that aren't ours, sorted."""
    return sorted(_process_name(pid) for pid in pids if pid not in own)


def _process_name(pid: int) -> str:
    return read_text(Path("/proc") / str(pid) / "comm") or "unknown"


def _topology(nvml: Nvml, handles: Mapping[int, Any]) -> dict[str, str]:
    """Return how each pair of GPUs is connected: `NV4` (that many NVLinks between them), or the level of
    PCIe."""
    found: dict[str, str] = {}
    addresses = {
        _text(getattr(nvml.ask("DeviceGetPciInfo", h), "busId", None)): i for i, h in handles.items()
    }
    links: dict[tuple[int, int], int] = {}
    for index, handle in handles.items():
        for link in range(NVLINKS):
            if nvml.ask("DeviceGetNvLinkState", handle, link) == 1:
                remote = _text(getattr(nvml.ask("DeviceGetNvLinkRemotePciInfo", handle, link), "busId", None))
                other = addresses.get(remote)
                if other is not None and other != index:
                    links[index, other] = links.get((index, other), 0) + 1
    switched = {i: nvml.ask("DeviceGetNvLinkState", h, 0) == 1 for i, h in handles.items()}
    for a in handles:
        for b in (other for other in handles if other > a):
            level = nvml.ask("DeviceGetTopologyCommonAncestor", handles[a], handles[b])
            way = _TOPOLOGY.get(int(level), str(level)) if level is not None else "unknown"
            direct = links.get((a, b), 0)
            through = "NVSwitch" if switched[a] and switched[b] and not links else ""
            found[f"{a}-{b}"] = f"NV{direct}" if direct else f"{through} {way}".strip()
    return found


def _numa_node(address: str | None) -> int | None:
    """Return the NUMA node that the kernel gives a PCI device (sysfs writes four digits of the domain, NVML
    eight)."""
    if not address:
        return None
    short = address.lower()[-12:]
    text = read_text(Path("/sys/bus/pci/devices") / short / "numa_node")
    return int(text) if text and text.lstrip("-").isdigit() and int(text) >= 0 else None


def _text(value: Any) -> str | None:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _watts(milliwatts: int | None) -> float | None:
    return None if milliwatts is None else milliwatts / 1000


def _switch(value: int | None) -> str | None:
    return None if value is None else "on" if value else "off"

"""Who uses the NVIDIA GPUs of this host and how much of their memory, as NVML tells it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from optrack.core.frozen import Frozen

BACK_WITHIN_BYTES = 512 * 2**20
POLL_S = 0.2


class GpuUse(Frozen):
    """One GPU: memory in use and in all, and the processes that compute on it.

    In a container the pids may be those of the host, or none: then only the memory tells of them.
    """

    index: int
    used_bytes: int
    total_bytes: int
    pids: tuple[int, ...] = ()


def gpu_use(indices: Collection[int] | None = None) -> tuple[GpuUse, ...]:
    """Return the use of the given GPUs, by their NVML index, or of all; empty where there is no NVML."""
    with _nvml() as nvml:
        if nvml is None:
            return ()
        found = []
        for index in range(nvml.nvmlDeviceGetCount()):
            if indices is None or index in indices:
                with contextlib.suppress(nvml.NVMLError):
                    found.append(_use(nvml, index))
        return tuple(found)


def memory_held(before: Sequence[GpuUse]) -> tuple[str, ...]:
    """Return one line for each GPU that has not got back the memory that was free in `before`."""
    was = {gpu.index: gpu.used_bytes for gpu in before}
    return tuple(
        f"GPU {gpu.index} still holds {(gpu.used_bytes - was[gpu.index]) / 2**30:.1f} GiB"
        + (f" for pids {', '.join(map(str, gpu.pids))}" if gpu.pids else "")
        for gpu in gpu_use(was)
        if gpu.used_bytes > was[gpu.index] + BACK_WITHIN_BYTES
    )


def wait_for_memory(
    before: Sequence[GpuUse], *, within_s: float, hurry: Callable[[], bool] = lambda: False
) -> tuple[str, ...]:
    """Wait until the GPUs' memory is back as it was; return what is still held after `within_s` seconds."""
    deadline = time.monotonic() + within_s
    while (held := memory_held(before)) and time.monotonic() < deadline and not hurry():
        time.sleep(POLL_S)
    return held


def _use(nvml: Any, index: int) -> GpuUse:
    device = nvml.nvmlDeviceGetHandleByIndex(index)
    memory = nvml.nvmlDeviceGetMemoryInfo(device)
    try:
        pids = sorted({process.pid for process in nvml.nvmlDeviceGetComputeRunningProcesses(device)})
    except nvml.NVMLError:
        pids = []
    return GpuUse(index=index, used_bytes=memory.used, total_bytes=memory.total, pids=tuple(pids))


@contextlib.contextmanager
def _nvml() -> Iterator[Any]:
    try:
        import pynvml
    except ImportError:
        yield None
        return
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        yield None
        return
    try:
        yield pynvml
    finally:
        pynvml.nvmlShutdown()

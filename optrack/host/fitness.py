"""Whether the host is fit to be measured on: port, GPUs and who uses them, CPU load, disk space."""

from __future__ import annotations

import os
import random
import re
import socket
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Literal

from optrack.errors import HostUnfitError
from optrack.host import logs, proc
from optrack.host.gpus import GpuUse, gpu_use
from optrack.host.teardown import leftovers
from optrack.model.run import ProcessId
from optrack.model.value import Frozen

IDLE_GPU_BYTES = 2 * 2**30
"""A GPU on which nothing computes may hold so much: drivers and displays do."""

CPU_LOOK_S = 0.3


class Problem(Frozen):
    """One thing that makes the host unfit, with its culprit's name and what to do about it."""

    kind: Literal["port", "gpu", "cpu", "disk", "leftover"]
    message: str
    hint: str | None = None


def check_host(
    *,
    port: int | None = None,
    host: str = "127.0.0.1",
    gpus: Collection[int] | None = None,
    folders: Sequence[Path] = (),
    free_bytes: int = 2 * 2**30,
    cpu_share: float | None = 0.5,
    earlier_runs: Sequence[str] = (),
) -> tuple[Problem, ...]:
    """Return what stands against measuring on this host now; empty if nothing does.

    `gpus` are NVML indices, None for all. `cpu_share` is the share of all CPUs that others may keep busy,
    None to look away. `earlier_runs` are ids of ended runs: what carries their marker should be gone.
    """
    problems = [_leftover(run, left) for run in earlier_runs if (left := leftovers(run))]
    if port is not None and not is_free(port, host):
        message = port_problem(port)
        problems.append(Problem(kind="port", message=message, hint="end it, or give the recipe another port"))
    problems += [problem for gpu in gpu_use(gpus) if (problem := _gpu(gpu)) is not None]
    if cpu_share is not None and (busy := _cpu(cpu_share)) is not None:
        problems.append(busy)
    problems += [problem for folder in folders if (problem := _disk(folder, free_bytes)) is not None]
    return tuple(problems)


def unfit(problems: Sequence[Problem]) -> HostUnfitError:
    """Return the error for what was found: the problems as its message, the first one's hint."""
    message = "the host isn't fit to measure on: " + "; ".join(problem.message for problem in problems)
    hint = next((problem.hint for problem in problems if problem.hint), None)
    hint = f"{hint}; --wait waits" if hint else "--wait waits until it is"
    return HostUnfitError(message, hint=hint, cause="; ".join(map(_cause, problems)))


def _cause(problem: Problem) -> str:
    """Return what stays the same of a problem while it lasts."""
    if problem.kind in ("cpu", "disk"):
        return problem.kind
    return re.sub(r"[\d.]+ GiB", "", problem.message)


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen on the port now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return not proc.is_listened(port)


def port_problem(port: int) -> str:
    """Say by whom a port that isn't free is held."""
    return f"port {port} is held by {proc.describe(port)}"


def free_port(host: str = "127.0.0.1") -> int:
    """Return a port that is free now, outside the range that the kernel gives to outgoing connections.

    A server may load for minutes before it binds its port: one from that range could be taken meanwhile.
    """
    low, high = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split())
    candidates = [port for port in range(20000, 61000) if not low <= port <= high] or range(low, high)
    for port in random.sample(candidates, len(candidates)):
        if is_free(port, host):
            return port
    raise HostUnfitError("no port is free on this host")


def _leftover(run: str, left: Sequence[ProcessId]) -> Problem:
    names = ", ".join(f"pid {process.pid} ({proc.command_line(process.pid)})" for process in left[:3])
    return Problem(kind="leftover", message=f"run {run} has left {names}", hint="end these processes")


def _gpu(gpu: GpuUse) -> Problem | None:
    used = f"{gpu.used_bytes / 2**30:.1f} GiB"
    if gpu.pids:
        names = ", ".join(f"pid {pid} ({proc.command_line(pid)})" for pid in gpu.pids[:3])
        message = f"GPU {gpu.index} is used by {names}, {used}"
    elif gpu.used_bytes > IDLE_GPU_BYTES:
        message = f"GPU {gpu.index} holds {used} for a process that can't be seen from here"
    else:
        return None
    return Problem(kind="gpu", message=message, hint="name other GPUs with `gpus:` in the recipe, or end it")


def _disk(folder: Path, needed: int) -> Problem | None:
    free = logs.free_bytes(folder)
    if free is None or free >= needed:
        return None
    message = f"only {free / 2**30:.1f} GiB are free for {folder} (needed: {needed / 2**30:.1f} GiB)"
    return Problem(kind="disk", message=message, hint="make room")


def _cpu(allowed: float) -> Problem | None:
    """Look for a moment at how busy the CPUs are, and with what. The load average would lag by minutes."""
    before, begin = _used(), time.monotonic()
    time.sleep(CPU_LOOK_S)
    after, took = _used(), time.monotonic() - begin
    cpus = len(os.sched_getaffinity(0)) or 1
    spent = {pid: (used - before.get(pid, 0.0)) / took for pid, used in after.items() if pid != os.getpid()}
    share = sum(spent.values()) / cpus
    if share <= allowed or not spent:
        return None
    top = max(spent, key=lambda pid: spent[pid])
    message = (
        f"the CPUs are {share:.0%} busy (allowed: {allowed:.0%}), most of all with pid {top} "
        f"({proc.command_line(top)}) at {spent[top]:.1f} CPUs"
    )
    return Problem(kind="cpu", message=message, hint="let it end first")


def _used() -> dict[int, float]:
    """Return the CPU seconds that each process has used so far."""
    import psutil

    found = {process.pid: process.info["cpu_times"] for process in psutil.process_iter(["cpu_times"])}
    return {pid: times.user + times.system for pid, times in found.items() if times}

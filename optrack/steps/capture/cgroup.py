"""The limits of a process's control group (cgroups(7)): CPU time, CPUs, NUMA nodes and memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from optrack.steps.capture.tree import read_text

_UNLIMITED = 2**60


def cgroup_limits(
    pid: int | str, *, proc: Path = Path("/proc"), root: Path = Path("/sys/fs/cgroup")
) -> dict[str, Any]:
    """Return `cpus` (CPU time in cores), `cpuset`, `memory_nodes` and `memory_bytes` of a process's group;
    None where there is no limit. Version 2 is read from the group upwards (the tightest limit holds), version
    1 by controller."""
    groups = _groups(read_text(proc / str(pid) / "cgroup") or "")
    if (root / "cgroup.controllers").exists():
        return _version_2(root, groups.get("", "/"))
    return _version_1(root, groups)


def _groups(text: str) -> dict[str, str]:
    """Return controller -> path of the group; version 2's controller is the empty name."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        for controller in controllers.split(","):
            found[controller] = path
    return found


def _version_2(root: Path, path: str) -> dict[str, Any]:
    folder = root / path.lstrip("/")
    folders = [folder, *folder.parents]
    folders = folders[: folders.index(root) + 1] if root in folders else [folder]
    cpus = [quota for place in folders if (quota := _quota(read_text(place / "cpu.max"))) is not None]
    memory = [limit for place in folders if (limit := _number(read_text(place / "memory.max"))) is not None]
    return {
        "cpus": min(cpus, default=None),
        "cpuset": read_text(folder / "cpuset.cpus.effective"),
        "memory_nodes": read_text(folder / "cpuset.mems.effective"),
        "memory_bytes": min(memory, default=None),
    }


def _version_1(root: Path, groups: dict[str, str]) -> dict[str, Any]:
    quota = _number(_file(root, "cpu", groups, "cpu.cfs_quota_us"))
    period = _number(_file(root, "cpu", groups, "cpu.cfs_period_us"))
    memory = _number(_file(root, "memory", groups, "memory.limit_in_bytes"))
    return {
        "cpus": quota / period if quota and period and quota > 0 else None,
        "cpuset": _file(root, "cpuset", groups, "cpuset.cpus"),
        "memory_nodes": _file(root, "cpuset", groups, "cpuset.mems"),
        "memory_bytes": memory if memory is not None and memory < _UNLIMITED else None,
    }


def _file(root: Path, controller: str, groups: dict[str, str], name: str) -> str | None:
    """Read a controller's file in the process's group, or at its root, where a container sees its own
    group."""
    folder = root / controller
    inside = folder / groups.get(controller, "/").lstrip("/")
    return read_text(inside / name) or read_text(folder / name)


def _quota(text: str | None) -> float | None:
    quota, _, period = (text or "").partition(" ")
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() else None


def _number(text: str | None) -> int | None:
    return int(text) if text and text.lstrip("-").isdigit() else None

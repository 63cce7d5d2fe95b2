"""What the processes of a server may use: CPUs, NUMA nodes, limits, control group."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from optrack.host.command_lines import process_line
from optrack.host.environment import representative_processes
from optrack.host.process_tree import Member, read_text
from optrack.model.hardware import Allowances, ControlGroup
from optrack.model.snapshot import ProcessTree

_UNLIMITED = 2**60


def cgroup_limits(
    pid: int | str, *, proc: Path = Path("/proc"), root: Path = Path("/sys/fs/cgroup")
) -> ControlGroup:
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


def _version_2(root: Path, path: str) -> ControlGroup:
    folder = root / path.lstrip("/")
    folders = [folder, *folder.parents]
    folders = folders[: folders.index(root) + 1] if root in folders else [folder]
    cpus = [quota for place in folders if (quota := _quota(read_text(place / "cpu.max"))) is not None]
    memory = [limit for place in folders if (limit := _number(read_text(place / "memory.max"))) is not None]
    return ControlGroup(
        cpus=min(cpus, default=None),
        cpuset=read_text(folder / "cpuset.cpus.effective"),
        memory_nodes=read_text(folder / "cpuset.mems.effective"),
        memory_bytes=min(memory, default=None),
    )


def _version_1(root: Path, groups: dict[str, str]) -> ControlGroup:
    quota = _number(_file(root, "cpu", groups, "cpu.cfs_quota_us"))
    period = _number(_file(root, "cpu", groups, "cpu.cfs_period_us"))
    memory = _number(_file(root, "memory", groups, "memory.limit_in_bytes"))
    return ControlGroup(
        cpus=quota / period if quota and period and quota > 0 else None,
        cpuset=_file(root, "cpuset", groups, "cpuset.cpus"),
        memory_nodes=_file(root, "cpuset", groups, "cpuset.mems"),
        memory_bytes=memory if memory is not None and memory < _UNLIMITED else None,
    )


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


_POLICIES = {0: "other", 1: "fifo", 2: "rr", 3: "batch", 5: "idle", 6: "deadline"}
_LIMITS = {"locked_memory": "Max locked memory", "open_files": "Max open files", "stack": "Max stack size"}


def processes_part(
    members: Sequence[Member],
    *,
    salt: bytes,
    places: Mapping[str, str],
    port: int | None = None,
    proc: Path = Path("/proc"),
) -> ProcessTree:
    """Return the `processes` part of a server: the tree, and what its working processes may use."""
    observed, _ = representative_processes(members)
    workers = observed or [member for member in members if not member.shell] or list(members)
    allowed = allowances([member.pid for member in workers], proc=proc)
    part = _tree(members, allowed, salt=salt, places=places, port=port)
    if not workers:
        return part
    used = _used([member.pid for member in members], proc)
    return part.model_copy(update={"cgroup": cgroup_limits(workers[0].pid, proc=proc), "used": used})


def ended_processes_part(
    members: Sequence[Member],
    working: Sequence[Member],
    *,
    salt: bytes,
    places: Mapping[str, str],
    port: int | None,
) -> ProcessTree:
    """Return the same of processes that have ended, as they were seen while they lived; `working` did the work."""
    allowed = next((member.allowed for member in working if member.allowed is not None), Allowances())
    return _tree(members, allowed, salt=salt, places=places, port=port)


def _tree(
    members: Sequence[Member],
    allowed: Allowances,
    *,
    salt: bytes,
    places: Mapping[str, str],
    port: int | None,
) -> ProcessTree:
    return ProcessTree(
        count=len(members),
        starts=1,
        tree=[process_line(member, members, salt=salt, places=places, port=port) for member in members],
        **{name: getattr(allowed, name) for name in allowed.model_fields_set},
    )


def allowances(pids: Sequence[int], *, proc: Path = Path("/proc"), policy: bool = True) -> Allowances:
    """Return what processes may use: CPUs, NUMA nodes and policy, priority, soft limits; each once if they agree.

    Without `policy`, which takes long to read of a large process, the NUMA policy is left out.
    """
    placed = {"memory_policy": _common(pids, lambda pid: _memory_policy(proc, pid))} if policy else {}
    return Allowances(
        **placed,
        affinity=_common(pids, lambda pid: _status(proc, pid, "Cpus_allowed_list")),
        memory_nodes=_common(pids, lambda pid: _status(proc, pid, "Mems_allowed_list")),
        nice=_common(pids, _nice),
        scheduler=_common(pids, _policy),
        limits={name: _common(pids, partial(_soft_limit, proc, title)) for name, title in _LIMITS.items()},
    )


def _used(pids: Sequence[int], proc: Path) -> dict[str, int]:
    """Return the most open files of any of the processes, and its most locked memory and stack in bytes."""
    sizes = {
        name: max((_kilobytes(proc, pid, key) for pid in pids), default=0) * 1024
        for name, key in (("locked_memory", "VmLck"), ("stack", "VmStk"))
    }
    return {"open_files": max((_open_files(proc, pid) for pid in pids), default=0), **sizes}


def _kilobytes(proc: Path, pid: int, key: str) -> int:
    return int((_status(proc, pid, key) or "0").split()[0])


def _open_files(proc: Path, pid: int) -> int:
    try:
        return sum(1 for _ in (proc / str(pid) / "fd").iterdir())
    except OSError:
        return 0


def _common(pids: Sequence[int], read: Callable[[int], Any]) -> Any:
    """Return the one value that all processes have, or the sorted list of the different ones."""
    values = {value for pid in pids if (value := read(pid)) is not None}
    return next(iter(values)) if len(values) == 1 else sorted(values) or None


def _status(proc: Path, pid: int, key: str) -> str | None:
    found = re.search(rf"(?m)^{key}:\s*(.*)$", read_text(proc / str(pid) / "status") or "")
    return found.group(1).strip() if found else None


def _memory_policy(proc: Path, pid: int) -> str | None:
    """Return the NUMA policy of the first mapping (`default`, `bind:0`, `interleave:0-1`), as numactl sets
    it."""
    try:
        with (proc / str(pid) / "numa_maps").open() as file:
            words = file.readline().split()
    except OSError:
        return None
    return words[1] if len(words) > 1 else None


def _nice(pid: int) -> int | None:
    try:
        return os.getpriority(os.PRIO_PROCESS, pid)
    except OSError:
        return None


def _policy(pid: int) -> str | None:
    try:
        return _POLICIES.get(os.sched_getscheduler(pid), "unknown")
    except OSError:
        return None


def _soft_limit(proc: Path, title: str, pid: int) -> str | None:
    found = re.search(rf"(?m)^{title}\s+(\S+)", read_text(proc / str(pid) / "limits") or "")
    return found.group(1) if found else None

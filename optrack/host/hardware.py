"""The hardware part of a snapshot: host, limits, GPUs. Printed by `python -m optrack.host.hardware`."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from optrack.host.gpus import gpus_part
from optrack.host.limits import allowances, cgroup_limits
from optrack.host.process_tree import read_text
from optrack.model.hardware import Boot, Cpu, Hardware, Kernel, Memory, NumaNode
from optrack.model.secrets.masking import keyed_digest, mask_text

_COMMAND_LINE_NOISE = re.compile(
    r"\b(?:BOOT_IMAGE|root|initrd|resume|rd\.\S+|UUID|ostree|ip|random\.\S+|systemd\.\S+)=\S+\s*"
)
_CONTAINERS = (("/.dockerenv", "docker"), ("/run/.containerenv", "podman"))
_MEMORY_SETTINGS = {
    "swappiness": "vm/swappiness",
    "overcommit": "vm/overcommit_memory",
    "numa_balancing": "kernel/numa_balancing",
    "huge_pages": "vm/nr_hugepages",
    "zone_reclaim": "vm/zone_reclaim_mode",
}


class Places:
    """Where the kernel shows the host; tests give folders of their own."""

    def __init__(
        self, proc: Path = Path("/proc"), sys: Path = Path("/sys"), etc: Path = Path("/etc")
    ) -> None:
        self.proc = proc
        self.sys = sys
        self.etc = etc


def host_part(*, salt: bytes, places: Places | None = None) -> Hardware:
    """Return machine, kernel, CPU, memory and NUMA nodes of this host; sizes in bytes, frequencies in MHz."""
    places = places or Places()
    machine = read_text(places.etc / "machine-id") or read_text(places.sys / "class/dmi/id/product_uuid")
    return Hardware(
        host=platform.node(),
        machine=keyed_digest(machine, salt) if machine else None,
        boot=Boot(
            id=read_text(places.proc / "sys/kernel/random/boot_id"),
            uptime_s=float((read_text(places.proc / "uptime") or "0").split()[0]),
        ),
        kernel=_kernel(places, salt),
        cpu=_cpu(places),
        memory=_memory(places),
        numa=_numa(places),
        container=_container(places),
    )


def _kernel(places: Places, salt: bytes) -> Kernel:
    line = read_text(places.proc / "cmdline") or ""
    return Kernel(
        release=read_text(places.proc / "sys/kernel/osrelease"),
        version=platform.system(),
        command_line=mask_text(_COMMAND_LINE_NOISE.sub("", line).strip(), salt),
        distribution=_distribution(places),
        libc=" ".join(platform.libc_ver()),
    )


def _distribution(places: Places) -> str | None:
    found = re.search(r'(?m)^PRETTY_NAME="?([^"\n]*)', read_text(places.etc / "os-release") or "")
    return found.group(1) if found else None


def _cpu(places: Places) -> Cpu:
    info = read_text(places.proc / "cpuinfo") or ""
    cpus = places.sys / "devices/system/cpu"
    first = cpus / "cpu0/cpufreq"
    flaws = {path.name: read_text(path) or "" for path in sorted((cpus / "vulnerabilities").glob("*"))}
    return Cpu(
        model=_one(r"(?m)^(?:model name|Model|cpu model)\s*:\s*(.*)$", info),
        microcode=_one(r"(?m)^microcode\s*:\s*(.*)$", info),
        count=len(re.findall(r"(?m)^processor\s*:", info)),
        sockets=len(set(re.findall(r"(?m)^physical id\s*:\s*(\d+)", info))) or None,
        online=read_text(cpus / "online"),
        isolated=read_text(cpus / "isolated") or None,
        smt=read_text(cpus / "smt/control"),
        driver=read_text(first / "scaling_driver"),
        governor=_each(cpus, "cpufreq/scaling_governor"),
        energy_preference=_each(cpus, "cpufreq/energy_performance_preference"),
        max_mhz=_each(cpus, "cpufreq/scaling_max_freq", divide=1000),
        min_mhz=_each(cpus, "cpufreq/scaling_min_freq", divide=1000),
        turbo=_turbo(cpus),
        frequency_mhz=_one(r"(?m)^cpu MHz\s*:\s*(.*)$", info),
        mitigations={name: state.split(":")[0].split(";")[0] for name, state in flaws.items()},
    )


def _each(cpus: Path, name: str, divide: int | None = None) -> Any:
    """Return the setting that all CPUs share, or the sorted list of those that they have."""
    values = {value for path in cpus.glob(f"cpu[0-9]*/{name}") if (value := read_text(path)) is not None}
    if divide is not None:
        values = {str(int(value) // divide) for value in values if value.isdigit()}
    return next(iter(values)) if len(values) == 1 else sorted(values) or None


def _turbo(cpus: Path) -> str | None:
    """Return whether the CPUs may go over their nominal frequency: `on`, `off`, or None if nothing says
    so."""
    if (off := read_text(cpus / "intel_pstate/no_turbo")) is not None:
        return "off" if off == "1" else "on"
    boost = read_text(cpus / "cpufreq/boost")
    return None if boost is None else "on" if boost == "1" else "off"


def _memory(places: Places) -> Memory:
    info = dict(re.findall(r"(?m)^(\w+)(?:\([^)]*\))?:\s+(\d+) kB", read_text(places.proc / "meminfo") or ""))
    huge = places.sys / "kernel/mm/transparent_hugepage"
    swap, free = _kib(info, "SwapTotal"), _kib(info, "SwapFree")
    return Memory(
        total_bytes=_kib(info, "MemTotal"),
        available_bytes=_kib(info, "MemAvailable"),
        swap_total_bytes=swap,
        swap_used_bytes=swap - free if swap is not None and free is not None else None,
        huge_page_bytes=_kib(info, "Hugepagesize"),
        transparent_huge_pages=_chosen(read_text(huge / "enabled")),
        huge_page_defrag=_chosen(read_text(huge / "defrag")),
        **{name: read_text(places.proc / "sys" / path) for name, path in _MEMORY_SETTINGS.items()},
    )


def _kib(info: Mapping[str, str], name: str) -> int | None:
    return int(info[name]) * 1024 if name in info else None


def _chosen(text: str | None) -> str | None:
    """Return the choice that the kernel shows in brackets: `always [madvise] never`."""
    found = re.search(r"\[(\S+)\]", text or "")
    return found.group(1) if found else text


def _numa(places: Places) -> dict[str, NumaNode]:
    nodes: dict[str, NumaNode] = {}
    for folder in sorted((places.sys / "devices/system/node").glob("node[0-9]*")):
        total = _one(r"MemTotal:\s+(\d+) kB", read_text(folder / "meminfo") or "")
        nodes[folder.name.removeprefix("node")] = NumaNode(
            cpus=read_text(folder / "cpulist"),
            distances=read_text(folder / "distance"),
            memory_bytes=int(total) * 1024 if total else None,
        )
    return nodes


def _container(places: Places) -> str | None:
    for path, name in _CONTAINERS:
        if Path(path).exists():
            return name
    groups = read_text(places.proc / "1/cgroup") or ""
    return next((name for name in ("kubepods", "docker", "lxc", "containerd") if name in groups), None)


def _one(pattern: str, text: str) -> str | None:
    found = re.search(pattern, text)
    return found.group(1).strip() if found else None


def hardware_part(
    *, salt: bytes, visible: str | None = None, library: Any = None, places: Places | None = None
) -> Hardware:
    """Return the hardware, its state before the start, and what this process may use of it and passes on.

    `visible` is CUDA_VISIBLE_DEVICES, `library` stands in for pynvml, `places` for /proc and /sys.
    """
    places = places or Places()
    about = {
        "limits": cgroup_limits("self", proc=places.proc, root=places.sys / "fs/cgroup"),
        "runner": allowances([os.getpid()], proc=places.proc),
        "gpus": gpus_part(visible=visible, library=library),
    }
    return host_part(salt=salt, places=places).model_copy(update=about)


def main() -> None:
    """Print the hardware of this host, and two seconds of the sampler, as JSON."""
    import time

    from optrack.host.sampler import Sampler

    part = hardware_part(salt=b"", visible=os.environ.get("CUDA_VISIBLE_DEVICES"))
    with Sampler(interval_s=0.2) as sampler:
        time.sleep(2)
    json.dump(
        {"hardware": part.model_dump(), "load": sampler.summary().model_dump()},
        sys.stdout,
        indent=2,
        default=str,
    )
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()

"""Differences planted one at a time in the world, and the field that must show each.

`python -m tests.capture.planted` prints the table.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from optrack.judge.difference import differences
from optrack.model.judgement import Difference
from optrack.model.snapshot import Snapshot
from tests.capture.repositories import SETTINGS, git
from tests.capture.world import World, commit_in

CLEAN_LIBRARY = next(
    (
        line.split()[-1]
        for line in Path("/proc/self/maps").read_text().splitlines()
        if "/libm.so" in line or "/libm-" in line
    ),
    "",
)
"""A library of the host that is harmless to load under another name."""


@dataclass(frozen=True)
class Planted:
    """One difference: what is done to the candidate's world, and the field that must show it."""

    name: str
    plant: Callable[[World], object]
    field: str
    cls: str = "unexplained"
    severity: str = "blocking"


def _library(world: World, name: str, tail: bytes = b"") -> str:
    return str(world.write(f"lib/{name}", Path(CLEAN_LIBRARY).read_bytes() + tail))


def _late_edit(world: World) -> None:
    world.during.append(lambda: (world.project / "server.py").write_text("edited while measuring\n"))


def _customize(world: World, text: str) -> None:
    """Give the server's interpreter a sitecustomize that goes before one that the system may have."""
    (world.site / "sitecustomize.py").write_text(text)
    (world.site / "first.pth").write_text(f"import sys; sys.path.insert(0, {str(world.site)!r})\n")


def _fetch(world: World) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 1\n"
    commit_in(world.repo, {".gitattributes": "*.bin filter=lfs\n", "weights.bin": pointer})


PLANTED: tuple[Planted, ...] = (
    Planted("a variable was lost", lambda w: w.set(NCCL_PROTO=None), "env.server.NCCL_PROTO"),
    Planted("a variable changed", lambda w: w.set(OMP_NUM_THREADS="8"), "env.server.OMP_NUM_THREADS"),
    Planted("a variable was added", lambda w: w.set(SGLANG_X="1"), "env.server.SGLANG_X"),
    Planted("a variable is empty", lambda w: w.set(NCCL_ALGO=""), "env.server.NCCL_ALGO"),
    Planted("a recipe's own variable", lambda w: w.set(MY_KNOB="2"), "env.server.MY_KNOB"),
    Planted(
        "another token",
        lambda w: w.set(HF_TOKEN="hf_" + "b" * 24),
        "env.server.HF_TOKEN",
        "volatile",
        "note",
    ),
    Planted(
        "a lost token",
        lambda w: w.set(HF_TOKEN=None),
        "env.server.HF_TOKEN",
        severity="note",
    ),
    Planted("a profiler on", lambda w: w.set(ANYTHING_PROFILE="1"), "env.server.ANYTHING_PROFILE"),
    Planted("a value with a newline", lambda w: w.set(CUDA_X="a\nb"), "env.server.CUDA_X"),
    Planted("a value not in UTF-8", lambda w: w.set(NCCL_X="caf\udce9"), "env.server.NCCL_X"),
    Planted("an unknown variable", lambda w: w.set(FOO="1"), "env.other.FOO", "volatile", "note"),
    Planted(
        "sitecustomize sets a variable",
        lambda w: _customize(w, "import os\nos.environ['NCCL_MAX_NCHANNELS']='2'\n"),
        "env.server.NCCL_MAX_NCHANNELS",
    ),
    Planted(
        "a sitecustomize",
        lambda w: (w.site / "sitecustomize.py").write_text("x = 1\n"),
        "packages.startup.*sitecustomize.py",
    ),
    Planted(
        "a usercustomize",
        lambda w: (w.site / "usercustomize.py").write_text("x = 1\n"),
        "packages.startup.*usercustomize.py",
    ),
    Planted("a .pth file", lambda w: (w.site / "x.pth").write_text("# x\n"), "packages.startup.*x.pth"),
    Planted(
        "a package upgraded",
        lambda w: (w.site / "alpha-1.0.dist-info").rename(w.site / "alpha-1.1.dist-info"),
        "packages.distributions.alpha",
    ),
    Planted("a package added", lambda w: w.package("delta", "1.0"), "packages.distributions.delta"),
    Planted(
        "a package removed",
        lambda w: shutil.rmtree(w.site / "beta-2.0.dist-info"),
        "packages.distributions.beta",
    ),
    Planted(
        "an editable package moved",
        lambda w: w.package("inplace", "0.1", {"url": w.repo.as_uri(), "dir_info": {"editable": True}}),
        "packages.editable.inplace",
    ),
    Planted(
        "a package from another commit",
        lambda w: w.package("gamma", "3.0", {"url": "https://x/g.git", "vcs_info": {"commit_id": "b" * 40}}),
        "packages.direct.gamma",
    ),
    Planted(
        "another interpreter version",
        lambda w: w.write(
            "venv/pyvenv.cfg", (w.root / "venv/pyvenv.cfg").read_text().replace("3.11.0", "3.11.9")
        ),
        "packages.python.version",
    ),
    Planted("a PYTHONPATH", lambda w: w.set(PYTHONPATH=str(w.repo)), "packages.python.path"),
    Planted(
        "a preloaded allocator",
        lambda w: w.set(LD_PRELOAD=_library(w, "libjemalloc.so.2")),
        "libraries.preloaded",
    ),
    Planted(
        "another NCCL loaded",
        lambda w: w.set(WORLD_LIBRARY=_library(w, "libnccl.so.2.27.3")),
        "libraries.loaded.libnccl.so",
    ),
    Planted("code committed", lambda w: commit_in(w.project, {"run.sh": "echo\n"}), "git.project.code"),
    Planted("code edited", lambda w: (w.project / "run.sh").write_text("edited\n"), "git.project.code"),
    Planted(
        "code staged",
        lambda w: ((w.repo / "engine.py").write_text("2\n"), git(w.repo, "add", "-A")),
        "git.repo.code",
    ),
    Planted("code deleted", lambda w: (w.repo / "old.py").unlink(), "git.repo.code"),
    Planted("a mode changed", lambda w: (w.project / "run.sh").chmod(0o755), "git.project.code"),
    Planted(
        "an untracked file",
        lambda w: (w.project / "extra.py").write_text("x\n"),
        "git.project.untracked.extra.py",
    ),
    Planted(
        "a large untracked file",
        lambda w: (w.project / "table.bin").write_bytes(b"\1" * 3_000_000),
        "git.project.left_out.table.bin",
    ),
    Planted(
        "a submodule at another commit",
        lambda w: commit_in(w.project / "dep", {"dep.py": "2\n"}),
        "git.project.submodules.dep.commit",
    ),
    Planted(
        "a submodule edited",
        lambda w: (w.project / "dep" / "dep.py").write_text("3\n"),
        "git.project.submodules.dep.dirty",
    ),
    Planted(
        "an editable package edited",
        lambda w: (w.editable / "inplace.py").write_text("2\n"),
        "git.package inplace.code",
    ),
    Planted("weights never fetched", _fetch, "git.repo.lfs.missing"),
    Planted("code edited in mid-run", _late_edit, "git.project.edited_in_run"),
    Planted("another server argument", lambda w: w.asked.update(tp=4), "arguments.asked.tp"),
    Planted(
        "another launch command",
        lambda w: setattr(w, "launch", "{python} -O {server}"),
        "arguments.command",
    ),
    Planted(
        "the server reports another setting",
        lambda w: w.reported.update(schedule_policy="lpm"),
        "arguments.reported.schedule_policy",
    ),
    Planted("a watched file", lambda w: w.watched[0].write_text("a: 2\n"), "files.*settings.yaml.sha256"),
    Planted(
        "other CPUs",
        lambda w: setattr(w, "launch", "taskset -c 0 {python} {server}"),
        "processes.affinity",
    ),
    Planted("niced", lambda w: setattr(w, "launch", "nice -n 5 {python} {server}"), "processes.nice"),
    Planted(
        "a smaller limit of files",
        lambda w: setattr(w, "launch", "ulimit -n 512; {python} {server}"),
        "processes.limits.open_files",
    ),
    Planted("another GPU driver", lambda w: setattr(w.nvml, "driver", "575.1"), "hardware.gpus.driver"),
    Planted("another CUDA", lambda w: setattr(w.nvml, "cuda", 13000), "hardware.gpus.cuda"),
    Planted(
        "a power limit",
        lambda w: setattr(w.nvml.devices[1], "power_limit_mw", 500_000),
        "hardware.gpus.devices.1.power_limit_w",
    ),
    Planted(
        "locked application clocks",
        lambda w: setattr(w.nvml.devices[0], "application_clock", 1200),
        "hardware.gpus.devices.0.clocks.sm_application_mhz",
    ),
    Planted(
        "persistence off",
        lambda w: setattr(w.nvml.devices[0], "persistence", 0),
        "hardware.gpus.devices.0.persistence",
    ),
    Planted("ECC off", lambda w: setattr(w.nvml.devices[0], "ecc", 0), "hardware.gpus.devices.0.ecc.mode"),
    Planted("MIG on", lambda w: setattr(w.nvml.devices[0], "mig", 1), "hardware.gpus.devices.0.mig"),
    Planted(
        "a narrow PCIe link",
        lambda w: setattr(w.nvml.devices[0], "pcie_width", 8),
        "hardware.gpus.devices.0.pcie.width",
    ),
    Planted(
        "lost NVLinks",
        lambda w: setattr(w.nvml.devices[0], "links", 12),
        "hardware.gpus.devices.0.nvlinks",
    ),
    Planted("another topology", lambda w: setattr(w.nvml, "level", 50), "hardware.gpus.topology.0-1"),
    Planted("a GPU less", lambda w: w.nvml.devices.pop(), "hardware.gpus.count"),
    Planted(
        "another's process on a GPU",
        lambda w: w.nvml.devices[0].processes.append(1),
        "hardware.gpus.devices.0.state.processes",
    ),
    Planted(
        "a clock cap while benchmarking",
        lambda w: setattr(w.nvml.devices[0], "sm_clock", 210),
        "load.gpus.0.sm_clock_mhz.max",
        "volatile",
    ),
    Planted(
        "throttled by heat",
        lambda w: setattr(w.nvml.devices[0], "reasons", 0x40),
        "load.gpus.0.throttled.hardware_thermal",
        "volatile",
    ),
    Planted(
        "a hot GPU",
        lambda w: setattr(w.nvml.devices[0], "temperature", 85),
        "load.gpus.0.temperature_c.max",
        "volatile",
    ),
    Planted(
        "another governor",
        lambda w: w.host("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave"),
        "hardware.cpu.governor",
    ),
    Planted(
        "turbo off",
        lambda w: w.host("sys/devices/system/cpu/intel_pstate/no_turbo", "1"),
        "hardware.cpu.turbo",
    ),
    Planted("SMT off", lambda w: w.host("sys/devices/system/cpu/smt/control", "off"), "hardware.cpu.smt"),
    Planted(
        "huge pages always",
        lambda w: w.host("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never"),
        "hardware.memory.transparent_huge_pages",
    ),
    Planted(
        "another kernel",
        lambda w: w.host("proc/sys/kernel/osrelease", "6.8.0-50-generic"),
        "hardware.kernel.release",
    ),
    Planted("another machine", lambda w: w.host("etc/machine-id", "def"), "hardware.machine"),
)


def plant_one(planted: Planted, folder: Path) -> tuple[Snapshot, Snapshot, tuple[Difference, ...]]:
    """Capture a world, plant one difference, capture again; return both and what differs."""
    world = World(folder)
    baseline = world.capture()
    planted.plant(world)
    candidate = world.capture()
    return baseline, candidate, differences(candidate, baseline, declared={})


def main() -> None:
    """Print each planted difference with the fields that showed it."""
    os.environ.update(SETTINGS)
    shown = 0
    for number, planted in enumerate(PLANTED, 1):
        with tempfile.TemporaryDirectory() as folder:
            found = plant_one(planted, Path(folder))[2]
        fields = ", ".join(f"{d.field.replace(folder, '…')} ({d.cls}, {d.severity})" for d in found)
        shown += bool(found)
        sys.stdout.write(f"{number:2} {planted.name}: {fields or 'NOT SHOWN'}\n")
    sys.stdout.write(f"{shown} of {len(PLANTED)} shown\n")


if __name__ == "__main__":
    main()

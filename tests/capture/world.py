"""A small world to capture: repositories, an interpreter of its own, a server with a worker, GPUs and a host
that a test can change one thing of."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from optrack.host.capture import capture_after, capture_before, capture_running, merge
from optrack.host.hardware import Places
from optrack.host.sampler import Sampler
from optrack.judge.applied import arguments_part
from optrack.model.hardware import CpuLoad
from optrack.model.snapshot import Snapshot
from tests.capture.fake_nvml import FakeNvml
from tests.capture.repositories import commit, git, new_repository

SALT = b"the salt of a test"
BINARY = Path(sys.executable).resolve()
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"

SERVER = """\
import ctypes, os, subprocess, sys
if os.environ.get("WORLD_LIBRARY"):
    ctypes.CDLL(os.environ["WORLD_LIBRARY"])
if sys.argv[1:] == ["worker"]:
    print("ready", flush=True)
    sys.stdin.read()
else:
    subprocess.run([sys.executable, __file__, "worker"])
"""

_SYS = {
    "devices/system/cpu/online": "0-1",
    "devices/system/cpu/smt/control": "on",
    "devices/system/cpu/intel_pstate/no_turbo": "0",
    "devices/system/cpu/cpu0/cpufreq/scaling_driver": "intel_pstate",
    "devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance",
    "devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance",
    "devices/system/cpu/cpu0/cpufreq/scaling_max_freq": "3800000",
    "devices/system/cpu/vulnerabilities/spectre_v2": "Mitigation: Retpolines",
    "devices/system/node/node0/cpulist": "0-1",
    "devices/system/node/node0/distance": "10",
    "devices/system/node/node0/meminfo": "Node 0 MemTotal:       65000000 kB",
    "kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
}
_PROC = {
    "cpuinfo": "processor\t: 0\nmodel name\t: A CPU\nphysical id\t: 0\ncpu MHz\t\t: 2000.1\n\n"
    "processor\t: 1\nmodel name\t: A CPU\nphysical id\t: 0\ncpu MHz\t\t: 2100.7\n",
    "meminfo": "MemTotal:       65000000 kB\nMemAvailable:   60000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
    "cmdline": "BOOT_IMAGE=/vmlinuz-6.8 root=UUID=1234 ro mitigations=auto",
    "uptime": "1000.00 2000.00",
    "sys/kernel/osrelease": "6.8.0-49-generic",
    "sys/kernel/random/boot_id": "11111111-1111-1111-1111-111111111111",
    "sys/kernel/numa_balancing": "0",
    "sys/vm/nr_hugepages": "0",
    "self/cgroup": "0::/",
    "1/cgroup": "0::/init.scope",
}


@dataclass
class World:
    """Everything that a snapshot is taken of. Change it, then `capture` again."""

    root: Path
    env: dict[str, str | None] = field(default_factory=dict)
    recipe_env: dict[str, str | None] = field(default_factory=dict)
    asked: dict[str, Any] = field(default_factory=lambda: {"tp": 8, "mem-fraction-static": 0.88})
    reported: dict[str, Any] = field(
        default_factory=lambda: {"tp_size": 8, "schedule_policy": "fcfs", "last_gen_throughput": 81.2}
    )
    launch: str = "{python} {server}"
    nvml: FakeNvml = field(default_factory=FakeNvml)
    watched: list[Path] = field(default_factory=list)
    during: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._make_repositories()
        self._make_interpreter()
        for folder, files in (("sys", _SYS), ("proc", _PROC), ("etc", {"machine-id": "abc"})):
            for name, text in files.items():
                self.write(f"host/{folder}/{name}", f"{text}\n")
        self.watched.append(self.write("watched/settings.yaml", "a: 1\n"))
        self.env |= {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root / "home"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "NCCL_PROTO": "LL",
            "NCCL_ALGO": "Ring",
            "OMP_NUM_THREADS": "4",
            "HF_TOKEN": "hf_aaaaaaaaaaaaaaaaaaaaaaaa",
            "MY_KNOB": "1",
            "PORT": "30000",
            "RUN_DIR": str(self.root / "runs" / "one"),
            "OPTRACK_RUN": "20260101T000000",
            "ITEM_ID": "1A",
        }
        self.recipe_env |= {"NCCL_ALGO": "Ring", "HF_TOKEN": self.env["HF_TOKEN"], "MY_KNOB": "1"}

    @property
    def project(self) -> Path:
        """The plan's repository, which holds the server."""
        return self.root / "project"

    @property
    def repo(self) -> Path:
        """The recipe's own repository."""
        return self.root / "engine"

    @property
    def editable(self) -> Path:
        """The repository of a package that is installed in place."""
        return self.root / "inplace"

    @property
    def site(self) -> Path:
        """The folder of the interpreter's packages."""
        return self.root / "venv" / "lib" / VERSION / "site-packages"

    def write(self, name: str, text: str | bytes) -> Path:
        """Write a file of the world."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def set(self, **variables: str | None) -> None:
        """Set variables of what is passed; None takes one away."""
        self.env |= variables

    def host(self, name: str, text: str) -> Path:
        """Change a file by which the kernel shows the host."""
        return self.write(f"host/{name}", f"{text}\n")

    def package(self, name: str, version: str, direct: dict[str, Any] | None = None) -> Path:
        """Install a package, as far as its metadata goes."""
        info = self.site / f"{name}-{version}.dist-info"
        info.mkdir(parents=True, exist_ok=True)
        (info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n")
        if direct is not None:
            (info / "direct_url.json").write_text(json.dumps(direct))
        return info

    def _make_repositories(self) -> None:
        inner = new_repository(self.root / "inner", {"dep.py": "1\n"})
        new_repository(self.project, {"server.py": SERVER, "plan.md": "# Plan\n", "run.sh": "true\n"})
        git(self.project, "submodule", "add", "-q", str(inner), "dep")
        git(self.project, "commit", "-q", "-m", "dep")
        new_repository(self.repo, {"engine.py": "1\n", "old.py": "1\n"})
        new_repository(self.editable, {"inplace.py": "1\n"})

    def _make_interpreter(self) -> None:
        binary = self.root / "venv" / "bin" / "python"
        binary.parent.mkdir(parents=True)
        binary.symlink_to(BINARY)
        self.write("venv/pyvenv.cfg", f"home = {BINARY.parent}\nversion = 3.11.0\n")
        self.package("alpha", "1.0")
        self.package("beta", "2.0")
        self.package("inplace", "0.1", {"url": self.editable.as_uri(), "dir_info": {"editable": True}})
        vcs = {"url": "https://example.org/g.git", "vcs_info": {"vcs": "git", "commit_id": "a" * 40}}
        self.package("gamma", "3.0", vcs)

    @contextmanager
    def running(self) -> Iterator[tuple[int, list[int]]]:
        """Run the server; give its leader and its whole tree once the worker is ready."""
        words = {"python": self.root / "venv" / "bin" / "python", "server": self.project / "server.py"}
        env = {name: value for name, value in self.env.items() if value is not None}
        command = ["bash", "-c", f"{self.launch.format(**words)}; true"]
        with subprocess.Popen(
            command, env=env, cwd=self.project, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as server:
            assert server.stdout is not None and server.stdin is not None
            assert server.stdout.readline() == b"ready\n"
            try:
                tree = psutil.Process(server.pid).children(recursive=True)
                yield server.pid, [server.pid, *(process.pid for process in tree)]
            finally:
                server.stdin.close()

    def capture(self) -> Snapshot:
        """Capture the whole world once, as a run does."""
        before = capture_before(
            project=self.project,
            repo=self.repo,
            env=self.env,
            recipe_env=self.recipe_env,
            watch=self.watched,
            salt=SALT,
            nvml=self.nvml,
            places=Places(*(self.root / "host" / name for name in ("proc", "sys", "etc"))),
        )
        with self.running() as (leader, pids):
            ran = capture_running(pids, leader=leader, recipe_env=self.recipe_env, salt=SALT)
        with Sampler(interval_s=0.01, library=self.nvml) as sampler:
            pass
        for happen in self.during:
            happen()
        arguments = arguments_part(asked=self.asked, command=self.launch, reported=self.reported, salt=SALT)
        load = sampler.summary().model_copy(update={"cpu": CpuLoad(foreign_share=0.0)})
        whole = merge(before, ran).model_copy(update={"arguments": arguments, "load": load})
        return capture_after(whole, salt=SALT)


def commit_in(folder: Path, files: dict[str, str]) -> None:
    """Commit files in one of the world's repositories."""
    commit(folder, files, "change")

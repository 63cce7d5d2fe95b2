"""A host that isn't fit is told from one that is, and the culprit is named."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from optrack.errors import HostUnfitError
from optrack.host import teardown as gpus
from optrack.host.fitness import Problem, check_host, free_port, is_free, unfit
from optrack.host.gpus import gpu_use
from optrack.host.tree import start
from tests.process.conftest import Lab


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server


def test_a_taken_port_is_refused_with_its_holder(listener: socket.socket) -> None:
    (problem,) = check_host(port=listener.getsockname()[1], cpu_share=None, gpus=())
    assert problem.kind == "port"
    assert f"pid {os.getpid()} (" in problem.message


def test_a_port_taken_on_all_interfaces_is_taken_for_one(lab: Lab) -> None:
    with socket.socket() as server:
        server.bind(("0.0.0.0", 0))
        server.listen()
        assert not is_free(server.getsockname()[1])
        assert check_host(port=free_port(), cpu_share=None, gpus=()) == ()


def test_a_chosen_port_lies_outside_the_range_of_outgoing_connections() -> None:
    low, high = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    ports = {free_port() for _ in range(20)}
    assert len(ports) > 1
    assert all(is_free(port) for port in ports)
    assert not any(low <= port <= high for port in ports)


def test_a_disk_without_room_is_refused(tmp_path: Path) -> None:
    (problem,) = check_host(folders=[tmp_path], free_bytes=1 << 60, cpu_share=None, gpus=())
    assert problem.kind == "disk" and str(tmp_path) in problem.message


def test_what_an_earlier_run_left_is_refused_by_name(lab: Lab) -> None:
    tree = start(lab.command("exec sleep 600"), run=lab.run)
    (problem,) = check_host(earlier_runs=[lab.run, "other"], cpu_share=None, gpus=())
    assert problem.kind == "leftover"
    assert lab.run in problem.message and f"pid {tree.leader.pid}" in problem.message
    lab.stop(tree)


def test_a_busy_machine_is_refused_with_the_busiest_process() -> None:
    burning = [subprocess.Popen([sys.executable, "-Sc", "while True: pass"]) for _ in range(2)]
    try:
        (problem,) = check_host(cpu_share=0.01, gpus=())
    finally:
        for process in burning:
            process.kill()
            process.wait()
    assert problem.kind == "cpu" and "busy" in problem.message


def test_a_refusal_has_the_same_cause_while_only_its_figures_move() -> None:
    def refusal(kind: Literal["cpu", "gpu"], message: str) -> HostUnfitError:
        return unfit([Problem(kind=kind, message=message, hint="end it")])

    one = refusal("gpu", "GPU 0 is used by pid 7 (python), 3.1 GiB")
    assert one.exit_code == 4 and "GPU 0" in one.message and "--wait" in (one.hint or "")
    assert one.cause == refusal("gpu", "GPU 0 is used by pid 7 (python), 62.0 GiB").cause
    assert one.cause != refusal("gpu", "GPU 0 is used by pid 8 (python), 3.1 GiB").cause
    busy = [f"the CPUs are {share}% busy, most of all with pid {share}" for share in (60, 70)]
    assert refusal("cpu", busy[0]).cause == refusal("cpu", busy[1]).cause


class FakeNvml(types.ModuleType):
    """NVML with two GPUs that can be put to use. Stands in where the machine has no GPU."""

    class NVMLError(Exception):
        """What NVML raises."""

    def __init__(self) -> None:
        super().__init__("pynvml")
        self.used = [100 * 2**20, 100 * 2**20]
        self.pids: list[list[int]] = [[], []]
        self.nvmlInit = self.nvmlShutdown = lambda: None
        self.nvmlDeviceGetCount = lambda: 2
        self.nvmlDeviceGetHandleByIndex = lambda index: index
        self.nvmlDeviceGetMemoryInfo = self._memory
        self.nvmlDeviceGetComputeRunningProcesses = self._processes

    def _memory(self, device: int) -> types.SimpleNamespace:
        return types.SimpleNamespace(used=self.used[device], total=80 * 2**30)

    def _processes(self, device: int) -> list[types.SimpleNamespace]:
        return [types.SimpleNamespace(pid=pid) for pid in self.pids[device]]


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> FakeNvml:
    fake = FakeNvml()
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    return fake


def test_a_gpu_that_another_process_uses_is_refused_unless_it_is_not_asked_for(nvml: FakeNvml) -> None:
    assert check_host(cpu_share=None) == ()
    nvml.pids[1] = [os.getpid()]
    nvml.used[1] = 40 * 2**30
    (problem,) = check_host(cpu_share=None)
    assert problem.kind == "gpu" and "GPU 1" in problem.message and f"pid {os.getpid()}" in problem.message
    assert "40.0 GiB" in problem.message
    assert check_host(cpu_share=None, gpus=[0]) == ()


def test_memory_of_a_process_that_can_not_be_seen_is_refused(nvml: FakeNvml) -> None:
    nvml.used[0] = 30 * 2**30
    (problem,) = check_host(cpu_share=None)
    assert "can't be seen" in problem.message


def test_memory_that_does_not_come_back_is_told(nvml: FakeNvml) -> None:
    before = gpu_use()
    assert gpus.memory_held(before) == ()
    nvml.used[1] += 7 * 2**30
    assert gpus.wait_for_memory(before, within_s=0.0) == ("GPU 1 still holds 7.0 GiB",)
    nvml.used[1] -= 7 * 2**30
    assert gpus.wait_for_memory(before, within_s=0.0) == ()

"""Hardware and its state: GPUs through a stand-in for NVML, the host through files like the kernel's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from optrack.host.gpus import gpus_part, visible_devices
from optrack.host.hardware import Places, hardware_part, host_part
from optrack.host.limits import cgroup_limits
from tests.capture.fake_nvml import Device, FakeNvml, NoDriver
from tests.capture.world import World


def test_a_gpu_has_its_facts_settings_and_state() -> None:
    nvml = FakeNvml()
    part = gpus_part(library=nvml).model_dump()
    assert (part["driver"], part["cuda"], part["count"]) == ("570.86.15", "12.8", 2)
    gpu = part["devices"]["0"]
    assert (gpu["name"], gpu["uuid"], gpu["capability"]) == ("NVIDIA H200", nvml.devices[0].uuid, "9.0")
    assert (gpu["power_limit_w"], gpu["persistence"], gpu["mig"], gpu["ecc"]["mode"]) == (
        700.0,
        "on",
        "off",
        "on",
    )
    assert gpu["clocks"]["sm_application_mhz"] == 1980
    assert gpu["pcie"]["generation"] == 5 and gpu["pcie"]["width"] == 16
    assert gpu["nvlinks"] == 18
    assert gpu["state"]["temperature_c"] == 32
    assert nvml.opened == 0


def test_what_a_driver_doesnt_support_is_none_and_no_error() -> None:
    assert gpus_part(library=FakeNvml()).model_dump()["devices"]["0"]["auto_boost"] is None


def test_a_host_without_a_gpu_is_normal() -> None:
    assert gpus_part(library=NoDriver()).model_dump() == {"count": 0}


def test_gpus_that_the_run_cant_see_are_only_named() -> None:
    part = gpus_part(library=FakeNvml(devices=[Device(n) for n in range(4)]), visible="1,3").model_dump()
    assert sorted(part["devices"]) == ["1", "3"]
    assert sorted(part["hidden"]) == ["0", "2"]
    assert list(part["topology"]) == ["1-3"]


@pytest.mark.parametrize(
    ("visible", "shown"),
    [
        (None, {0, 1, 2}),
        ("", set()),
        ("0", {0}),
        ("2,0", {2, 0}),
        ("GPU-b", {1}),
        ("0,9,1", {0}),
        ("-1", set()),
        ("MIG-GPU-x/1/0", {0, 1, 2}),
    ],
)
def test_visible_devices_are_read_as_cuda_does(visible: str | None, shown: set[int]) -> None:
    assert visible_devices(visible, {0: "GPU-a", 1: "GPU-b", 2: "GPU-c"}) == shown


def test_the_topology_names_pcie_levels_and_nvlinks() -> None:
    nvml = FakeNvml(level=50)
    assert gpus_part(library=nvml).model_dump()["topology"] == {"0-1": "NVSwitch SYS"}
    for device in nvml.devices:
        device.links = 0
    assert gpus_part(library=nvml).model_dump()["topology"] == {"0-1": "SYS"}


def test_the_host_is_read_from_the_kernels_files(world: World) -> None:
    places = Places(*(world.root / "host" / name for name in ("proc", "sys", "etc")))
    part = host_part(salt=b"salt", places=places).model_dump()
    assert part["cpu"]["model"] == "A CPU"
    assert part["cpu"]["governor"] == "performance"
    assert part["cpu"]["turbo"] == "on"
    assert part["cpu"]["max_mhz"] == "3800"
    assert part["memory"]["total_bytes"] == 65000000 * 1024
    assert part["memory"]["transparent_huge_pages"] == "madvise"
    assert part["numa"] == {"0": {"cpus": "0-1", "distances": "10", "memory_bytes": 65000000 * 1024}}
    assert part["kernel"]["command_line"] == "ro mitigations=auto"


def test_governors_that_differ_between_cpus_are_all_named(world: World) -> None:
    world.host("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave")
    places = Places(*(world.root / "host" / name for name in ("proc", "sys", "etc")))
    assert host_part(salt=b"", places=places).model_dump()["cpu"]["governor"] == ["performance", "powersave"]


def test_a_host_that_shows_nothing_is_no_error(tmp_path: Path) -> None:
    part = hardware_part(
        salt=b"", library=NoDriver(), places=Places(tmp_path, tmp_path, tmp_path)
    ).model_dump()
    assert part["cpu"]["model"] is None and part["machine"] is None


def test_this_host_can_be_described() -> None:
    part = hardware_part(salt=b"").model_dump()
    assert part["cpu"]["count"] >= 1
    json.dumps(part)


def test_limits_of_version_2_are_the_tightest_up_to_the_root(tmp_path: Path) -> None:
    root, proc = tmp_path / "cgroup", tmp_path / "proc"
    (root / "a" / "b").mkdir(parents=True)
    (proc / "5").mkdir(parents=True)
    (proc / "5" / "cgroup").write_text("0::/a/b\n")
    (root / "cgroup.controllers").write_text("cpu memory\n")
    (root / "a" / "cpu.max").write_text("150000 100000\n")
    (root / "a" / "b" / "cpu.max").write_text("max 100000\n")
    (root / "a" / "b" / "memory.max").write_text("1073741824\n")
    (root / "a" / "b" / "cpuset.cpus.effective").write_text("0-3\n")
    found = cgroup_limits(5, proc=proc, root=root).model_dump()
    assert found == {"cpus": 1.5, "cpuset": "0-3", "memory_nodes": None, "memory_bytes": 1073741824}


def test_limits_of_version_1_are_read_by_controller(tmp_path: Path) -> None:
    root, proc = tmp_path / "cgroup", tmp_path / "proc"
    (root / "cpu" / "box").mkdir(parents=True)
    (root / "memory").mkdir()
    (proc / "5").mkdir(parents=True)
    (proc / "5" / "cgroup").write_text("4:memory:/elsewhere\n1:cpu,cpuacct:/box\n")
    (root / "cpu" / "box" / "cpu.cfs_quota_us").write_text("200000\n")
    (root / "cpu" / "box" / "cpu.cfs_period_us").write_text("100000\n")
    (root / "memory" / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    found = cgroup_limits(5, proc=proc, root=root).model_dump()
    assert found == {"cpus": 2.0, "cpuset": None, "memory_nodes": None, "memory_bytes": None}


def test_the_hardware_can_be_printed_by_hand() -> None:
    command = [sys.executable, "-m", "optrack.host.hardware"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    printed = json.loads(done.stdout)
    assert printed["hardware"]["gpus"]["count"] >= 0
    assert printed["load"]["sampling"]["samples"] > 1

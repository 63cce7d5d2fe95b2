"""Sampling while a benchmark runs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable

from optrack.host.sampler import Sampler
from tests.capture.fake_nvml import FakeNvml, NoDriver


def until(true: Callable[[], bool], limit_s: float = 20.0) -> None:
    """Wait for a condition."""
    end = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < end, "the condition never came"
        time.sleep(0.005)


def samples(sampler: Sampler) -> int:
    return int(sampler.summary().model_dump()["sampling"]["samples"])


def test_measures_have_mean_least_and_most() -> None:
    nvml = FakeNvml()
    with Sampler(interval_s=0.005, library=nvml) as sampler:
        until(lambda: samples(sampler) >= 3)
        nvml.devices[0].sm_clock = 1980
        until(lambda: samples(sampler) >= 8)
    clock = sampler.summary().model_dump()["gpus"]["0"]["sm_clock_mhz"]
    assert (clock["min"], clock["max"]) == (345, 1980)
    assert 345 < clock["mean"] < 1980
    assert nvml.opened == 0


def test_throttling_is_the_share_of_samples_and_idleness_none() -> None:
    nvml = FakeNvml()
    nvml.devices[0].reasons = 0x4 | 0x1
    with Sampler(interval_s=0.005, library=nvml) as sampler:
        until(lambda: samples(sampler) >= 3)
    throttled = sampler.summary().model_dump()["gpus"]["0"]["throttled"]
    assert throttled["power_cap"] == 1.0
    assert throttled["hardware_thermal"] == 0.0
    assert "idle" not in throttled


def test_processes_that_arent_ours_are_foreign() -> None:
    nvml = FakeNvml()
    nvml.devices[1].processes = [os.getpid(), 1]
    with Sampler(interval_s=0.005, library=nvml) as sampler:
        until(lambda: samples(sampler) >= 1)
    found = sampler.summary().model_dump()["gpus"]
    assert found["0"]["foreign"] == []
    assert len(found["1"]["foreign"]) == 1


def test_a_host_without_a_gpu_still_has_its_cpu_load() -> None:
    with Sampler(interval_s=0.005, library=NoDriver()) as sampler:
        until(lambda: samples(sampler) >= 2)
    found = sampler.summary().model_dump()
    assert found["gpus"] == {}
    assert found["cpu"]["busy_cores"] is None or found["cpu"]["busy_cores"] >= 0


def test_the_load_of_others_is_told_from_ours() -> None:
    burn = [sys.executable, "-c", "print('ready', flush=True)\nwhile True: pass"]
    with subprocess.Popen(burn, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        try:
            with Sampler(interval_s=0.05, library=NoDriver(), pids=lambda: [process.pid]) as ours:
                before = time.process_time()
                until(lambda: _used(process.pid) > 0.3)
            with Sampler(interval_s=0.05, library=NoDriver()) as others:
                began = _used(process.pid)
                until(lambda: _used(process.pid) > began + 0.3)
        finally:
            process.kill()
    assert time.process_time() >= before
    assert ours.summary().model_dump()["cpu"]["own_cores"] > 0.1
    assert others.summary().model_dump()["cpu"]["foreign_cores"] > 0.1


def _used(pid: int) -> float:
    import psutil

    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def test_one_sampler_sums_over_several_passes() -> None:
    sampler = Sampler(interval_s=0.005, library=FakeNvml())
    for _ in range(2):
        before = samples(sampler)
        with sampler:
            until(lambda before=before: samples(sampler) > before)  # type: ignore[misc]
    assert samples(sampler) >= 2


def test_an_error_of_the_benchmark_passes_through() -> None:
    class BrokenError(Exception):
        """The benchmark's own failure."""

    try:
        with Sampler(interval_s=0.005, library=NoDriver()) as sampler:
            raise BrokenError
    except BrokenError:
        assert samples(sampler) >= 1

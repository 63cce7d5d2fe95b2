"""Forty comparisons that look like a gain of 30% and aren't one: each is caught, and said in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from optrack.judge.baselines import BaselineMeasurement, ageing, ageing_differences
from tests.judge.snapshots import CHANNELS, GONE, TUNED, judged

LOST = {f"env/server/{name}": GONE for name in TUNED if name != "NCCL_MAX_NCHANNELS"}
"""The campaign's: all tuned variables were gone after a restart."""

GPU = "hardware/gpus/devices/0"
LOAD = "load/gpus/0"

UNFAIR: dict[str, tuple[Mapping[str, Any], Mapping[str, Any], tuple[str, ...]]] = {
    "all tuned variables lost at a restart": (LOST, {}, ("NCCL_PROTO", "NCCL_ALGO", "NCCL_NTHREADS")),
    "one tuned variable lost": ({"env/server/NCCL_PROTO": GONE}, {}, ("NCCL_PROTO", "LL", "not set")),
    "the baseline had lost its variables": ({}, {"env/server/NCCL_PROTO": GONE}, ("NCCL_PROTO", "LL")),
    "a variable left from an earlier experiment": (
        {"env/server/NCCL_P2P_DISABLE": "1"},
        {},
        ("NCCL_P2P_DISABLE",),
    ),
    "a variable with another value": (
        {"env/server/NCCL_BUFFSIZE": "4194304"},
        {},
        ("NCCL_BUFFSIZE", "4194304"),
    ),
    "sitecustomize edited in between": ({"packages/startup/sitecustomize.py": "d1"}, {}, ("sitecustomize",)),
    "sitecustomize set a variable in the children only": (
        {"packages/startup/sitecustomize.py": "d1", "env/server/NCCL_NTHREADS": "256"},
        {},
        ("sitecustomize", "NCCL_NTHREADS"),
    ),
    "a patch applied while another item ran": ({"git/repo/code": "s2"}, {}, ("code", "repo")),
    "the project's code edited": ({"git/project/code": "a2"}, {}, ("code",)),
    "code edited while the run was measured": (
        {"git/repo/edited_in_run": ["allreduce.py"]},
        {},
        ("allreduce.py", "edited"),
    ),
    "an untracked settings file added": ({"git/repo/untracked/tuning.json": "t1"}, {}, ("tuning.json",)),
    "profiling on one side": ({"env/server/EAGLE3_PROFILE": "1"}, {}, ("EAGLE3_PROFILE",)),
    "NCCL debugging on one side": ({"env/server/NCCL_DEBUG": "INFO"}, {}, ("NCCL_DEBUG",)),
    "another user's job on the GPU before the start": (
        {},
        {f"{GPU}/state/processes": ["python"], f"{GPU}/state/memory_used_bytes": 30 * 2**30},
        ("processes on GPU 0",),
    ),
    "another user's job on the GPU while measuring": ({}, {f"{LOAD}/foreign": ["train"]}, ("GPU 0", "train")),
    "hyper-threading switched off": ({"hardware/cpu/smt": "off"}, {"hardware/cpu/smt": "on"}, ("smt",)),
    "a package upgraded in between": (
        {"packages/distributions/torch": "2.10.0"},
        {},
        ("torch", "2.9.1", "2.10.0"),
    ),
    "a package added": ({"packages/distributions/flashinfer": "0.6"}, {}, ("flashinfer",)),
    "another NCCL loaded than installed": (
        {"libraries/loaded/nccl/version": "2.28.3"},
        {},
        ("nccl", "2.28.3"),
    ),
    "NCCL rebuilt under the same version": ({"libraries/loaded/nccl/build": "b2"}, {}, ("nccl",)),
    "a library preloaded": ({"libraries/preloaded": ["libjemalloc.so"]}, {}, ("jemalloc",)),
    "a cap on the clock": ({}, {f"{LOAD}/sm_clock_mhz/max": 1500.0}, ("clock", "GPU 0")),
    "another power limit": ({f"{GPU}/power_limit_w": 300}, {}, ("power_limit_w", "600", "300")),
    "throttled by heat": (
        {},
        {f"{LOAD}/throttled/thermal": 0.4, f"{LOAD}/temperature_c/max": 92.0},
        ("throttled",),
    ),
    "the driver changed": ({"hardware/gpus/driver": "590.10"}, {}, ("driver", "590.10")),
    "the kernel changed": ({"hardware/kernel/release": "6.11.0"}, {}, ("kernel",)),
    "another machine": ({"hardware/machine": "m2"}, {}, ("machine",)),
    "a governor that saves power": ({}, {"hardware/cpu/governor": "powersave"}, ("governor",)),
    "the server pinned to other CPUs": ({"processes/affinity": "0-63"}, {}, ("CPUs",)),
    "CUDA graphs off": ({}, {"arguments/reported/disable_cuda_graph": True}, ("disable_cuda_graph",)),
    "another backend chosen by the server itself": (
        {"arguments/reported/attention_backend": "triton"},
        {},
        ("attention_backend", "triton"),
    ),
    "a smaller KV cache": (
        {},
        {"arguments/reported/max_total_num_tokens": 300_000},
        ("max_total_num_tokens",),
    ),
}


@pytest.mark.parametrize("name", UNFAIR)
def test_an_unfair_comparison_gives_no_verdict_and_names_what_differs(name: str) -> None:
    candidate, baseline, words = UNFAIR[name]
    judgement = judged(candidate, baseline)
    assert judgement.comparison == "unfair"
    assert judgement.verdict is None
    assert judgement.effect is None
    said = " ".join(judgement.reasons)
    for word in words:
        assert word.casefold() in said.casefold(), said


CONFOUNDED: dict[str, dict[str, tuple[Any, Any]]] = {
    "two changes measured together": {**CHANNELS, "env.NCCL_BUFFSIZE": ("16777216", "4194304")},
    "a patch beside the variables": {**CHANNELS, "patch": (None, "patches/fusion.diff")},
    "a profiler beside the treatment": {**CHANNELS, "env.EAGLE3_PROFILE": (None, "1")},
}


@pytest.mark.parametrize("name", CONFOUNDED)
def test_factors_that_changed_together_are_credited_to_none(name: str) -> None:
    factors = CONFOUNDED[name]
    judgement = judged({}, factors=factors)
    assert judgement.attribution.status == "confounded"
    said = " ".join(judgement.reasons)
    assert "can't be credited" in said
    assert all(factor in said for factor in factors)


def test_a_treatment_that_the_processes_do_not_show_gives_no_verdict() -> None:
    judgement = judged({"env/server/NCCL_MAX_NCHANNELS": "16"})
    assert judgement.verdict is None
    assert any("NCCL_MAX_NCHANNELS" in reason and "16" in reason for reason in judgement.reasons)


def test_a_variable_that_sitecustomize_took_back_is_not_applied() -> None:
    judgement = judged({"env/server/NCCL_MAX_NCHANNELS": GONE, "packages/startup/sitecustomize.py": "d1"})
    assert judgement.verdict is None
    assert "not applied" in judgement.reasons[0]


NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
FACTS = {"boot": "boot-1", "driver": "580.82", "packages": "p1", "code": "s1"}

STALE: dict[str, tuple[timedelta, dict[str, str], str]] = {
    "a baseline of last week": (timedelta(days=6), {}, "hours ago"),
    "a baseline from before a driver upgrade": (timedelta(hours=1), {"driver": "590.10"}, "driver changed"),
}


@pytest.mark.parametrize("name", STALE)
def test_a_stale_baseline_gives_no_verdict(name: str) -> None:
    age, changed, words = STALE[name]
    measured = BaselineMeasurement(run="run-baseline", at=NOW - age, mean=88.8, facts=FACTS)
    reasons = ageing(measured, NOW, FACTS | changed)
    judgement = judged({}, more=ageing_differences(measured, reasons))
    assert judgement.verdict is None
    assert any(words in reason for reason in judgement.reasons)


def test_a_restart_into_the_same_system_is_a_note() -> None:
    measured = BaselineMeasurement(run="run-baseline", at=NOW - timedelta(hours=1), mean=88.8, facts=FACTS)
    differences = ageing_differences(measured, ageing(measured, NOW, FACTS | {"boot": "boot-2"}))
    assert [d.severity for d in differences] == ["note"]
    assert judged({}, more=differences).comparison == "fair"


UNKNOWN: dict[str, tuple[Mapping[str, Any], str]] = {
    "the server's environment couldn't be read": ({"env/server": None}, "env.server"),
    "hardware not captured": ({"hardware": None}, "hardware"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_was_not_captured_marks_the_verdict_as_unknown(name: str) -> None:
    baseline, field = UNKNOWN[name]
    judgement = judged({}, baseline)
    assert judgement.comparison == "unknown"
    assert any("fair is unknown" in reason and field in reason for reason in judgement.reasons)


def test_there_are_forty_of_them() -> None:
    assert len(UNFAIR) + len(CONFOUNDED) + len(STALE) + len(UNKNOWN) + 2 >= 40

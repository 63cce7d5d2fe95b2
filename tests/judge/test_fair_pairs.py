"""Twenty pairs of runs that differ in what doesn't matter: none is flagged, and the gain is believed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.judge.snapshots import judged

GPU = "hardware/gpus/devices/0"
LOAD = "load/gpus/0"

FAIR: dict[str, Mapping[str, Any]] = {
    "nothing differs": {},
    "another time of day": {"arguments/reported/volatile/started": 86_400.0},
    "other pids": {"processes/pids": [5001, 5002], "arguments/reported/volatile/pid": 5001},
    "another port": {"arguments/reported/volatile/port": 30002},
    "a warmer GPU, within tolerance": {f"{GPU}/state/temperature_c": 49.0},
    "a hotter benchmark, within tolerance": {f"{LOAD}/temperature_c/max": 78.0},
    "a little memory in use by the display": {f"{GPU}/state/memory_used_bytes": 300 * 2**20},
    "a restarted host": {"hardware/boot/id": "boot-2", "hardware/boot/time": 9000.0},
    "a container with a new name": {"hardware/host": "f3a91c"},
    "a clock that breathes": {f"{LOAD}/sm_clock_mhz/mean": 2301.0},
    "an idle link at a lower generation": {f"{GPU}/pcie/generation": 1},
    "a KV cache a few tokens smaller": {"arguments/reported/max_total_num_tokens": 399_870},
    "less memory free on the host": {"hardware/memory/available_bytes": 2**38},
    "the CPU at another frequency": {"hardware/cpu/frequency_mhz": 2750.0},
    "a commit of notes only": {"git/project/commit": "c2", "git/repo/commit": "c10"},
    "a renamed branch": {"git/project/branch": "tuning"},
    "the library under another path": {"libraries/loaded/nccl/path": "/opt/lib/libnccl.so.2"},
    "another editor": {"env/other/EDITOR": "digest-2"},
    "a desktop's worth of CPU load": {"load/cpu/foreign_share": 0.12},
    "a watched file touched but not changed": {"files/patches/fusion.diff/mtime": 5.0},
    "more power drawn while idle": {f"{GPU}/state/power_w": 60.0},
}


@pytest.mark.parametrize("name", FAIR)
def test_a_fair_pair_is_not_flagged(name: str) -> None:
    judgement = judged(FAIR[name])
    assert judgement.comparison == "fair", judgement.reasons
    assert judgement.verdict == "improvement"
    assert judgement.attribution.status == "single"

"""A snapshot of an ordinary run on a GPU host, and ways to change single fields of it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from optrack.judge.applied import not_applied
from optrack.judge.difference import comparison, differences
from optrack.judge.judging import judge
from optrack.model.judgement import Difference, Judgement
from optrack.model.snapshot import Snapshot
from tests.judge.session import BASE, rules, scaled, side

GONE = object()
"""The value of an edit that takes a field away."""

TUNED = {
    "NCCL_PROTO": "LL",
    "NCCL_ALGO": "Ring",
    "NCCL_P2P_LEVEL": "SYS",
    "NCCL_MAX_NCHANNELS": "16",
    "NCCL_BUFFSIZE": "16777216",
    "NCCL_NTHREADS": "512",
}

CHANNELS = {"env.NCCL_MAX_NCHANNELS": ("16", "2")}
"""The treatment of 1B."""

_GPU = {
    "name": "RTX PRO 6000",
    "vbios": "98.02",
    "power_limit_w": 600,
    "clocks": {"limit_mhz": 2430},
    "state": {
        "temperature_c": 34.0,
        "memory_used_bytes": 4 * 2**20,
        "processes": [],
        "utilization_percent": 0.0,
        "power_w": 21.0,
    },
    "pcie": {"generation": 5, "width": 16},
    "ecc": {"corrected_errors": 0},
}

ORDINARY: dict[str, Any] = {
    "git": {
        "project": {"code": "a1", "commit": "c1", "branch": "main", "untracked": {}},
        "repo": {"code": "s1", "commit": "c9", "branch": "v0.5", "untracked": {}},
    },
    "env": {
        "server": dict(TUNED),
        "passed": {"OMP_NUM_THREADS": "8"},
        "other": {"EDITOR": "digest-1"},
        "observed_in": "children",
    },
    "arguments": {
        "asked": {"tp": 8, "mem-fraction-static": 0.88},
        "command": "python -m sglang.launch_server --tp 8",
        "reported": {
            "tp_size": 8,
            "attention_backend": "flashinfer",
            "disable_cuda_graph": False,
            "max_total_num_tokens": 401_112,
            "volatile": {"pid": 4001, "port": 30001, "started": 1.0},
        },
    },
    "packages": {
        "distributions": {"torch": "2.9.1", "sglang": "0.5.5", "nvidia-nccl-cu12": "2.27.5"},
        "startup": {"sitecustomize.py": "d0"},
        "python": {"version": "3.12.3", "executable": "/venv/bin/python", "path": []},
    },
    "libraries": {
        "loaded": {"nccl": {"version": "2.27.5", "build": "b1", "path": "/venv/lib/libnccl.so.2"}},
        "preloaded": [],
    },
    "hardware": {
        "machine": "m1",
        "host": "gpu-07",
        "boot": {"id": "boot-1", "time": 100.0},
        "kernel": {"release": "6.8.0-60"},
        "cpu": {"model": "EPYC 9575F", "governor": "performance", "frequency_mhz": 3300.0},
        "memory": {"total_bytes": 2**40, "available_bytes": 2**39, "transparent_huge_pages": "madvise"},
        "gpus": {
            "driver": "580.82",
            "cuda": "13.0",
            "count": 8,
            "devices": {"0": _GPU, "1": _GPU},
            "topology": {"0-1": "PHB"},
        },
    },
    "files": {"patches/fusion.diff": {"sha256": "f0", "bytes": 812}},
    "processes": {"affinity": "0-127", "nice": 0, "scheduler": "other", "pids": [4001, 4002]},
    "load": {
        "gpus": {
            "0": {
                "sm_clock_mhz": {"mean": 2350.0, "max": 2430.0},
                "memory_clock_mhz": {"max": 14001.0},
                "temperature_c": {"max": 71.0},
                "throttled": {"power": 0.02},
                "foreign": [],
            }
        },
        "cpu": {"foreign_share": 0.01},
    },
}


def snapshot(edits: Mapping[str, Any] | None = None) -> Snapshot:
    """Return the ordinary snapshot with some fields set: `{"env/server/NCCL_PROTO": GONE}`."""
    data = copy.deepcopy(ORDINARY)
    for path, value in (edits or {}).items():
        *steps, last = path.split("/")
        place = data
        for step in steps:
            place = place.setdefault(step, {})
        if value is GONE:
            del place[last]
        else:
            place[last] = value
    return Snapshot.model_validate(data)


def judged(
    candidate: Mapping[str, Any],
    baseline: Mapping[str, Any] | None = None,
    *,
    factors: Mapping[str, tuple[Any, Any]] = CHANNELS,
    more: tuple[Difference, ...] = (),
    gain: float = 1.3,
) -> Judgement:
    """Return the judgement of a candidate that was measured `gain` times as fast, with these edits on each side.

    The candidate's processes show the treatment's variables unless an edit says otherwise.
    """
    applied = {
        f"env/server/{leaf.removeprefix('env.')}": GONE if after is None else after
        for leaf, (_, after) in factors.items()
        if leaf.startswith("env.") and (after is not None or leaf.removeprefix("env.") in TUNED)
    }
    ours, theirs = snapshot(applied | dict(candidate)), snapshot(baseline)
    env = {leaf.removeprefix("env."): after for leaf, (_, after) in factors.items() if "env." in leaf}
    found = (*differences(ours, theirs, declared=factors), *more)
    return judge(
        side("1B", scaled(gain)),
        side("baseline", BASE),
        rules(),
        differences=found,
        comparison=comparison(found),
        factors=factors,
        not_applied=not_applied(ours, env),
    )

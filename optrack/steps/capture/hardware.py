"""The hardware part of a snapshot: host, limits, GPUs. `python -m optrack.steps.capture.hardware` prints it
as JSON."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from optrack.steps.capture.cgroup import cgroup_limits
from optrack.steps.capture.gpu import gpus_part
from optrack.steps.capture.host import Places, host_part
from optrack.steps.capture.processes import allowances


def hardware_part(
    *, salt: bytes, visible: str | None = None, library: Any = None, places: Places | None = None
) -> dict[str, Any]:
    """Return the hardware, its state before the start, and what this process may use of it and passes on.

    `visible` is CUDA_VISIBLE_DEVICES, `library` stands in for pynvml, `places` for /proc and /sys.
    """
    places = places or Places()
    return {
        **host_part(salt=salt, places=places),
        "limits": cgroup_limits("self", proc=places.proc, root=places.sys / "fs/cgroup"),
        "runner": allowances([os.getpid()], proc=places.proc),
        "gpus": gpus_part(visible=visible, library=library),
    }


def main() -> None:
    """Print the hardware of this host, and two seconds of the sampler, as JSON."""
    import time

    from optrack.steps.capture.sampler import Sampler

    part = hardware_part(salt=b"", visible=os.environ.get("CUDA_VISIBLE_DEVICES"))
    with Sampler(interval_s=0.2) as sampler:
        time.sleep(2)
    json.dump({"hardware": part, "load": sampler.summary()}, sys.stdout, indent=2, default=str)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()

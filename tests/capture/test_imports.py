"""The capture costs nothing until it captures, and needs little to print the hardware."""

from __future__ import annotations

import subprocess
import sys

HEAVY = (
    "git",
    "numpy",
    "scipy",
    "sqlmodel",
    "sqlalchemy",
    "httpx",
    "textual",
    "pynvml",
    "click",
    "rich",
    "yaml",
)


def loaded_by(statement: str) -> set[str]:
    program = f"{statement}\nimport sys\nprint(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def test_importing_the_capture_loads_nothing_heavy() -> None:
    assert loaded_by("import optrack.host.capture, optrack.host.sampler, optrack.render.replay").isdisjoint(
        HEAVY
    )


def test_the_hardware_needs_no_more_than_pydantic_and_nvml() -> None:
    statement = "import optrack.host.hardware as h\nh.hardware_part(salt=b'')"
    assert loaded_by(statement).isdisjoint(set(HEAVY) - {"pynvml"})

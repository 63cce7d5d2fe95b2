"""Capture: what really runs, as git, the processes of the server, its interpreter and the hardware show it.

A part that can't be captured is left out with its reason, and never stops a run.
"""

from __future__ import annotations

from optrack.steps.capture.environment import with_later
from optrack.steps.capture.sampler import Sampler
from optrack.steps.capture.snapshot import (
    CodeCapture,
    capture_after,
    capture_before,
    capture_host,
    capture_running,
    capture_seen,
    merge,
)
from optrack.steps.capture.tree import Sightings

__all__ = [
    "CodeCapture",
    "Sampler",
    "Sightings",
    "capture_after",
    "capture_before",
    "capture_host",
    "capture_running",
    "capture_seen",
    "merge",
    "with_later",
]

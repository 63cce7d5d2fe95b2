"""What was captured of a run: code, environment, arguments, packages, hardware and processes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optrack.model.value import Frozen, canonical

PARTS: tuple[str, ...] = (
    "git",
    "env",
    "arguments",
    "packages",
    "libraries",
    "hardware",
    "files",
    "processes",
    "load",
)


class Snapshot(Frozen):
    """The parts of a snapshot, each plain data (nested mappings, lists, text, numbers, None).

    A part that is None wasn't captured, so nothing can be said of it: a comparison of it is `unknown`.
    `env.server` maps each performance-relevant variable to the value that the server's processes had.
    """

    git: Mapping[str, Any] | None = None
    env: Mapping[str, Any] | None = None
    arguments: Mapping[str, Any] | None = None
    packages: Mapping[str, Any] | None = None
    libraries: Mapping[str, Any] | None = None
    hardware: Mapping[str, Any] | None = None
    files: Mapping[str, Any] | None = None
    processes: Mapping[str, Any] | None = None
    load: Mapping[str, Any] | None = None


def parts_of(snapshot: Snapshot, since: Snapshot | None = None) -> dict[str, str]:
    """Return the captured parts as canonical JSON, without those that `since` has as they are."""
    captured = {name: getattr(snapshot, name) for name in PARTS}
    return {
        name: canonical(data)
        for name, data in captured.items()
        if data is not None and (since is None or getattr(since, name) != data)
    }


def snapshot_of(parts: Mapping[str, Any]) -> Snapshot:
    """Return the snapshot that has these parts, as `parts_of` names them, each as plain data."""
    return Snapshot(**parts)

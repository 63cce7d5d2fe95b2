"""The quick start: a small but real tensor-parallel server, its benchmark client, and the project that tunes it."""

from __future__ import annotations

from pathlib import Path

_SETTINGS = """\
# The demo is to run wherever it is tried, however busy the machine: verdicts then need more launches.
cpu_share = 1.0
"""


def make_project(folder: Path) -> Path:
    """Write the demo's plan into `folder`, which must be new or empty, and return the folder's full path."""
    from optrack.errors import UsageError

    folder = folder.resolve()
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} isn't empty", hint="name a new folder, or none for a temporary one")
    plans = folder / "plans"
    plans.mkdir(parents=True, exist_ok=True)
    (plans / "quickstart.md").write_text(quickstart(), encoding="utf-8")
    (folder / "optrack.toml").write_text(_SETTINGS, encoding="utf-8")
    return folder


def quickstart() -> str:
    """Return the text of the quick start's plan."""
    return Path(__file__).with_name("quickstart.md").read_text(encoding="utf-8")

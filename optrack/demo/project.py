"""The scratch project of the demo: a folder with the quick start's plan."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from optrack.errors import UsageError

_SETTINGS = """\
# The demo is to run wherever it is tried, however busy the machine: verdicts then need more launches.
cpu_share = 1.0
"""


def make_project(folder: Path) -> Path:
    """Write the demo's plan into `folder`, which must be new or empty, and return the folder's full path."""
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
    return resources.files("optrack.demo").joinpath("quickstart.md").read_text(encoding="utf-8")

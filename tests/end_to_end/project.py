"""A project in a folder of its own, driven as its user drives it: by the command line, in processes of its own."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cleanliness import clean_environment

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 240


@dataclass(frozen=True)
class Answer:
    """What one call of the command line came to."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The JSON document on standard output, which holds nothing else."""
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        """The error in the JSON document."""
        return self.document["error"]


class Project:
    """A folder with `optrack.toml` and `plans/`, however busy the machine is that it lies on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "plans").mkdir(parents=True)
        (folder / "locks").mkdir()
        (folder / "optrack.toml").write_text("cpu_share = 1.0\n", encoding="utf-8")

    def write_plan(self, text: str, name: str = "plan") -> Path:
        """Write a plan into the project and return its path."""
        path = self.folder / "plans" / f"{name}.md"
        path.write_text(text, encoding="utf-8")
        return path

    def optrack(
        self, *arguments: str, env: Mapping[str, str] | None = None, stdin: str = "", humble: bool = False
    ) -> Answer:
        """Call the command line in the project's folder; no traceback may ever reach its user."""
        answer = called(
            self.folder, *arguments, locks=self.folder / "locks", env=env, stdin=stdin, humble=humble
        )
        assert "Traceback" not in answer.err + answer.out, answer.err + answer.out
        return answer

    def statuses(self) -> dict[str, str]:
        """The status of each item."""
        return {item["id"]: item["status"] for item in self.optrack("status", "--json").document["items"]}


def called(
    folder: Path,
    *arguments: str,
    locks: Path,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    humble: bool = False,
) -> Answer:
    """Call the checked-out command line in a folder, without the user's settings.

    With `humble`, the modes of files hold even for root.
    """
    clean = clean_environment(os.environ, home=folder, locks=locks)
    done = subprocess.run(
        [sys.executable, "-m", "optrack", *arguments],
        cwd=folder,
        env=clean | {"PYTHONPATH": str(ROOT)} | dict(env or {}),
        input=stdin.encode(),
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
        preexec_fn=_obey_modes if humble else None,
    )
    out, err = (stream.decode("utf-8", errors="replace") for stream in (done.stdout, done.stderr))
    return Answer(done.returncode, out, err)


def _obey_modes() -> None:
    """Give up root's right to pass over the modes of files (PR_CAPBSET_DROP of CAP_DAC_*, prctl(2))."""
    libc = ctypes.CDLL(None)
    for capability in (1, 2):
        libc.prctl(24, capability, 0, 0, 0)
